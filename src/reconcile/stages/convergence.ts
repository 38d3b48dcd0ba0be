/** Whether Flux runs what a pointer names (delivery.md §3.5, "Converged, exactly"). */
import type { KubeObject } from '../../cluster/objects.ts';
import { revisionOf } from '../../policies/delivery/pin.ts';
import type { PointerField } from '../../policies/delivery/stage.ts';
import { at } from '../../policies/identity/foreign.ts';

/** A source has fetched it: what it serves is what was asked for, and verified where it is to be. */
export function isFetched(source: KubeObject | undefined, digest: string): boolean {
  if (!isSettled(source) || !holds(source, 'Ready')) return false;
  if (at(source, 'spec', 'verify') !== undefined && !holds(source, 'SourceVerified')) return false;
  return revisionOf(at(source, 'status', 'artifact', 'revision'))?.digest === digest;
}

/** A consumer has applied it, and says so of its spec of now. */
export function isApplied(
  consumer: KubeObject,
  { digest, field }: { readonly digest: string; readonly field: PointerField },
): boolean {
  if (!isSettled(consumer) || !holds(consumer, 'Ready')) return false;
  if (consumer.kind === 'HelmRelease') return isDeployed(consumer, digest);
  // Digests of images and keys of ConfigMaps are no revisions: that its spec of now is applied is all there is to know.
  if (field === 'kustomizeImageDigest' || field === 'configKey') return true;
  return revisionOf(at(consumer, 'status', 'lastAppliedRevision'))?.digest === digest;
}

function isDeployed(release: KubeObject, digest: string): boolean {
  const history = at(release, 'status', 'history');
  const [newest] = Array.isArray(history) ? (history as readonly unknown[]) : [];
  if (at(newest, 'status') !== 'deployed') return false;
  return at(newest, 'ociDigest') === digest || at(newest, 'chartVersion') === digest;
}

function isSettled(object: KubeObject | undefined): boolean {
  const generation = at(object, 'metadata', 'generation');
  return generation !== undefined && at(object, 'status', 'observedGeneration') === generation;
}

function holds(object: KubeObject | undefined, type: string): boolean {
  const conditions = at(object, 'status', 'conditions');
  return (
    Array.isArray(conditions) &&
    conditions.some((one) => at(one, 'type') === type && at(one, 'status') === 'True')
  );
}
