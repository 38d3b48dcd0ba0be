/** Layer 1 (contract.md §3.2): the generic view of a contract against its JSON Schema. */
import { quote } from '../quote.ts';
import { CONTRACT_SCHEMA, SCHEMA_PATTERNS } from './contract-schema.ts';
import type { Schema, SchemaPattern } from './contract-schema.ts';
import type { ContractDocument } from './document.ts';
import type { Problem } from './findings.ts';
import type { JsonObject, JsonValue } from './json-value.ts';

/** The only format there is (contract.md §1.1). */
const PACTO_VERSION = '2.0';

/** Ours: nobody reads more, and a file of 1 MiB can break its schema half a million times. */
const MAX_PROBLEMS = 1000;

/** How many unknown or missing keys one message names. */
const MAX_NAMES = 10;

/** A failed keyword: one leaf of the tree that a JSON Schema validator makes. */
interface Leaf {
  /** Keys and indexes joined with dots; empty for the contract itself. */
  readonly path: string;
  /** Begins with a verb: the place stands before it wherever it is shown. */
  readonly said: string;
}

/**
 * Layer 1 alone, of YAML as it was read, whether it loads or not.
 * @returns at most 1,000 problems, none where the layers below may look
 */
export function validateStructure(document: ContractDocument): readonly Problem[] {
  const { generic } = document;
  if (!generic.ok) return [{ path: '', code: 'YAML_PARSE_ERROR', message: generic.reason }];

  const root = generic.value;
  const version = isObject(root) ? own(root, 'pactoVersion') : undefined;
  if (version !== PACTO_VERSION) return [unsupportedVersion(version)];

  const leaves: Leaf[] = [];
  check(CONTRACT_SCHEMA, root, '', leaves);
  return leaves.slice(0, MAX_PROBLEMS).map(({ path, said }) => ({
    path,
    code: 'SCHEMA_VIOLATION',
    message: path === '' ? `the contract ${said}` : said,
  }));
}

function unsupportedVersion(version: JsonValue | undefined): Problem {
  const found = version === undefined ? 'is missing' : `is ${shown(version)}`;
  return {
    path: 'pactoVersion',
    code: 'UNSUPPORTED_PACTO_VERSION',
    message: `${found}; write pactoVersion: "${PACTO_VERSION}", with the quotes`,
  };
}

/** As a validator goes: a value of the wrong type fails by that alone, any other by each keyword that it breaks. */
function check(schema: Schema, value: JsonValue, path: string, leaves: Leaf[]): void {
  if (leaves.length >= MAX_PROBLEMS) return;
  if (schema.type !== undefined && !isOfType(schema.type, value)) {
    leaves.push({ path, said: wrongType(schema.type, value) });
    return;
  }
  checkWords(schema, value, path, leaves);
  if (typeof value === 'string') checkText(schema, value, path, leaves);
  else if (typeof value === 'number' || typeof value === 'bigint') checkRange(schema, value, path, leaves);
  else if (isArray(value)) checkItems(schema, value, path, leaves);
  else if (isObject(value)) checkKeys(schema, value, path, leaves);
  checkForms(schema, value, path, leaves);
}

function passes(schema: Schema, value: JsonValue): boolean {
  const leaves: Leaf[] = [];
  check(schema, value, '', leaves);
  return leaves.length === 0;
}

function checkWords(schema: Schema, value: JsonValue, path: string, leaves: Leaf[]): void {
  const words = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (words === undefined || (typeof value === 'string' && words.includes(value))) return;
  const needed = words.map((word) => `"${word}"`).join(', ');
  leaves.push({
    path,
    said: `must be ${words.length > 1 ? 'one of ' : ''}${needed}, but is ${shown(value)}`,
  });
}

