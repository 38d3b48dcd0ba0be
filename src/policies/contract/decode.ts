/**
 * The typed view of a contract: the fields that each part has, and how yaml.v3 turns a value into what a field takes
 * (contract.md §1, §2.3). Unknown fields are refused at every level.
 */
import { quote } from '../quote.ts';
import type { Contract } from './contract.ts';
import { Faults } from './decode-faults.ts';
import { nearest } from './nearest.ts';
import { isMergeKey, mergeParts, refuseRepeatedKeys } from './yaml-merge.ts';
import type { YamlMapping, YamlNode, YamlScalar } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { FreeForm, scalarValue } from './yaml-values.ts';
import { YamlWalk } from './yaml-walk.ts';

type Kind =
  'text' | 'optional-text' | 'boolean' | 'integer' | 'optional-integer' | 'optional-number' | 'free';
type Field = Kind | { readonly list: Part } | { readonly part: Part } | { readonly optional: Part };
type Part = ReadonlyMap<string, Field>;

const part = (fields: Readonly<Record<string, Field>>): Part => new Map(Object.entries(fields));

const CONTACT = part({ type: 'text', value: 'text', purpose: 'optional-text' });
const OWNER = part({ team: 'optional-text', dri: 'optional-text', contacts: { list: CONTACT } });
const SERVICE = part({ name: 'text', version: 'text', owner: { optional: OWNER } });
const INTERFACE = part({ name: 'text', type: 'text', ref: 'text', visibility: 'optional-text' });
const CONFIGURATION = part({
  name: 'text',
  required: 'boolean',
  schema: 'optional-text',
  ref: 'optional-text',
  values: 'free',
});
const POLICY = part({
  name: 'text',
  schema: 'optional-text',
  ref: 'optional-text',
  target: 'optional-text',
});
const DEPENDENCY = part({ name: 'text', ref: 'text', required: 'boolean', compatibility: 'text' });
const STATE = part({
  type: 'text',
  persistence: { part: part({ scope: 'text', durability: 'text' }) },
  dataCriticality: 'text',
});
const CAPABILITY = part({
  type: 'text',
  ref: 'optional-text',
  binding: { optional: part({ type: 'text', interface: 'text', path: 'optional-text' }) },
});
const CLAIM = part({
  id: 'text',
  type: 'text',
  status: 'text',
  evidence: 'text',
  weight: 'integer',
  category: 'optional-text',
  description: 'optional-text',
});
const REVISION = part({ date: 'text', version: 'text', author: 'text', description: 'text' });
const READINESS = part({
  expires: 'text',
  claims: { list: CLAIM },
  minScore: 'optional-integer',
  partialCredit: 'optional-number',
  history: { list: REVISION },
});
const CONTRACT = part({
  pactoVersion: 'text',
  service: { part: SERVICE },
  interfaces: { list: INTERFACE },
  configurations: { list: CONFIGURATION },
  policies: { list: POLICY },
  dependencies: { list: DEPENDENCY },
  workload: 'optional-text',
  state: { optional: STATE },
  capabilities: { list: CAPABILITY },
  readiness: { optional: READINESS },
  metadata: 'free',
  extensions: 'free',
});

/** Taken for booleans only where one is due (contract.md §2.3 c). */
const TRUE_WORDS: ReadonlySet<unknown> = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON']);
const FALSE_WORDS: ReadonlySet<unknown> = new Set(['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF']);
const KINDS_OF_NUMBERS: ReadonlySet<string> = new Set(['!!int', '!!float']);
const INT64_MAX = 2n ** 63n - 1n;

type Values = Record<string, unknown>;

/**
 * @param root null: a contract without anything
 * @throws YamlProblem for unknown fields, a repeated key, or values that their fields cannot take: all of them in one
 */
export function decodeContract(root: YamlNode): Contract {
  const values = empty(CONTRACT);
  new Decoder().contract(root, values);
  return values as unknown as Contract;
}

