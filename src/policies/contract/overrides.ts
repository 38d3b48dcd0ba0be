/** Values files and `--set` over a contract (contract.md §16.1). With none of them the text stays as it is. */
import { quote } from '../quote.ts';
import type { ContractDocument } from './document.ts';
import { goFloat } from './go-float.ts';
import type { JsonValue } from './json-value.ts';
import { inferred, parsePath } from './set-grammar.ts';
import type { PathSegment } from './set-grammar.ts';
import { compareKeys } from './yaml-key-order.ts';
import type { YamlNode, YamlScalar } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { parseYaml } from './yaml-parse.ts';
import { decodeSource } from './yaml-source.ts';
import { FreeForm, scalarValue } from './yaml-values.ts';
import { YamlWalk } from './yaml-walk.ts';
import { writeYaml } from './yaml-write.ts';

export interface OverrideChanges {
  /** The texts of values files, from the lowest to the highest. */
  readonly values: readonly string[];
  /** `path=value` each, applied after them in order. */
  readonly set: readonly string[];
}

export type Overridden =
  { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

type Mapping = Record<string, JsonValue>;

/** What comes out is not checked: load it. Comments and the order of keys are lost. */
export function override(document: ContractDocument, { values, set }: OverrideChanges): Overridden {
  if (values.length === 0 && set.length === 0) return { ok: true, text: document.text };
  let place = 'the contract';
  try {
    const into = readMapping(document.text);
    for (const [at, text] of values.entries()) {
      place = `values file ${String(at + 1)}`;
      merge(into, readMapping(text));
    }
    for (const assignment of set) {
      // What is set may be secret; where is not.
      place = `--set ${quote(assignment.split('=', 1).join(''))}`;
      assign(into, assignment);
    }
    place = 'the result';
    return { ok: true, text: writeYaml(nodeOf(into)) };
  } catch (error) {
    if (error instanceof YamlProblem) return { ok: false, reason: `${place}: ${error.message}` };
    throw error;
  }
}

/** A text without a document, or with null, is an empty mapping. */
function readMapping(source: string): Mapping {
  const decoded = decodeSource(source);
  if (!decoded.ok) throw new YamlProblem(decoded.reason);
  const root = parseYaml(decoded.text);
  if (root === undefined) return Object.create(null) as Mapping;
  const walk = new YamlWalk();
  const freeForm = new FreeForm(walk, { dates: 'verbatim', json: false, doubles: 'boxed' });
  return walk.visit(root, (content) => {
    if (content.kind === 'mapping') return freeForm.readMapping(content, true);
    if (content.kind === 'scalar' && scalarValue(content).value === null)
      return Object.create(null) as Mapping;
    throw new YamlProblem('a mapping is due', content);
  });
}

/** Mappings are merged; anything else replaces, null too. */
function merge(into: Mapping, from: Mapping): void {
  for (const [key, value] of Object.entries(from)) {
    const old = into[key];
    if (isMapping(old) && isMapping(value)) merge(old, value);
    else into[key] = value;
  }
}

function isMapping(value: JsonValue | undefined): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isDouble(value);
}

/** A double that the values of a document came with (design decision 2). */
function isDouble(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Number]';
}

function assign(root: Mapping, assignment: string): void {
  const { path, text } = parsePath(assignment);
  const last = path.at(-1);
  if (last === undefined) return;
  let into = root;
  for (const segment of path.slice(0, -1)) into = descend(into, segment);
  const value = inferred(text);
  if (last.index === undefined) into[last.name] = value;
  else element(into, last).list[last.index] = value;
}

/** Mappings that are missing on the way are made. */
function descend(into: Mapping, segment: PathSegment): Mapping {
  if (segment.index !== undefined) {
    const item = element(into, segment).list[segment.index];
    if (isMapping(item)) return item;
    throw new YamlProblem(`${quote(segment.name)} has no mapping at ${String(segment.index)}`);
  }
  if (!Object.hasOwn(into, segment.name)) into[segment.name] = Object.create(null) as Mapping;
  const next = into[segment.name];
  if (isMapping(next)) return next;
  throw new YamlProblem(`${quote(segment.name)} is no mapping`);
}

function element(into: Mapping, { name, index = 0 }: PathSegment): { list: JsonValue[] } {
  const list = Object.hasOwn(into, name) ? into[name] : undefined;
  if (!Array.isArray(list)) throw new YamlProblem(`${quote(name)} is no list`);
  if (index < 0 || index >= list.length) {
    throw new YamlProblem(
      `index ${String(index)} is out of range: ${quote(name)} has ${String(list.length)} entries`,
    );
  }
  return { list: list as JsonValue[] };
}

function nodeOf(value: JsonValue): YamlNode {
  if (Array.isArray(value)) return { kind: 'sequence', items: value.map(nodeOf), line: 0 };
  if (isMapping(value)) {
    const keys = Object.keys(value).sort(compareKeys);
    const entries = keys.map((key) => [scalar('!!str', key), nodeOf(value[key] ?? null)] as const);
    return { kind: 'mapping', entries, line: 0 };
  }
  if (typeof value === 'string') return scalar('!!str', value);
  if (typeof value === 'boolean') return scalar('!!bool', String(value));
  if (value === null) return scalar('!!null', 'null');
  if (typeof value === 'bigint') return scalar('!!int', value.toString());
  return Number.isSafeInteger(value)
    ? scalar('!!int', Number(value).toFixed())
    : scalar('!!float', floatText(Number(value)));
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  return goFloat(value);
}

function scalar(tag: string, text: string): YamlScalar {
  return { kind: 'scalar', tag, text, tagged: false, line: 0 };
}
