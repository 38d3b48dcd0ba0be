/** What the section `policies` of the configuration says, as the parts of the program ask for it. */
import { NAMESPACE, type Kind } from '../cluster/kinds.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import { paramKindOf } from '../webhooks/param-kinds.ts';

/** Whether there may be policies at all; without, nothing is loaded, watched or granted for them. */
export function wantsPolicies({ policies }: Pick<Config, 'policies'>): boolean {
  const { files, directory, sources } = policies;
  return files.length > 0 || directory !== undefined || sources.length > 0;
}

/** Each once, without Namespace, which is read in any case. */
export function paramKindsOf(texts: readonly string[]): readonly Kind[] {
  const kinds = texts.map(paramKindOf).filter((kind) => !isNamespace(kind));
  const byName = new Map(kinds.map((kind) => [`${kind.group}/${kind.version}/${kind.resource}`, kind]));
  return [...byName.values()];
}

export function isNamespace({ group, version, resource }: Kind): boolean {
  return group === NAMESPACE.group && version === NAMESPACE.version && resource === NAMESPACE.resource;
}

/**
 * Namespaces whose ConfigMaps hold policies.
 *
 * @throws GateError GATE_CONFIG_INVALID where ConfigMaps are a source, no namespace is given, and none is our own
 */
export function policyNamespaces({
  policies,
  environment,
}: Pick<Config, 'policies' | 'environment'>): readonly string[] {
  const { sources, namespaces } = policies;
  if (!sources.includes('configMaps')) return [];
  if (namespaces.length > 0) return [...new Set(namespaces)].toSorted();
  const { podNamespace } = environment;
  if (podNamespace !== undefined) return [podNamespace];
  throw new GateError(
    'GATE_CONFIG_INVALID',
    'policies.sources: configMaps are a source and nothing says in which namespaces; set policies.namespaces, or POD_NAMESPACE in the environment',
  );
}
