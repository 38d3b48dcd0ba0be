/**
 * What events from outside come to: some of the Pactos that exist are looked at. An event is a hint and nothing more; what
 * it says is never believed (design §5).
 */
import type { Clock } from '../clock.ts';
import { PACTO } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { repositoryOf } from './observe/dependency-repository.ts';
import { keyText, type PactoKey, type WakeListener } from './wake.ts';

/** One wake a key within this time: a sender that repeats itself costs one look. */
const QUIET_MS = 5_000;

export interface ObjectHint {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface EventSink {
  /** Something was pushed to a repository. @returns how many Pactos are woken. */
  repository(reference: string): Promise<number>;
  /** Something happened to an object. @returns how many Pactos are woken. */
  object(hint: ObjectHint): Promise<number>;
}

export interface EventSinkOptions {
  /** All that there are; throws as Cluster.list. */
  readonly pactos: () => Promise<readonly KubeObject[]>;
  readonly wake: WakeListener;
  /** What is kept of a repository counts no more. */
  readonly forget: (repository: string) => void;
  readonly clock: Clock;
}

export function createEventSink({ pactos, wake, forget, clock }: EventSinkOptions): EventSink {
  const quiet = new Map<string, number>();
  const wakeOnce = (key: PactoKey, reason: string): boolean => {
    const nowMs = clock.monotonic();
    for (const [name, untilMs] of quiet) {
      if (untilMs > nowMs) break;
      quiet.delete(name);
    }
    const name = keyText(key);
    if (quiet.has(name)) return false;
    quiet.set(name, nowMs + QUIET_MS);
    wake(key, reason);
    return true;
  };
  const wakeAll = async (isMeant: (pacto: KubeObject) => boolean, reason: string): Promise<number> => {
    const meant = (await pactos()).filter(isMeant);
    return meant.filter(({ metadata }) => {
      const { namespace = '', name = '' } = metadata;
      return wakeOnce({ namespace, name }, reason);
    }).length;
  };
  return {
    async repository(reference) {
      const repository = repositoryOf(reference);
      if (repository === '') return 0;
      forget(repository);
      return await wakeAll((pacto) => repositoryOf(sourceOf(pacto)) === repository, 'registry event');
    },
    async object({ kind, namespace, name }) {
      const isMeant = (pacto: KubeObject): boolean =>
        kind === PACTO.kind ? pacto.metadata.name === name : namesOf(pacto).has(name);
      return await wakeAll(
        (pacto) => pacto.metadata.namespace === namespace && isMeant(pacto),
        `event of a ${WELL_KNOWN.has(kind) ? kind : 'foreign kind'}`,
      );
    },
  };
}

/** Others are not repeated in the log: whoever sends events chooses them. */
const WELL_KNOWN: ReadonlySet<string> = new Set([
  PACTO.kind,
  'Kustomization',
  'HelmRelease',
  'OCIRepository',
  'GitRepository',
  'Bucket',
  'HelmRepository',
  'HelmChart',
  'Deployment',
  'StatefulSet',
  'Service',
]);

/** What a Pacto goes by: its own name and those of its targets. */
function namesOf({ metadata, ...pacto }: KubeObject): ReadonlySet<string> {
  const target = recordOf(recordOf(pacto['spec'])['target']);
  const names = [metadata.name, target['serviceName'], recordOf(target['workloadRef'])['name']];
  return new Set(names.filter((name): name is string => typeof name === 'string' && name !== ''));
}

function sourceOf(pacto: KubeObject): string {
  const { oci } = recordOf(recordOf(pacto['spec'])['contractRef']);
  return typeof oci === 'string' ? oci : '';
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
