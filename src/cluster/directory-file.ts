/** One file of a directory: its bytes to the objects it holds and what is wrong with it. */
import { isUtf8 } from 'node:buffer';
import { extname } from 'node:path';

import { JsonError, readJson } from '../json.ts';
import type { FoundFile, Problem } from './directory-scan.ts';
import { codeOf, problemOf, readBounded } from './directory-scan.ts';
import { readYaml } from './directory-yaml.ts';
import type { KubeObject } from './objects.ts';

/** Objects of one file that are not whole; after so many the rest of it is left. Each has its line in the log. */
const MAX_PROBLEMS = 20;

export interface FoundObject {
  readonly object: KubeObject;
  /** Unknown in a List of a JSON file. */
  readonly line?: number;
}

export interface FileReading {
  readonly objects: readonly FoundObject[];
  readonly problems: readonly Problem[];
}

interface FoundDocument {
  readonly value: unknown;
  readonly line?: number;
  readonly itemLines: readonly number[];
}

/** Reads a file; what is wrong with it is told and never thrown, and never holds a part of its contents. */
export async function readObjects({ file, path }: FoundFile, maxBytes: number): Promise<FileReading> {
  let bytes: Buffer;
  try {
    bytes = await readBounded(path, maxBytes);
  } catch (error) {
    return failed(problemOf(file, `cannot be read (${codeOf(error)}); check its mode and owner`));
  }
  return readObjectsOf(file, bytes, maxBytes);
}

/** The same of bytes that came from elsewhere; by the ending of its name a file is JSON or YAML. */
export async function readObjectsOf(file: string, bytes: Buffer, maxBytes: number): Promise<FileReading> {
  if (bytes.length > maxBytes)
    return failed(problemOf(file, `is too large (at most ${maxBytes} bytes); split it`));
  const nul = bytes.indexOf(0);
  if (nul !== -1)
    return failed(problemOf(file, 'is a binary file (found a NUL byte); remove it', placeOf(bytes, nul)));
  if (!isUtf8(bytes)) return failed(problemOf(file, 'is not UTF-8; save it as UTF-8'));
  return extname(file).toLowerCase() === '.json' ? readJsonFile(file, bytes) : readYamlFile(file, bytes);
}

function failed(problem: Problem): FileReading {
  return { objects: [], problems: [problem] };
}

function readJsonFile(file: string, bytes: Buffer): FileReading {
  const text = withoutMark(bytes);
  if (text.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)))
    return { objects: [], problems: [] };
  try {
    const value = readJson(text, { negativeZero: 'int' });
    return objectsOf(file, [{ value, line: 1, itemLines: [] }]);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const message = {
      empty: '',
      utf8: '',
      syntax: 'is not JSON',
      depth: 'is nested too deeply',
      values: 'holds too many values',
      number: 'holds a number that no double can hold',
    }[error.kind];
    return failed(problemOf(file, message, placeOf(text, error.offset)));
  }
}

async function readYamlFile(file: string, bytes: Buffer): Promise<FileReading> {
  const documents = await readYaml(withoutMark(bytes).toString('utf8'));
  const broken = documents.flatMap(({ fault }) =>
    fault === undefined ? [] : [problemOf(file, fault.message, fault)],
  );
  const whole = documents.flatMap(({ fault, value, line, itemLines }) =>
    fault === undefined ? [{ value, line, itemLines }] : [],
  );
  const { objects, problems } = objectsOf(file, whole);
  return { objects, problems: [...broken, ...problems] };
}

/** Without a byte order mark. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function placeOf(bytes: Buffer, offset: number): { line: number; column: number } {
  const before = bytes.subarray(0, offset);
  let line = 1;
  let start = 0;
  for (let at = before.indexOf(0x0a); at !== -1; at = before.indexOf(0x0a, start)) {
    line++;
    start = at + 1;
  }
  return { line, column: before.subarray(start).toString('utf8').length + 1 };
}

function objectsOf(file: string, documents: readonly FoundDocument[]): FileReading {
  const objects: FoundObject[] = [];
  const problems: Problem[] = [];
  const take = (value: unknown, where: string, line: number | undefined): void => {
    // Nothing after the last problem is read.
    if (problems.length > MAX_PROBLEMS) return;
    const place = line === undefined ? {} : { line };
    const wrong = envelopeFault(value);
    if (wrong === undefined) objects.push({ object: value as KubeObject, ...place });
    else if (problems.length < MAX_PROBLEMS) problems.push(problemOf(file, `${where}${wrong}`, place));
    else
      problems.push(
        problemOf(file, `has more than ${MAX_PROBLEMS} objects that are not whole; mend these first`),
      );
  };
  for (const { value, line, itemLines } of documents) {
    // An empty document, as after a last `---`.
    if (value === null) continue;
    const items = itemsOf(value);
    if (items === undefined) take(value, '', line);
    else items.forEach((item, index) => take(item, `items[${index}]: `, itemLines[index]));
  }
  return { objects, problems };
}

/** @returns the items of a List, undefined where the document is an object of its own. */
function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (!isMap(value)) return undefined;
  const { kind, items, apiVersion } = value;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return undefined;
  if (isMap(value['metadata']) && Object.hasOwn(value['metadata'], 'name')) return undefined;
  if (kind === 'List') return items;
  // Items of a typed list may leave out what the list says.
  const implied = { apiVersion, kind: kind.slice(0, -'List'.length) };
  const whole: unknown[] = [];
  for (const item of items as unknown[]) {
    whole.push(isMap(item) && !Object.hasOwn(item, 'kind') ? { ...item, ...implied } : item);
  }
  return whole;
}

function envelopeFault(value: unknown): string | undefined {
  if (!isMap(value)) return 'is not an object; it needs apiVersion, kind and metadata.name';
  for (const field of ['apiVersion', 'kind'] as const) {
    const found = Object.hasOwn(value, field) ? value[field] : undefined;
    if (typeof found !== 'string' || found === '') return `${field}: a text is needed`;
  }
  const metadata = Object.hasOwn(value, 'metadata') ? value['metadata'] : undefined;
  if (!isMap(metadata)) return 'metadata: an object with a name is needed';
  const name = Object.hasOwn(metadata, 'name') ? metadata['name'] : undefined;
  if (typeof name !== 'string' || name === '')
    return 'metadata.name: a text is needed (quote numbers, yes and no)';
  const namespace = Object.hasOwn(metadata, 'namespace') ? metadata['namespace'] : undefined;
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string') {
    return 'metadata.namespace: a text is needed (quote numbers, yes and no)';
  }
  return undefined;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
