/** Label and field selectors as the API server reads them. Used where this program is itself the server: memory.ts. */
import { GateError, quote } from '../errors.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject } from './objects.ts';

export type Predicate = (object: KubeObject) => boolean;

type LabelTest = (labels: Readonly<Record<string, string>>) => boolean;

/** Qualified name: an optional DNS prefix of at most 253 characters, a name of at most 63. */
const LABEL_KEY = /^(?:[a-z0-9][-a-z0-9.]{0,252}\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const TOKEN = /\s*(?:(==|!=|[=!(),<>])|([^\s=!(),<>]+))/y;

/**
 * Reads a label selector: `a=b`, `a==b`, `a!=b`, `a`, `!a`, `a in (b,c)`, `a notin (b,c)`, `a>1`, `a<1`, joined by
 * commas. `!=` and `notin` also hold where the label is absent.
 * @throws GateError GATE_CLUSTER_INVALID
 */
export function labelPredicate(text: string | undefined): Predicate {
  if (text === undefined || text.trim() === '') return () => true;
  const tests = new LabelSelectorParser(text).parse();
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return tests.every((test) => test(labels));
  };
}

class LabelSelectorParser {
  readonly #text: string;
  readonly #tokens: readonly string[];
  #next = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokensOf(text);
  }

  parse(): LabelTest[] {
    const tests = [this.#requirement()];
    while (this.#peek() === ',') {
      this.#next++;
      tests.push(this.#requirement());
    }
    if (this.#peek() !== undefined) throw this.#error('a comma or the end is needed');
    return tests;
  }

  #requirement(): LabelTest {
    if (this.#peek() === '!') {
      this.#next++;
      const absent = this.#key();
      return (labels) => !Object.hasOwn(labels, absent);
    }
    const key = this.#key();
    const operator = this.#peek();
    if (operator === undefined || operator === ',') return (labels) => Object.hasOwn(labels, key);
    this.#next++;
    switch (operator) {
      case '=':
      case '==': {
        const value = this.#value();
        return (labels) => Object.hasOwn(labels, key) && labels[key] === value;
      }
      case '!=': {
        const value = this.#value();
        return (labels) => !Object.hasOwn(labels, key) || labels[key] !== value;
      }
      case 'in': {
        const values = this.#values();
        return (labels) => Object.hasOwn(labels, key) && values.has(labels[key] ?? '');
      }
      case 'notin': {
        const values = this.#values();
        return (labels) => !Object.hasOwn(labels, key) || !values.has(labels[key] ?? '');
      }
      case '<':
      case '>':
        return this.#comparison(key, operator);
      default:
        throw this.#error('an operator is needed: =, ==, !=, in, notin, < or >');
    }
  }

  #comparison(key: string, operator: '<' | '>'): LabelTest {
    const bound = integerOf(this.#value());
    if (bound === undefined) throw this.#error('an integer is needed after < and >');
    return (labels) => {
      const found = Object.hasOwn(labels, key) ? integerOf(labels[key] ?? '') : undefined;
      return found !== undefined && (operator === '<' ? found < bound : found > bound);
    };
  }

  #values(): ReadonlySet<string> {
    if (this.#peek() !== '(') throw this.#error('a list in parentheses is needed after in and notin');
    this.#next++;
    if (this.#peek() === ')') throw this.#error('the list in parentheses is empty');
    const values = new Set([this.#value()]);
    while (this.#peek() === ',') {
      this.#next++;
      values.add(this.#value());
    }
    if (this.#peek() !== ')') throw this.#error('a closing parenthesis is needed');
    this.#next++;
    return values;
  }

  #key(): string {
    const key = this.#peek();
    if (key === undefined || !LABEL_KEY.test(key)) throw this.#error('a label key is needed');
    this.#next++;
    return key;
  }

  /** An empty value is written as nothing at all. */
  #value(): string {
    const value = this.#peek();
    if (value === undefined || value === ',' || value === ')') return '';
    if (!LABEL_VALUE.test(value)) throw this.#error('a label value is needed');
    this.#next++;
    return value;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#next];
  }

  #error(need: string): GateError {
    const found = this.#peek();
    return new GateError(
      'GATE_CLUSTER_INVALID',
      `label selector ${quote(this.#text)}: ${need} (found ${found === undefined ? 'the end' : quote(found)})`,
    );
  }
}

function tokensOf(text: string): string[] {
  const end = text.trimEnd().length;
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  let at = 0;
  while (at < end) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) break;
    tokens.push(match[1] ?? match[2] ?? '');
    at = TOKEN.lastIndex;
  }
  return tokens;
}

function integerOf(text: string): bigint | undefined {
  return /^[-+]?\d{1,19}$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
}

/** What may be selected beside the name and the namespace, as the API server's own kinds register it. */
const SELECTABLE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/Pod': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  '/Namespace': ['status.phase'],
  '/Node': ['spec.unschedulable'],
};

/**
 * Reads a field selector: `path=value`, `path==value`, `path!=value`, joined by commas; `\` escapes `,`, `=` and `\`.
 * An absent field is the empty string.
 * @throws GateError GATE_CLUSTER_INVALID for a field that this kind cannot be selected by.
 */
export function fieldPredicate(kind: Kind, text: string | undefined): Predicate {
  if (text === undefined || text === '') return () => true;
  const supported = [
    'metadata.name',
    'metadata.namespace',
    ...(SELECTABLE_FIELDS[`${kind.group}/${kind.kind}`] ?? []),
  ];
  const terms = splitUnescaped(text).filter((term) => term !== '');
  const tests = terms.map((term) => fieldTest(kind, term, supported));
  return (object) => tests.every((test) => test(object));
}

function fieldTest(kind: Kind, term: string, supported: readonly string[]): Predicate {
  const match = /^([^=!]*)(==|!=|=)((?:[^\\=,]|\\[\\=,])*)$/s.exec(term);
  if (match === null) {
    throw new GateError(
      'GATE_CLUSTER_INVALID',
      `field selector ${quote(term)}: path=value or path!=value is needed`,
    );
  }
  const [, path = '', operator, escaped = ''] = match;
  if (!supported.includes(path)) {
    throw new GateError(
      'GATE_CLUSTER_INVALID',
      `field selector of ${kind.kind}: ${quote(path)} cannot be selected by; use one of ${supported.join(', ')}`,
    );
  }
  const wanted = escaped.replace(/\\([\\=,])/g, '$1');
  return (object) => (fieldText(object, path) === wanted) === (operator !== '!=');
}

function fieldText(object: KubeObject, path: string): string {
  let value: unknown = object;
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return absentText(path);
    value = (value as Record<string, unknown>)[step];
  }
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : absentText(path);
}

/** A boolean that is not set reads `false`, a string that is not set reads empty. */
function absentText(path: string): string {
  return path === 'spec.unschedulable' ? 'false' : '';
}

function splitUnescaped(text: string): string[] {
  return text.match(/(?:[^\\,]|\\[\s\S]|\\$)+/g) ?? [];
}
