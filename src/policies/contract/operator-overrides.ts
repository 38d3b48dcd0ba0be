/**
 * Values that a `Pacto` sets over those of its contract's configurations (operator.md §3.4). Only these keys are rewritten:
 * every other value keeps what it stands for in both views, wrong ones too. Comments and the layout are lost.
 */
import { quote } from '../quote.ts';
import type { Contract } from './contract.ts';
import type { ContractDocument } from './document.ts';
import { failureText, load } from './load.ts';
import { isMergeKey, mergeParts } from './yaml-merge.ts';
import type { YamlMapping, YamlNode } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { parseYaml } from './yaml-parse.ts';
import { behind } from './yaml-walk.ts';
import { writeYaml } from './yaml-write.ts';

export interface ConfigurationOverride {
  /** Of an entry of `configurations`. */
  readonly name: string;
  readonly values: Readonly<Record<string, string>>;
}

export type OverriddenContract =
  | { readonly ok: true; readonly contract: Contract; readonly document: ContractDocument }
  | { readonly ok: false; readonly reason: string };

/** What was loaded stays as it is: the revision's hash is of its bytes. Without overrides it is handed back. */
export function overrideConfigurations(
  document: ContractDocument,
  contract: Contract,
  overrides: readonly ConfigurationOverride[],
): OverriddenContract {
  if (overrides.length === 0) return { ok: true, contract, document };
  const names = new Set(contract.configurations.map(({ name }) => name));
  const unknown = overrides.find(({ name }) => !names.has(name));
  if (unknown !== undefined) {
    return { ok: false, reason: `the contract has no configuration ${quote(unknown.name)}` };
  }
  try {
    const root = parseYaml(document.text);
    if (root === undefined) return { ok: false, reason: 'the contract holds no document' };
    const loaded = load(writeYaml(rewritten(root, overrides)));
    return loaded.ok ? loaded : { ok: false, reason: `overridden, ${failureText(loaded)}` };
  } catch (error) {
    if (error instanceof YamlProblem) return { ok: false, reason: error.message };
    throw error;
  }
}

function rewritten(root: YamlNode, overrides: readonly ConfigurationOverride[]): YamlNode {
  const list = field(root, 'configurations');
  if (list?.kind !== 'sequence') throw new YamlProblem('configurations is no list');
  const items = [...list.items];
  for (const { name, values } of overrides) {
    const at = items.findIndex((item) => isNamed(item, name));
    const item = items[at];
    if (item === undefined) throw new YamlProblem(`the contract has no configuration ${quote(name)}`);
    // An entry with a ref must not get values that nobody asked for.
    if (Object.keys(values).length === 0) continue;
    items[at] = withField(item, 'values', withValues(name, field(item, 'values'), values));
  }
  return withField(root, 'configurations', { ...list, items });
}

function isNamed(item: YamlNode, name: string): boolean {
  const found = field(item, 'name');
  return found?.kind === 'scalar' && found.text === name;
}

/** In place where they are there, else sorted at the end, so that the text is always the same. */
function withValues(
  name: string,
  old: YamlNode | undefined,
  values: Readonly<Record<string, string>>,
): YamlMapping {
  const added = new Set(Object.keys(values).sort());
  const kept = valueEntries(name, old).map(([key, value]) => {
    const written = keyText(key);
    if (written === undefined || !Object.hasOwn(values, written)) return [key, value] as const;
    added.delete(written);
    return [key, text(values[written] ?? '')] as const;
  });
  const more = Array.from(added, (key) => [text(key), text(values[key] ?? '')] as const);
  return { kind: 'mapping', entries: [...kept, ...more], line: 0 };
}

function valueEntries(name: string, old: YamlNode | undefined): YamlMapping['entries'] {
  if (old?.kind === 'mapping') return old.entries;
  if (old === undefined || (old.kind === 'scalar' && old.tag === '!!null')) return [];
  throw new YamlProblem(`the values of configuration ${quote(name)} are no mapping`);
}

/** Behind aliases; what a merge key brings in comes last. */
function field(node: YamlNode, name: string): YamlNode | undefined {
  const mapping = behind(node);
  if (mapping.kind !== 'mapping') return undefined;
  const own = mapping.entries.find(([key]) => isKey(key, name));
  if (own !== undefined) return behind(own[1]);
  const merge = mapping.entries.find(([key]) => isMergeKey(key));
  if (merge === undefined) return undefined;
  for (const part of mergeParts(merge[1])) {
    const found = field(part, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isKey(node: YamlNode, name: string): boolean {
  return keyText(node) === name;
}

function keyText(node: YamlNode): string | undefined {
  const key = behind(node);
  return key.kind === 'scalar' && !isMergeKey(key) ? key.text : undefined;
}

/** A copy: the field in its place, or at the end. It wins over what a merge key brings in. */
function withField(node: YamlNode, name: string, value: YamlNode): YamlMapping {
  const mapping = behind(node);
  if (mapping.kind !== 'mapping') throw new YamlProblem('a mapping is due', node);
  const at = mapping.entries.findIndex(([key]) => isKey(key, name));
  const entry = [mapping.entries[at]?.[0] ?? text(name), value] as const;
  return { ...mapping, entries: at < 0 ? [...mapping.entries, entry] : mapping.entries.with(at, entry) };
}

function text(written: string): YamlNode {
  return { kind: 'scalar', tag: '!!str', text: written, tagged: false, line: 0 };
}
