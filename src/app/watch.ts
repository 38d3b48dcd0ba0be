/** A watch of the program: a reflector whose reports are in the log. */
import type { Clock } from '../clock.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Kind } from '../cluster/kinds.ts';
import {
  createReflector,
  type Reflector,
  type ReflectorOptions,
  type ReflectorReport,
} from '../cluster/watch.ts';
import { GateError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { WatchFacts } from '../metrics.ts';

export interface WatchParts {
  readonly clock: Clock;
  readonly log: Log;
}

export interface Watch {
  readonly reflector: Reflector;
  /** The last list was refused because the API server does not serve the kind: its CustomResourceDefinition is missing. */
  isMissing(): boolean;
}

export interface WatchOptions extends Pick<
  ReflectorOptions,
  'select' | 'project' | 'metadataOnly' | 'whole' | 'onChange'
> {
  readonly cluster: Pick<Cluster, 'list' | 'watch'>;
  readonly kind: Kind;
  /** Called when a list is in the store, changed or not. */
  readonly onListed?: () => void;
}

/** Starts a watch; `reflector.stop()` ends it. */
export function startWatch({ onListed, ...options }: WatchOptions, parts: WatchParts): Watch {
  const say = reporter(parts, options.kind);
  let isMissing = false;
  const reflector = createReflector({
    ...options,
    clock: parts.clock,
    random: Math.random,
    report(report) {
      const wasMissing = isMissing;
      if (report.type === 'listed') isMissing = false;
      else if (report.type === 'failed' && report.during === 'list') isMissing = isNotServed(report.error);
      // It is asked for again every few seconds, and said once.
      if (!wasMissing || !isMissing) say(report, isMissing);
      if (report.type === 'listed') onListed?.();
    },
  });
  reflector.start();
  return { reflector, isMissing: () => isMissing };
}

/** For the metrics. */
export function watchFacts(reflector: Reflector): WatchFacts {
  return {
    kind: reflector.kind.kind,
    namespace: reflector.namespace ?? '',
    objects: reflector.store.size,
    synced: reflector.synced(),
    silentSeconds: Math.round(reflector.freshnessMs()) / 1_000,
  };
}

/** As cluster/answers.ts names it: no object is absent, the kind is. */
export function isNotServed(error: unknown): boolean {
  return error instanceof GateError && error.code === 'GATE_CLUSTER_UNSUPPORTED';
}

/** For who has watches of many kinds: a kind that is not served is said once, until it is. */
export function reportWatch(log: Log): (kind: Kind, report: ReflectorReport) => void {
  const missing = new Set<Kind>();
  return (kind, report) => {
    const wasMissing = missing.has(kind);
    if (report.type === 'listed') missing.delete(kind);
    else if (report.type === 'failed' && isNotServed(report.error)) missing.add(kind);
    const isMissing = missing.has(kind);
    if (!wasMissing || !isMissing) reporter({ log }, kind)(report, isMissing);
  };
}

function reporter(
  { log }: Pick<WatchParts, 'log'>,
  kind: Kind,
): (report: ReflectorReport, isMissing: boolean) => void {
  return (report, isMissing) => {
    switch (report.type) {
      case 'listed':
        log.info('watch synced', {
          kind: kind.kind,
          count: report.objects,
          durationMs: Math.round(report.tookMs),
        });
        return;
      case 'failed':
        log.warn(isMissing ? 'kind not served' : 'watch interrupted', {
          kind: kind.kind,
          requeueMs: Math.round(report.retryMs),
          err: report.error,
        });
        return;
      case 'expired':
        log.info('watch listed anew', { kind: kind.kind, code: report.code });
        return;
      case 'consumer-failed':
        log.error('watch consumer failed', { kind: kind.kind, err: report.error });
    }
  };
}
