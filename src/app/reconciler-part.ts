/** What the composition has of the role reconciler, however it looks. */
import type { LookingSources } from './looking.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Metrics, WatchFacts } from '../metrics.ts';
import type { EventSink } from '../reconcile/event-sink.ts';
import type { StageGates } from '../reconcile/stages/gates.ts';
import type { Verdicts } from '../reconcile/verdicts.ts';

export interface ReconcilerPart {
  readonly verdicts: Verdicts;
  readonly events: EventSink;
  /** Where the delivery gate is on. */
  readonly gates?: StageGates;
  /** For readiness: what is not read yet. */
  unsynced(): string | undefined;
  watches(): readonly WatchFacts[];
  observe(metrics: Metrics): void;
  /** Nobody looks at anything, and nothing waits for it but time. */
  isIdle(): boolean;
  stop(): Promise<void>;
}

export interface ReconcilerSources extends LookingSources {
  readonly cluster: Cluster;
}
