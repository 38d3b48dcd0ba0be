/** Pod templates of workloads, as far as they are a release (rows 20 to 26 of delivery.md §2.3). */
import type { AdmissionRequest } from '../../cluster/objects.ts';
import { at, canonicalJson, isRecord, type ForeignRecord } from '../identity/foreign.ts';

/** What `kubectl rollout restart` writes: the same Pods again. */
const RESTARTED = 'kubectl.kubernetes.io/restartedAt';
/** Of a container, what makes no other release of it: row 26. */
const FREE_OF_CONTAINER: ReadonlySet<string> = new Set([
  'resources',
  'resizePolicy',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
]);
const CONTAINERS = ['initContainers', 'containers'] as const;

/**
 * One text for all templates that are the same release: without restarts, resources and probes, keys in order.
 *
 * @returns undefined where there is no template
 */
export function templateTextOf(object: unknown): string | undefined {
  const template = at(object, 'spec', 'template');
  return isRecord(template) ? canonicalJson(releaseOf(template)) : undefined;
}

export interface WorkloadChange {
  /** `templateTextOf` before and after. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** `harmless`: another restart, other resources or probes, or nothing of the template at all. */
  readonly changes: 'nothing' | 'harmless' | 'template';
}

/** Never throws. */
export function workloadChangeOf({ operation, object, oldObject }: AdmissionRequest): WorkloadChange {
  const to = templateTextOf(object);
  if (operation === 'CREATE')
    return { from: undefined, to, changes: to === undefined ? 'nothing' : 'template' };
  const from = templateTextOf(oldObject);
  if (to === undefined || from !== to)
    return { from, to, changes: to === undefined ? 'nothing' : 'template' };
  const isSame = canonicalJson(at(object, 'spec') ?? null) === canonicalJson(at(oldObject, 'spec') ?? null);
  return { from, to, changes: isSame ? 'nothing' : 'harmless' };
}

function releaseOf(template: ForeignRecord): unknown {
  const { metadata, spec } = template;
  return {
    metadata: metadataOf(isRecord(metadata) ? metadata : {}),
    spec: isRecord(spec) ? podOf(spec) : {},
  };
}

function metadataOf({ annotations, labels }: ForeignRecord): unknown {
  const kept = isRecord(annotations)
    ? Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== RESTARTED))
    : {};
  return { labels: labels ?? {}, annotations: kept };
}

function podOf(spec: ForeignRecord): unknown {
  const lists = CONTAINERS.flatMap((name) => {
    const containers = spec[name];
    return Array.isArray(containers) ? [[name, containers.map(containerOf)] as const] : [];
  });
  return { ...spec, ...Object.fromEntries(lists) };
}

function containerOf(container: unknown): unknown {
  if (!isRecord(container)) return container;
  return Object.fromEntries(Object.entries(container).filter(([key]) => !FREE_OF_CONTAINER.has(key)));
}