function empty(part: Part): Values {
  const values: Values = {};
  for (const [name, field] of part) {
    const value = emptyValue(field);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function emptyValue(field: Field): unknown {
  if (typeof field === 'object') {
    if ('list' in field) return [];
    return 'part' in field ? empty(field.part) : undefined;
  }
  switch (field) {
    case 'text':
      return '';
    case 'boolean':
      return false;
    case 'integer':
      return 0;
    default:
      return undefined;
  }
}

class Decoder {
  readonly #walk = new YamlWalk();
  readonly #freeForm = new FreeForm(this.#walk, { dates: 'canonical', json: false });
  /** Where it is; after a problem was thrown, where it was. */
  readonly #steps: string[] = [];
  readonly #faults = new Faults();

  contract(root: YamlNode, into: Values): void {
    try {
      this.#part(root, CONTRACT, into);
    } catch (error) {
      if (!(error instanceof YamlProblem)) throw error;
      this.#faults.add(() => ({ said: error.said, line: error.line, path: this.#path() }));
    }
    this.#faults.throwAny();
  }

  /** @returns false for null, which leaves the part as it is */
  #part(node: YamlNode, part: Part, into: Values): boolean {
    return this.#walk.visit(node, (content) => {
      if (content.kind === 'scalar' && scalarValue(content).value === null) return false;
      if (content.kind !== 'mapping') {
        this.#wrongKind(content, 'a mapping');
        return false;
      }
      this.#fields(content, part, into, undefined);
      return true;
    });
  }

  #fields(mapping: YamlMapping, part: Part, into: Values, merged: Set<string> | undefined): void {
    refuseRepeatedKeys(mapping);
    const done = new Set<string>();
    let merge: YamlNode | undefined;
    for (const [key, value] of mapping.entries) {
      if (isMergeKey(key)) {
        merge = value;
        continue;
      }
      const name = this.#text(key);
      if (name === undefined || merged?.has(name) === true) continue;
      merged?.add(name);
      const field = part.get(name);
      if (field === undefined) {
        this.#faults.add(() => ({ said: notAField(name, part), line: key.line, path: this.#path() }));
        continue;
      }
      if (done.has(name)) {
        throw new YamlProblem(`the field ${quote(name)} is there twice`, key);
      }
      done.add(name);
      this.#set(into, name, field, value);
    }
    if (merge === undefined) return;
    const seen = merged ?? new Set(mapping.entries.map(([key]) => this.#text(key) ?? ''));
    for (const source of mergeParts(merge)) {
      this.#walk.visit(source, (content) => {
        if (content.kind === 'mapping') this.#fields(content, part, into, seen);
      });
    }
  }

  #set(into: Values, name: string, field: Field, node: YamlNode): void {
    this.#steps.push(name);
    const value = this.#value(field, node);
    this.#steps.pop();
    if (value !== undefined) into[name] = value;
  }

  /** @returns undefined for null: the field keeps what it has when it is absent */
  #value(field: Field, node: YamlNode): unknown {
    if (typeof field === 'object') {
      if ('list' in field) return this.#list(field.list, node);
      const part = 'part' in field ? field.part : field.optional;
      const values = empty(part);
      return this.#part(node, part, values) ? values : undefined;
    }
    switch (field) {
      case 'text':
        return this.#text(node);
      case 'optional-text': {
        const text = this.#text(node);
        return text === '' ? undefined : text;
      }
      case 'free':
        return this.#walk.visit(node, (content) => {
          if (content.kind === 'mapping') return this.#freeForm.readMapping(content, true);
          if (content.kind === 'scalar' && scalarValue(content).value === null) return undefined;
          return this.#wrongKind(content, 'a mapping');
        });
      case 'boolean':
        return this.#scalar(node, 'true or false', boolean);
      case 'integer':
      case 'optional-integer':
        return this.#scalar(node, 'a whole number', integer);
      case 'optional-number':
        return this.#scalar(node, 'a number', number);
    }
  }

  #list(part: Part, node: YamlNode): readonly Values[] | undefined {
    return this.#walk.visit(node, (content) => {
      if (content.kind === 'scalar' && scalarValue(content).value === null) return undefined;
      if (content.kind !== 'sequence') return this.#wrongKind(content, 'a list', missingBlank(content));
      const items: Values[] = [];
      for (const [index, item] of content.items.entries()) {
        const values = empty(part);
        this.#steps.push(`[${String(index)}]`);
        // A null entry is left out, as Go leaves it out.
        if (this.#part(item, part, values)) items.push(values);
        this.#steps.pop();
      }
      return items;
    });
  }

  #text(node: YamlNode): string | undefined {
    return this.#scalar(node, 'a text', (value, { tag, text }) =>
      tag === '!!binary' ? String(value) : text,
    );
  }

  /** @param convert gives undefined for what it cannot take */
  #scalar<T>(
    node: YamlNode,
    due: string,
    convert: (value: unknown, scalar: YamlScalar) => T | undefined,
  ): T | undefined {
    return this.#walk.visit(node, (content) => {
      if (content.kind !== 'scalar') return this.#wrongKind(content, due);
      const { value } = scalarValue(content);
      if (value === null) return undefined;
      const converted = convert(value, content);
      return converted === undefined ? this.#wrongKind(content, due) : converted;
    });
  }

  #wrongKind(node: YamlNode, due: string, why = ''): undefined {
    this.#faults.add(() => {
      const path = this.#path();
      // A text where a whole part is due may be anything, a password among it.
      const is = due.startsWith('a mapping') || due.startsWith('a list') ? kindOf(node) : found(node);
      const said = `must be ${due}, but is ${is}${why}`;
      return { said: path === undefined ? `the contract ${said}` : said, line: node.line, path };
    });
  }

  /** `interfaces[0].ref`; undefined for the contract itself. */
  #path(): string | undefined {
    return this.#steps.length === 0 ? undefined : this.#steps.join('.').replaceAll('.[', '[');
  }
}

function boolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (TRUE_WORDS.has(value)) return true;
  return FALSE_WORDS.has(value) ? false : undefined;
}

/** A fraction is cut off (contract.md §2.3 f). */
function integer(value: unknown): number | undefined {
  if (typeof value === 'bigint') return value <= INT64_MAX ? Number(value) : undefined;
  return typeof value === 'number' && value <= Number(INT64_MAX) ? Math.trunc(value) + 0 : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

/** `-name: x` is a mapping. */
function missingBlank(node: YamlNode): string {
  const [key] = (node.kind === 'mapping' ? node.entries[0] : undefined) ?? [];
  return key?.kind === 'scalar' && key.text.startsWith('-')
    ? `: a blank is due after the dash of ${quote(key.text)}`
    : '';
}

function kindOf({ kind }: YamlNode): string {
  if (kind === 'sequence') return 'a list';
  return kind === 'scalar' ? 'a single value' : `a ${kind}`;
}

function found(node: YamlNode): string {
  if (node.kind !== 'scalar') return kindOf(node);
  const kind = node.tag === '!!str' ? 'the text ' : KINDS_OF_NUMBERS.has(node.tag) ? 'the number ' : '';
  return `${kind}${quote(node.text)}`;
}

/** With the name that was probably meant, or with those that there are. */
function notAField(name: string, part: Part): string {
  const names = [...part.keys()];
  const meant = nearest(name, names);
  return `${quote(name)} is no field here${meant === undefined ? `, only ${names.join(', ')}` : `: did you mean ${meant}?`}`;
}
