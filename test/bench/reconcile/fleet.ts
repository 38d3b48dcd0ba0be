/** A cluster of services: of each Deployment, Service, EndpointSlice and Pods, and of half of them a Pacto. */
import {
  contract,
  namespaceObject,
  pactoObject,
  serviceObject,
} from '../../cluster/support/reconcile-objects.ts';

const NAMESPACES = 20;
const SERVICES = 2_000;
const PODS = 10_000;
const PACTOS = 1_000;
const SERVICES_PER_NAMESPACE = SERVICES / NAMESPACES;
const PODS_PER_SERVICE = PODS / SERVICES;
const PACTOS_PER_NAMESPACE = PACTOS / NAMESPACES;

/** Of the Pactos of a namespace, in this order; what is left has an interface and nothing else. */
const PROVIDERS = 2;
const DEPENDENTS = 15;
const CONFIGURED = 10;
/** As by a gate that has some in its care: what a caller may of each is reviewed every ten seconds. */
const ASKED = 10;
/** The last of a namespace. */
const OFTEN = 5;
const OFTEN_SECONDS = 30;
const SELDOM_SECONDS = 3_600;

/** What there is, for the page. */
export const FLEET = {
  pods: PODS,
  services: SERVICES,
  pactos: PACTOS,
  providers: NAMESPACES * PROVIDERS,
  dependents: NAMESPACES * DEPENDENTS,
  configured: NAMESPACES * CONFIGURED,
  /**
   * A tenth is looked at every 30 s and the others not once in the whole run: in any half minute as many looks as where all
   * have the default of 300 s, which all came due together five minutes after the start, and none before.
   */
  often: { pactos: NAMESPACES * OFTEN, seconds: OFTEN_SECONDS },
  seldomSeconds: SELDOM_SECONDS,
} as const;

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** Something of the fleet with the path to POST it to. */
export interface Piece {
  readonly path: string;
  readonly body: object;
}

/** All namespaces, which must be there before `pieces`. */
export function namespaces(): readonly Piece[] {
  return Array.from({ length: NAMESPACES }, (_, index) => ({
    path: '/api/v1/namespaces',
    body: namespaceObject(namespaceOf(index)),
  }));
}

/** Where the Services of the fleet are; of the first ones of each namespace there is a Pacto. */
export function* servicePlaces(): Generator<Place> {
  for (let n = 0; n < NAMESPACES; n += 1)
    for (let s = 0; s < SERVICES_PER_NAMESPACE; s += 1)
      yield { namespace: namespaceOf(n), name: `service-${s}` };
}

function* pactoPlaces(): Generator<Place> {
  for (const [index, place] of [...servicePlaces()].entries())
    if (index % SERVICES_PER_NAMESPACE < PACTOS_PER_NAMESPACE) yield place;
}

/** Pactos that are looked at when something happens, and not in between. */
export function quietPactos(): readonly Place[] {
  return [...pactoPlaces()].filter((_, index) => {
    const [, within] = positionOf(index);
    return within >= PROVIDERS + DEPENDENTS && within < PACTOS_PER_NAMESPACE - OFTEN;
  });
}

/** What is read for a verdict decides how long it takes: whether a ConfigMap is, which is kept nowhere. */
export interface Asked extends Place {
  readonly readsConfigMap: boolean;
}

/** Ten Pactos of different namespaces in the proportions of the fleet: with dependencies, with a ConfigMap, with neither. */
export function askedPactos(): readonly Asked[] {
  const places = [...pactoPlaces()];
  return Array.from({ length: ASKED }, (_, k) => {
    const within = Math.floor(((k + 0.5) / ASKED) * (PACTOS_PER_NAMESPACE - OFTEN));
    const { namespace, name } = places[k * PACTOS_PER_NAMESPACE + within] ?? { namespace: '', name: '' };
    return { namespace, name, readsConfigMap: isConfigured(within) };
  });
}

/** Those that are looked at every now and then. */
export function oftenPactos(): readonly Place[] {
  return [...pactoPlaces()].filter((_, index) => positionOf(index)[1] >= PACTOS_PER_NAMESPACE - OFTEN);
}

/** What lies in the registry: of each a contract in 1.0.0. */
export interface Published {
  readonly repository: string;
  readonly isConfigured: boolean;
}

export function published(): readonly Published[] {
  return [...pactoPlaces()].flatMap((_, index) => {
    const [n, within] = positionOf(index);
    const repository = repositoryAt(n, within);
    return repository === undefined ? [] : [{ repository, isConfigured: isConfigured(within) }];
  });
}

/** @param registry its host and port. */
export function* pieces(registry: string): Generator<Piece> {
  for (const { namespace, name } of servicePlaces()) {
    yield { path: `/api/v1/namespaces/${namespace}/services`, body: serviceOf({ namespace, name }) };
    yield {
      path: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
      body: sliceOf({ namespace, name }),
    };
    yield {
      path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
      body: deploymentOf({ namespace, name }),
    };
    for (let pod = 0; pod < PODS_PER_SERVICE; pod += 1)
      yield { path: `/api/v1/namespaces/${namespace}/pods`, body: podOf({ namespace, name }, pod) };
  }
  for (const [index, place] of [...pactoPlaces()].entries()) {
    const { namespace, name } = place;
    const [n, within] = positionOf(index);
    if (isConfigured(within))
      yield {
        path: `/api/v1/namespaces/${namespace}/configmaps`,
        body: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { namespace, name },
          data: { 'app.json': '{"port":8080}' },
        },
      };
    yield { path: pactosOf(namespace), body: pactoOf(place, { n, within, registry }) };
  }
}