function checkText(schema: Schema, text: string, path: string, leaves: Leaf[]): void {
  const { minLength, maxLength, pattern } = schema;
  if (minLength !== undefined && text === '') leaves.push({ path, said: 'must not be empty' });
  if (maxLength !== undefined && isLonger(text, maxLength)) {
    leaves.push({ path, said: `must have at most ${maxLength} characters` });
  }
  if (pattern !== undefined && !SCHEMA_PATTERNS[pattern].test(text)) {
    leaves.push({ path, said: `${PATTERNS_IN_WORDS[pattern]}, but is ${quote(text)}` });
  }
}

function checkRange(schema: Schema, value: number | bigint, path: string, leaves: Leaf[]): void {
  const { minimum, maximum } = schema;
  if (minimum !== undefined && value < minimum) {
    leaves.push({ path, said: `must be at least ${minimum}, but is ${value}` });
  }
  if (maximum !== undefined && value > maximum) {
    leaves.push({ path, said: `must be at most ${maximum}, but is ${value}` });
  }
}

function checkItems(schema: Schema, list: readonly JsonValue[], path: string, leaves: Leaf[]): void {
  if (schema.minItems !== undefined && list.length === 0)
    leaves.push({ path, said: 'must not be an empty list' });
  const { items } = schema;
  if (items === undefined) return;
  for (const [index, item] of list.entries()) check(items, item, below(path, String(index)), leaves);
}

/** What is missing or unknown is told of the object, not of the key. */
function checkKeys(schema: Schema, object: JsonObject, path: string, leaves: Leaf[]): void {
  const { required, minProperties, properties = {}, additionalProperties } = schema;
  const missing = (required ?? []).filter((name) => !Object.hasOwn(object, name));
  if (missing.length > 0) leaves.push({ path, said: `misses ${listed(missing)}` });
  if (minProperties !== undefined && Object.keys(object).length === 0) {
    leaves.push({ path, said: 'must not be empty' });
  }
  if (additionalProperties === false) {
    const unknown = Object.keys(object).filter((key) => !Object.hasOwn(properties, key));
    if (unknown.length > 0) {
      const known = listed(Object.keys(properties), Infinity);
      leaves.push({ path, said: `must not have ${listed(unknown)}: it may have ${known}` });
    }
  }
  for (const [name, property] of Object.entries(properties)) {
    const part = own(object, name);
    if (part !== undefined) check(property, part, below(path, name), leaves);
  }
}

/** The keywords that are made of schemas for the same value. */
function checkForms(schema: Schema, value: JsonValue, path: string, leaves: Leaf[]): void {
  if (schema.oneOf !== undefined) checkOneOf(schema.oneOf, schema.description, value, path, leaves);
  if (schema.not !== undefined && passes(schema.not, value)) {
    leaves.push({ path, said: 'has keys that exclude each other' });
  }
  if (schema.anyOf !== undefined && !schema.anyOf.some((each) => passes(each, value))) {
    for (const each of schema.anyOf) check(each, value, path, leaves);
  }
  if (schema.if !== undefined && schema.then !== undefined && passes(schema.if, value)) {
    const own: Leaf[] = [];
    check(schema.then, value, path, own);
    const reason = condition(schema.if, value);
    for (const { path: place, said } of own) leaves.push({ path: place, said: `${said}${reason}` });
  }
}

/** Why the rule holds; nothing where it holds because the key is not there. */
function condition({ properties = {} }: Schema, value: JsonValue): string {
  const met = Object.entries(properties).filter(
    ([name, { const: word }]) => word !== undefined && isObject(value) && own(value, name) === word,
  );
  return met.map(([name, { const: word = '' }]) => `, because ${name} is "${word}"`).join('');
}

/**
 * Each place where a branch fails is told once, with the rule: what one branch lacks is what another forbids. A place that
 * is wrong by itself has been told.
 */
