/** Kinds that policies may have as their paramKind, out of the configuration (design decision 17). */
import type { Kind } from '../cluster/kinds.ts';
import { apiVersionOf } from '../cluster/kinds.ts';
import type { ParamKind } from '../policies/vap/types.ts';

/** @param text of a key `policies.paramKinds`: `[group/]version/Kind[:plural][:Cluster]`. */
export function paramKindOf(text: string): Kind {
  const [name = '', ...rest] = text.split(':');
  const parts = name.split('/');
  const kind = parts.at(-1) ?? '';
  const namespaced = rest.at(-1) !== 'Cluster';
  const [plural = `${kind.toLowerCase()}s`] = namespaced ? rest : rest.slice(0, -1);
  return {
    group: parts.length === 3 ? (parts[0] ?? '') : '',
    version: parts.at(-2) ?? '',
    kind,
    resource: plural,
    namespaced,
  };
}

export function findParamKind(kinds: readonly Kind[], { apiVersion, kind }: ParamKind): Kind | undefined {
  return kinds.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
}
