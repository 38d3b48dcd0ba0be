/** Documents of a YAML text that are JSON, as programs write them: read without the YAML library, which takes longer. */
import { JsonError, readJson } from '../json.ts';

export interface JsonDocument {
  readonly value: unknown;
  /** Line of its opening brace, from 1. */
  readonly line: number;
}

/** Read in one step: some milliseconds. */
const MAX_LENGTH = 256 * 1024;
/** No line of a JSON text is this one, for a string holds no line break. */
const SEPARATOR = /^---[ \t]*\r?$/m;
const BEGINS_WITH_OBJECT = /^(?:---[ \t]*\r?\n)?\s*\{/;
/** A string, and the colon after it that makes it a key. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;
/** Perhaps half a surrogate pair, of which the two readers make different things. */
const SURROGATE = /\\u[dD]/;

/**
 * @returns undefined where something in it is not JSON, or means something else in YAML or is a fault there: the YAML
 *   reader decides then, and says where.
 */
export function readJsonDocuments(text: string): readonly JsonDocument[] | undefined {
  if (text.length > MAX_LENGTH || !BEGINS_WITH_OBJECT.test(text) || SURROGATE.test(text)) return undefined;
  const documents: JsonDocument[] = [];
  let line = 1;
  for (const [index, part] of text.split(SEPARATOR).entries()) {
    const body = part.trimStart();
    const start = line + linesIn(part.slice(0, part.length - body.length));
    line += linesIn(part);
    // What comes before the first separator may be empty; any other is a document of its own, which is null.
    if (body === '' && index === 0) continue;
    const value = readObject(body);
    if (value === undefined) return undefined;
    documents.push({ value, line: start });
  }
  return documents;
}

function readObject(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined;
  let value: object;
  try {
    value = readJson(Buffer.from(text), { negativeZero: 'int' }) as object;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
  // Each item of a list has a line of its own, which is not known here. A key that stands twice is a fault in YAML.
  return Object.hasOwn(value, 'items') || keysIn(value) !== keysOfText(text) ? undefined : value;
}

function keysOfText(text: string): number {
  let keys = 0;
  for (const [, colon] of text.matchAll(STRINGS)) if (colon !== undefined) keys++;
  return keys;
}

/** Of the reader's values, whose depth is bounded. */
function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + keysIn(one), 0);
  const members = Object.values(value);
  return members.reduce<number>((sum, one) => sum + keysIn(one), members.length);
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}