function checkOneOf(
  branches: readonly Schema[],
  rule: string | undefined,
  value: JsonValue,
  path: string,
  leaves: Leaf[],
): void {
  const told = branches.map((branch) => {
    const own: Leaf[] = [];
    check(branch, value, path, own);
    return own;
  });
  const passed = told.filter((each) => each.length === 0).length;
  if (passed === 1) return;
  const reason = rule === undefined ? '' : `: ${rule}`;
  if (passed > 1) {
    leaves.push({ path, said: `has more than one form${reason}` });
    return;
  }
  const places = new Set(told.flat().map((leaf) => leaf.path));
  const before = new Set(leaves.map((leaf) => leaf.path));
  const isKeyWrong = [...places].some((place) => place !== path && before.has(place));
  for (const place of places) {
    if (place === path) {
      const said = isKeyWrong ? 'has none of its forms' : formOf(branches, value);
      leaves.push({ path, said: `${said}${reason}` });
    } else if (!before.has(place)) {
      leaves.push({ path: place, said: `does not go with the keys beside it${reason}` });
    }
  }
}

/** Which of the keys that its forms differ in it has, or that it has none that one of them needs. */
function formOf(branches: readonly Schema[], value: JsonValue): string {
  const needed = [...new Set(branches.flatMap(({ required = [] }) => required))];
  const has = (name: string): boolean => isObject(value) && Object.hasOwn(value, name);
  if (!needed.some(has)) return `misses ${needed.map(quote).join(' or ')}`;
  const refused = branches.flatMap(({ not }) => [not, ...(not?.anyOf ?? [])]);
  const names = new Set([...needed, ...refused.flatMap((schema) => schema?.required ?? [])]);
  return `has ${[...names].filter(has).map(quote).join(' and ')}`;
}

const PATTERNS_IN_WORDS: Readonly<Record<SchemaPattern, string>> = {
  '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$':
    'must have only lower-case letters, digits and dashes, and no dash at either end',
  '^[a-zA-Z0-9._/-]+$': 'must have only letters, digits and the characters . _ / -',
  '^[a-zA-Z0-9._@/-]+$': 'must have only letters, digits and the characters . _ @ / -',
  '^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$':
    'must have only lower-case letters, digits and the characters . _ -, a letter or digit at either end',
  '^/([^/].*)?$': 'must be a path in one line that begins with "/", and not with "//"',
};

const ARTICLES = {
  object: 'a mapping',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
} as const satisfies Record<NonNullable<Schema['type']>, string>;

/** A number is shown where one is due: that it has a fraction is what is wrong. */
function wrongType(type: NonNullable<Schema['type']>, value: JsonValue): string {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  const found = type === 'integer' && isNumber ? String(value) : kindOf(value);
  const next = type === 'string' && (isNumber || typeof value === 'boolean') ? ': put it in quotes' : '';
  return `must be ${ARTICLES[type]}, but is ${found}${next}`;
}

/** `80.0` is an integer: what counts is the number, not how it is written (contract.md §2.3 g). */
function isOfType(type: NonNullable<Schema['type']>, value: JsonValue): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return isArray(value);
    case 'integer':
      return typeof value === 'bigint' || Number.isInteger(value);
    case 'number':
      return typeof value === 'bigint' || typeof value === 'number';
    case 'string':
    case 'boolean':
      return typeof value === type;
  }
}

/** Never the value: what the schema leaves free, such as the values of a configuration, may be secret. */
function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'boolean') return 'a boolean';
  return typeof value === 'string' ? 'a text' : 'a number';
}

function shown(value: JsonValue): string {
  return typeof value === 'string' ? quote(value) : kindOf(value);
}

function listed(names: readonly string[], most = MAX_NAMES): string {
  const rest = names.length > most ? ` and ${names.length - most} more` : '';
  return names.slice(0, most).map(quote).join(', ') + rest;
}

/** In code points. A code point has at most two units, so few texts need to be counted. */
function isLonger(text: string, codePoints: number): boolean {
  if (text.length <= codePoints) return false;
  return text.length > 2 * codePoints || Array.from(text).length > codePoints;
}

function below(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isArray(value);
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
