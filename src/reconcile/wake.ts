/** Which Pactos there are, and what says that one is to be looked at. */
import type { KubeObject } from '../cluster/objects.ts';
import type { NamespacedName } from './view.ts';

/** What a Pacto is called everywhere in here: queues and requests hold nothing else of it. */
export type PactoKey = NamespacedName;

/** The Pactos of the watched namespaces, as the watch has them. */
export interface PactoSource {
  get(key: PactoKey): KubeObject | undefined;
  keys(): Iterable<PactoKey>;
}

/** @param reason for the log: the kind that changed, or what asked. */
export type WakeListener = (key: PactoKey, reason: string) => void;

/** One text for each key: neither part holds a slash. */
export function keyText({ namespace, name }: PactoKey): string {
  return `${namespace}/${name}`;
}
