/** What is waiting to be deployed behind an object that is suspended or gets another source (rows 9 and 11 of delivery.md §2.3). */
import type { KubeObject } from '../../cluster/objects.ts';
import { at, isRecord } from '../identity/foreign.ts';
import type { ObjectRef, Pin } from './change.ts';
import { revisionOf } from './pin.ts';

const SOURCES = 'source.toolkit.fluxcd.io';

/**
 * What `spec.sourceRef` of a Kustomization or `spec.chartRef` of a HelmRelease names.
 *
 * @param of the object itself: a source of its own namespace where it says none
 * @returns undefined where it names none, as a source itself does not
 */
export function sourceRefOf(object: unknown, of: ObjectRef): ObjectRef | undefined {
  const ref = [at(object, 'spec', 'sourceRef'), at(object, 'spec', 'chartRef')].find((one) => isRecord(one));
  const kind = at(ref, 'kind');
  const name = at(ref, 'name');
  if (typeof kind !== 'string' || typeof name !== 'string' || name === '') return undefined;
  const namespace = at(ref, 'namespace');
  return {
    group: SOURCES,
    kind,
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : of.namespace,
    name,
  };
}

export interface Pending {
  /** Whether letting the object go on deploys something that it does not run yet; true where nobody can tell. */
  readonly isPending: boolean;
  /** What that is; empty where nobody can tell, which no evidence speaks for. */
  readonly digest: string;
}

/**
 * @param consumer the object as it is to be
 * @param source what `sourceRefOf` named, as it was found
 * @param to its own pin, where it is a source or names its release itself
 */
export function pendingOf(consumer: unknown, source: KubeObject | undefined, to: Pin | undefined): Pending {
  if (at(consumer, 'spec', 'sourceRef') === undefined && at(consumer, 'spec', 'chartRef') === undefined)
    return ofItself(consumer, to);
  const { digest = '' } = revisionOf(at(source, 'status', 'artifact', 'revision')) ?? {};
  if (digest === '') return { isPending: true, digest: '' };
  return { isPending: digest !== appliedBy(consumer), digest };
}

/** A source that is fetched again, or a release that names its version. */
function ofItself(object: unknown, to: Pin | undefined): Pending {
  if (to === undefined || !to.isPinned) return { isPending: true, digest: '' };
  const revision = revisionOf(at(object, 'status', 'artifact', 'revision'));
  const version = at(object, 'status', 'lastAttemptedRevision');
  const isThere = revision?.digest === to.value || version === to.value;
  return { isPending: !isThere, digest: to.value };
}

/** What a Kustomization applied last, or what a HelmRelease has deployed; empty where it does not say. */
function appliedBy(consumer: unknown): string {
  const applied = revisionOf(at(consumer, 'status', 'lastAppliedRevision'));
  if (applied !== undefined) return applied.digest;
  const history = at(consumer, 'status', 'history');
  const [newest] = Array.isArray(history) ? (history as readonly unknown[]) : [];
  const digest = at(newest, 'status') === 'deployed' ? at(newest, 'ociDigest') : undefined;
  return typeof digest === 'string' ? digest : '';
}
