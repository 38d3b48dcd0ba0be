/** One look at a few objects, for tests of dimensions. */
import type { Kind } from '../../../src/cluster/kinds.ts';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { GateError } from '../../../src/errors.ts';
import type { BundleFiles } from '../../../src/policies/contract/bundle-files.ts';
import type { Contract } from '../../../src/policies/contract/contract.ts';
import type { SchemaChecks } from '../../../src/policies/contract/schema-checks.ts';
import type { Observation } from '../../../src/policies/observation.ts';
import type { ObservationWindow } from '../../../src/reconcile/api/pacto.ts';
import { repositoryOf } from '../../../src/reconcile/observe/dependency-repository.ts';
import type { Dimension, ObserveSettings, Surveyed } from '../../../src/reconcile/observe/dimension.ts';
import { ingressBackends } from '../../../src/reconcile/observe/ingress-backends.ts';
import type { Prober } from '../../../src/reconcile/observe/prober.ts';
import { inSeconds, Windows } from '../../../src/reconcile/stabilization.ts';
import type { Target } from '../../../src/reconcile/target.ts';
import type { NamespacedName, View } from '../../../src/reconcile/view.ts';
import { FakeClock } from '../../support/fake-clock.ts';

export const NAMESPACE = 'shop';
export const AGENTS = 'agents';
/** Of `--stabilization-window`. */
export const WINDOW_MS = 120_000;
/** How long a connection counts. */
export const CONNECTION_MS = 300_000;

export interface Scene {
  readonly contract?: Partial<Contract>;
  readonly target?: Partial<Target>;
  readonly objects?: readonly KubeObject[];
  /** Kinds that may not be read. */
  readonly forbidden?: readonly Kind[];
  /** Told of each kind that is read. */
  readonly onRead?: (kind: Kind) => void;
  readonly settings?: Partial<ObserveSettings>;
  readonly agents?: boolean;
  /** How long each streak (`interface/api`) has lasted, milliseconds. */
  readonly streaks?: Readonly<Record<string, number>>;
  readonly prober?: Partial<Prober>;
  readonly files?: BundleFiles;
  readonly schemas?: SchemaChecks;
  readonly signal?: AbortSignal;
}

export interface Seen {
  readonly observations: readonly Observation[];
  /** What is left of the streaks: how long each has lasted. */
  readonly streaks: Readonly<Record<string, number>>;
  /** Instants that were named, from now on; those that a watch tells of are apart. */
  readonly dues: readonly number[];
  readonly watchedDues: readonly number[];
}

export const NO_CONTRACT: Contract = {
  pactoVersion: '2.0',
  service: { name: 'web', version: '1.0.0' },
  interfaces: [],
  configurations: [],
  policies: [],
  dependencies: [],
  capabilities: [],
};

/** Now, in every scene. */
const NOW_MS = new FakeClock().now();

/** An RFC 3339 time, so long after now. */
export function at(ms: number): string {
  return new Date(NOW_MS + ms).toISOString();
}

export async function look(dimension: Dimension, scene: Scene): Promise<Seen> {
  const { agents = false } = scene;
  const windows = new Windows(streaksOf(scene.streaks ?? {}), NOW_MS, WINDOW_MS);
  const dues: number[] = [];
  const watchedDues: number[] = [];
  const surveyed: Surveyed = {
    contract: { ...NO_CONTRACT, ...scene.contract },
    target: {
      namespace: NAMESPACE,
      service: 'web',
      workload: { kind: kinds.DEPLOYMENT, name: 'web', explicit: false },
      interfaces: new Map(),
      configurations: new Map(),
      ...scene.target,
    },
    files: scene.files,
    view: viewOf(scene),
    windows,
    nowMs: NOW_MS,
    settings: {
      probing: false,
      metrics: false,
      nameMatch: false,
      nodeAgent: agents ? { namespace: AGENTS, connectionMs: CONNECTION_MS } : undefined,
      ...scene.settings,
    },
    prober: {
      get: () => Promise.resolve({ answered: false, reason: 'nobody asked' }),
      protocols: () => Promise.resolve([]),
      ...scene.prober,
    },
    schemas: scene.schemas ?? {
      compile: () => Promise.resolve({ outcome: 'valid' }),
      validate: () => Promise.resolve({ outcome: 'valid' }),
    },
    due: (atMs, by) => void (by === 'watched' ? watchedDues : dues).push(atMs - NOW_MS),
    signal: scene.signal ?? new AbortController().signal,
  };
  const observations = await dimension(surveyed);
  const left = windows
    .left(() => true)
    .map(({ kind, subject, firstObservedNegativeAt }) => [
      `${kind}/${subject}`,
      NOW_MS - Date.parse(firstObservedNegativeAt),
    ]);
  return { observations, streaks: Object.fromEntries(left) as Record<string, number>, dues, watchedDues };
}

