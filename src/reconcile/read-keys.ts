/** Reads as texts: what a look asked for, and what an object is an answer to. Names hold neither spaces nor slashes. */
import type { Kind } from '../cluster/kinds.ts';
import type { NamespacedName } from './view.ts';

/** One object. */
export function ofObject({ kind }: Kind, { namespace, name }: NamespacedName): string {
  return `${kind} ${namespace}/${name}`;
}

/** All objects of a kind that belong to something: slices to a Service, Pactos to a repository. */
export function relatedTo({ kind }: Kind, to: string): string {
  return `${kind} of ${to}`;
}

/** One object to its last detail: what of it usually decides nothing decides something here. */
export function ofDetails({ kind }: Kind, { namespace, name }: NamespacedName): string {
  return `details of ${kind} ${namespace}/${name}`;
}

/** Whether a kind can be read at all. */
export function ofKind({ kind }: Kind): string {
  return `kind ${kind}`;
}

export function serviceText({ namespace, name }: NamespacedName): string {
  return `${namespace}/${name}`;
}
