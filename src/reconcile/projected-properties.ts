/** Properties of configurations and policies as a status shows them: from values, or from a schema of the bundle. */
import { bundleFile, type BundleFiles } from '../policies/contract/bundle-files.ts';
import type { JsonValue } from '../policies/contract/json-value.ts';
import type { Property } from './api/pacto.ts';
import { goText } from './go-text.ts';
import { shortText } from './short-text.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Of one configuration or policy. */
const PROPERTIES = 100;
/** Levels of a schema. */
const DEPTH = 8;
const TEXT_LENGTH = 1_024;
/** Characters of all keys and properties of a contract: more than that fits no status. */
const ROOM = 512 * 1024;
/** A larger schema is not shown. */
const SCHEMA_BYTES = 1024 * 1024;
/** What a value is said to be where nothing says what it is. */
const ANY = '(any)';

/** What is left for one contract: a small one that repeats itself by aliases or files must not make a large status. */
export class Room {
  #left = ROOM;

  /** The first of the keys, while there is room. */
  keys(keys: readonly string[]): readonly string[] {
    return this.#first(keys, (key) => key.length);
  }

  /** The first of the properties, while there is room. */
  properties(properties: readonly Property[]): readonly Property[] {
    const lengthOf = ({ key, type = '', value = '' }: Property): number =>
      key.length + type.length + value.length;
    return this.#first(properties.slice(0, PROPERTIES), lengthOf);
  }

  #first<T>(entries: readonly T[], lengthOf: (entry: T) => number): readonly T[] {
    const end = entries.findIndex((entry) => {
      this.#left -= lengthOf(entry);
      return this.#left < 0;
    });
    return end === -1 ? entries : entries.slice(0, end);
  }
}

/** The schemas of a bundle, each read once. */
export class ShownSchemas {
  readonly #files: BundleFiles | undefined;
  readonly #read = new Map<string, Fields | undefined>();

  constructor(files: BundleFiles | undefined) {
    this.#files = files;
  }

  /** @returns undefined for what is no JSON object, and where there is no bundle or no such file. */
  at(path: string | undefined): Fields | undefined {
    if (path === undefined || this.#files === undefined) return undefined;
    if (!this.#read.has(path)) this.#read.set(path, schemaIn(bundleFile(this.#files, path)));
    return this.#read.get(path);
  }
}

function schemaIn(file: Uint8Array | undefined): Fields | undefined {
  if (file === undefined || file.length > SCHEMA_BYTES) return undefined;
  try {
    return fieldsOf(JSON.parse(Buffer.from(file).toString('utf8')));
  } catch {
    // Whether it is a schema is for validation to say.
    return undefined;
  }
}

/** In dot notation, in the order of the keys: what is nested names only its leaves. */
export function schemaProperties(schema: Fields | undefined, prefix = '', depth = 0): readonly Property[] {
  const properties = fieldsOf(schema?.['properties']);
  if (properties === undefined || depth >= DEPTH) return [];
  return Object.keys(properties)
    .sort()
    .slice(0, PROPERTIES)
    .flatMap((name) => {
      const property = fieldsOf(properties[name]) ?? {};
      const key = `${prefix}${name}`;
      const nested = schemaProperties(property, `${key}.`, depth + 1);
      if (nested.length > 0) return nested;
      const { type, default: fallback } = property;
      return [
        {
          key: shown(key),
          ...(typeof type === 'string' && { type: shown(type) }),
          value: fallback === undefined ? ANY : shown(goText(fallback as JsonValue)),
        },
      ];
    });
}

/**
 * Values as they are written: what is no number, text or truth value is an `object`, lists and dates among them (recorded).
 * @param keys sorted
 * @param written the same values as the contract has them
 */
export function valueProperties(
  keys: readonly string[],
  values: Readonly<Record<string, JsonValue>>,
  written: Fields | undefined,
): readonly Property[] {
  return keys.slice(0, PROPERTIES).map((key) => {
    const value = values[key] ?? null;
    if (value === null) return { key: shown(key), type: 'any', value: ANY };
    const text = goText(value, written?.[key] as JsonValue | undefined);
    return { key: shown(key), type: typeName(value, text), value: shown(text) };
  });
}

function typeName(value: JsonValue, text: string): string {
  if (typeof value === 'bigint') return 'number';
  const isDate = typeof value === 'string' && text !== value;
  return isDate ? 'object' : typeof value;
}

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** As much of a text as a status shows. */
export function shown(text: string): string {
  return shortText(text, TEXT_LENGTH);
}