/** The observations in short: outcome and payload, without kind, reason and time. */
export function gist(observations: readonly Observation[]): readonly unknown[] {
  return observations.map(({ outcome, value }) => (value === undefined ? outcome : value));
}

function streaksOf(streaks: Readonly<Record<string, number>>): readonly ObservationWindow[] {
  return Object.entries(streaks).map(([key, lastedMs]) => {
    const [kind, subject] = key.split('/') as [ObservationWindow['kind'], string];
    return { kind, subject, firstObservedNegativeAt: inSeconds(NOW_MS - lastedMs) };
  });
}

/** As view.ts says, over what the scene has. */
function viewOf({ objects = [], forbidden = [], onRead }: Scene): View {
  const ofKind = async (kind: Kind): Promise<readonly KubeObject[]> => {
    await Promise.resolve();
    onRead?.(kind);
    if (forbidden.includes(kind))
      throw new GateError('GATE_CLUSTER_FORBIDDEN', `${kind.resource} may not be listed`);
    return objects.filter((object) => object.kind === kind.kind);
  };
  const named = async (kind: Kind, { namespace, name }: NamespacedName): Promise<KubeObject | undefined> =>
    (await ofKind(kind)).find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  const related = async (
    kind: Kind,
    isRelated: (object: KubeObject) => boolean,
  ): Promise<readonly KubeObject[]> => (await ofKind(kind)).filter((object) => isRelated(object));
  const none = (): Promise<readonly KubeObject[]> => Promise.resolve([]);
  const nothing = (): Promise<undefined> => Promise.resolve(undefined);
  return {
    service: (name) => named(kinds.SERVICE, name),
    endpointSlices: ({ namespace, name }) =>
      related(
        kinds.ENDPOINT_SLICE,
        ({ metadata }) =>
          metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === name,
      ),
    workload: named,
    ingressesTo: ({ namespace, name }) =>
      related(
        kinds.INGRESS,
        (ingress) =>
          ingress.metadata.namespace === namespace &&
          ingressBackends(ingress).some(({ service }) => service === name),
      ),
    routesTo: ({ name }) =>
      related(kinds.HTTP_ROUTE, (route) => JSON.stringify(route['spec']).includes(`"name":"${name}"`)),
    serviceMonitors: (namespace) =>
      related(kinds.SERVICE_MONITOR, ({ metadata }) => metadata.namespace === namespace),
    podMonitors: (namespace) =>
      related(kinds.POD_MONITOR, ({ metadata }) => metadata.namespace === namespace),
    configMap: (name) => named(kinds.CONFIG_MAP, name),
    secretMetadata: (name) => named(kinds.SECRET, name),
    pullSecret: nothing,
    siblings: (repository) =>
      related(kinds.PACTO, ({ status }) => {
        const { contract } = (status ?? {}) as { contract?: { resolvedRef?: string } };
        return repositoryOf(contract?.resolvedRef ?? '') === repository;
      }),
    nodeObservation: (name) => named(kinds.NODE_RUNTIME_OBSERVATION, { namespace: AGENTS, name }),
    nodeLease: (name) => named(kinds.LEASE, { namespace: AGENTS, name }),
    revisions: none,
  };
}
