/** The policies that the configuration names, wherever they come from, as they are just now. */
import type { SourcedPolicies } from './policies/vap/sources.ts';

export interface PolicySources {
  /** What is in force; another value after each change. What is known of it before `unsynced()` is undefined is a part. */
  current(): SourcedPolicies;
  /** @returns what ends it. The listener puts a key in a queue and returns. */
  onChange(listener: () => void): () => void;
  /** For readiness: what has not been read once yet. */
  unsynced(): string | undefined;
  /** Sources whose content is not known just now: nothing may be removed because of them. */
  incomplete(): readonly string[];
  /**
   * With `state: live`: lists again where the last list is older than 30 s. With watches nothing is to be done.
   * @throws GateError where what is in force is not known.
   */
  fresh(signal: AbortSignal | undefined): Promise<void>;
  close(): Promise<void>;
}