export function pactosOf(namespace: string): string {
  return `/apis/pacto.trianalab.io/v1alpha1/namespaces/${namespace}/pactos`;
}

/** Pods of the whole fleet, each once. */
export function* podPaths(): Generator<string> {
  for (const { namespace, name } of servicePlaces())
    for (let pod = 0; pod < PODS_PER_SERVICE; pod += 1)
      yield `/api/v1/namespaces/${namespace}/pods/${name}-${pod}`;
}

export function slicePath({ namespace, name }: Place): string {
  return `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${name}-a`;
}

export function deploymentPath({ namespace, name }: Place): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
}

/** Of an EndpointSlice, with as many endpoints as there are Pods. */
export function endpointsOf(ready: boolean): readonly object[] {
  return Array.from({ length: PODS_PER_SERVICE }, (_, pod) => ({
    addresses: [`10.9.0.${pod + 1}`],
    conditions: { ready, serving: ready, terminating: false },
    nodeName: `node-${pod}`,
  }));
}

/** A Pacto about a Service of the fleet whose contract lies in `repository`, never looked at before. */
export function newPacto({ namespace, name }: Place, registry: string, repository: string): Piece {
  const contractRef = { oci: `oci://${registry}/${repository}:1.0.0` };
  const target = { serviceName: name, interfaceBindings: [{ interface: 'api', servicePort: 80 }] };
  const body = pactoObject(`new-${repository.replaceAll('/', '-')}`, {
    namespace,
    contractRef,
    target,
    checkIntervalSeconds: SELDOM_SECONDS,
  });
  return { path: pactosOf(namespace), body };
}

const namespaceOf = (index: number): string => `shop-${index}`;
const positionOf = (index: number): readonly [number, number] => [
  Math.floor(index / PACTOS_PER_NAMESPACE),
  index % PACTOS_PER_NAMESPACE,
];
/** Undefined where the contract is in the Pacto itself. */
const repositoryAt = (n: number, within: number): string | undefined =>
  within < PROVIDERS || isConfigured(within) ? `fleet/service-${n}-${within}` : undefined;
const isConfigured = (within: number): boolean =>
  within >= PROVIDERS + DEPENDENTS && within < PROVIDERS + DEPENDENTS + CONFIGURED;

interface Position {
  readonly n: number;
  readonly within: number;
  readonly registry: string;
}

function pactoOf({ namespace, name }: Place, { n, within, registry }: Position): object {
  const checkIntervalSeconds = within >= PACTOS_PER_NAMESPACE - OFTEN ? OFTEN_SECONDS : SELDOM_SECONDS;
  const repository = repositoryAt(n, within);
  const contractRef =
    repository === undefined
      ? {
          inline: contract(name, { more: within < PROVIDERS + DEPENDENTS ? wants(n, within, registry) : '' }),
        }
      : { oci: `oci://${registry}/${repository}:1.0.0` };
  const target = {
    serviceName: name,
    interfaceBindings: [{ interface: 'api', servicePort: 80 }],
    configBindings: isConfigured(within)
      ? [{ configuration: 'app', kind: 'ConfigMap', name, key: 'app.json', format: 'json' }]
      : [],
  };
  return pactoObject(name, { namespace, checkIntervalSeconds, contractRef, target });
}

/** Of a contract: it depends on a provider of its namespace. */
function wants(n: number, within: number, registry: string): string {
  const ref = `oci://${registry}/${repositoryAt(n, within % PROVIDERS)}:1.0.0`;
  return `dependencies: [{name: provider, ref: "${ref}", required: true, compatibility: "^1.0.0"}]\n`;
}

/** Without an address of its own: they are counted (`--service-cluster-ip-range`). */
function serviceOf({ namespace, name }: Place): object {
  const service = serviceObject(name, namespace) as { readonly spec: object };
  return { ...service, spec: { ...service.spec, clusterIP: 'None' } };
}

function sliceOf({ namespace, name }: Place): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    metadata: { name: `${name}-a`, namespace, labels: { 'kubernetes.io/service-name': name } },
    ports: [{ port: 8080, protocol: 'TCP', name: '' }],
    endpoints: endpointsOf(true),
  };
}

function templateOf(name: string): { readonly metadata: object; readonly spec: object } {
  const probe = { httpGet: { path: '/healthz', port: 8080 }, initialDelaySeconds: 5 };
  return {
    metadata: { labels: { app: name } },
    spec: {
      containers: [
        {
          name: 'main',
          image: `registry.test/${name}:1.0.0`,
          ports: [{ containerPort: 8080 }],
          env: Array.from({ length: 10 }, (_, index) => ({
            name: `SETTING_${index}`,
            value: 'x'.repeat(40),
          })),
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
          readinessProbe: probe,
          livenessProbe: probe,
        },
      ],
    },
  };
}

function deploymentOf({ namespace, name }: Place): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels: { app: name } },
    spec: {
      replicas: PODS_PER_SERVICE,
      selector: { matchLabels: { app: name } },
      template: templateOf(name),
    },
  };
}

function podOf({ namespace, name }: Place, index: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    ...templateOf(name),
    metadata: { name: `${name}-${index}`, namespace, labels: { app: name } },
  };
}
