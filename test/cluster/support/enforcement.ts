/** Puts policies in force on a real API server, and knows when they are. */
import type { KubeObject } from '../../../src/cluster/objects.ts';
import type { ApiClient } from './api-client.ts';
import { pollUntil } from './polling.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const POLICIES = `${GROUP}/validatingadmissionpolicies`;
const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;

const PROBE_NAMESPACE = 'enforcement-probe';
const CONFIG_MAPS = `/api/v1/namespaces/${PROBE_NAMESPACE}/configmaps`;

/** Policies act up to a second after they are written (vap.md O07), a new paramKind after the next discovery. */
const TIMEOUT_MS = 90_000;

/** A kind of parameters, and where an object of its is created. */
export interface KeptParamKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly path: string;
}

/** Of the recorded cases. */
export const RECORDED_PARAM_KINDS: readonly KeptParamKind[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', path: CONFIG_MAPS },
  { apiVersion: 'v1', kind: 'Secret', path: `/api/v1/namespaces/${PROBE_NAMESPACE}/secrets` },
  {
    apiVersion: 'rules.example.com/v1',
    kind: 'ReplicaLimit',
    path: `/apis/rules.example.com/v1/namespaces/${PROBE_NAMESPACE}/replicalimits`,
  },
  {
    apiVersion: 'rules.example.com/v1',
    kind: 'ClusterLimit',
    path: '/apis/rules.example.com/v1/clusterlimits',
  },
];

export interface PolicyObjects {
  readonly policies: readonly KubeObject[];
  readonly bindings: readonly KubeObject[];
}

export class Enforcement {
  readonly #api: ApiClient;
  readonly #paramKinds: readonly KeptParamKind[];
  #inForce: PolicyObjects = { policies: [], bindings: [] };
  #probes = 0;

  constructor(api: ApiClient, paramKinds = RECORDED_PARAM_KINDS) {
    this.#api = api;
    this.#paramKinds = paramKinds;
  }

  /**
   * Keeps a policy with each kind of parameters in force: without one the API server would have to begin watching
   * a kind in the middle of a request, and once it has ceased to watch a native kind it never does again.
   */
  async keepParamKinds(): Promise<void> {
    const api = this.#api;
    await createProbeNamespace(api);
    await Promise.all(
      this.#paramKinds.map(async ({ path, apiVersion, kind }) => {
        const metadata = { name: keeperOf(kind) };
        await api.demand({ method: 'POST', path, body: { apiVersion, kind, metadata } });
        await this.#create(keeper(apiVersion, kind));
      }),
    );
  }

  /** Waits until each of them is in force and its parameters are known. */
  async paramKindsKept(): Promise<void> {
    await Promise.all(this.#paramKinds.map(({ kind }) => untilRefused(this.#api, keeperOf(kind))));
  }

  /** Puts these in force instead of the ones before, and waits until that is so. */
  async replace(objects: PolicyObjects): Promise<void> {
    await this.#delete(this.#inForce);
    this.#probes += 1;
    const name = `probe-${this.#probes}`;
    const probe = refusingProbe(name);
    await this.#create(objects);
    // What is written last is seen last: when it acts, the others do, and those that were deleted do no more.
    await this.#create(probe);
    this.#inForce = {
      policies: [...objects.policies, ...probe.policies],
      bindings: [...objects.bindings, ...probe.bindings],
    };
    await untilRefused(this.#api, name);
  }

  async #create({ policies, bindings }: PolicyObjects): Promise<void> {
    const create = (path: string) => (body: KubeObject) => this.#api.demand({ method: 'POST', path, body });
    await Promise.all(policies.map(create(POLICIES)));
    await Promise.all(bindings.map(create(BINDINGS)));
  }

  async #delete({ policies, bindings }: PolicyObjects): Promise<void> {
    const remove =
      (path: string) =>
      ({ metadata: { name = '' } }: KubeObject) =>
        this.#api.demand({ method: 'DELETE', path: `${path}/${name}` });
    await Promise.all(bindings.map(remove(BINDINGS)));
    await Promise.all(policies.map(remove(POLICIES)));
  }
}

export async function createProbeNamespace(api: ApiClient): Promise<void> {
  await api.demand({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: PROBE_NAMESPACE } },
  });
}

/** Waits until a ConfigMap of this name is refused in the words of its policy, and not for want of parameters. */
export async function untilRefused(api: ApiClient, name: string): Promise<void> {
  await pollUntil(`policy ${name} to be in force`, TIMEOUT_MS, async () => {
    const { body } = await api.request({
      method: 'POST',
      path: `${CONFIG_MAPS}?dryRun=All`,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
    });
    return body.message?.endsWith(refusalOf(name)) === true ? true : undefined;
  });
}

/** A policy that refuses a ConfigMap of this name, and its binding. */
export function refusingProbe(name: string): PolicyObjects {
  return probeOf(name, { validations: [{ expression: 'false', message: refusalOf(name) }] });
}

function keeperOf(kind: string): string {
  return `keeper-${kind.toLowerCase()}`;
}

function refusalOf(name: string): string {
  return `refused by ${name}`;
}

function keeper(apiVersion: string, kind: string): PolicyObjects {
  const name = keeperOf(kind);
  const expression = `params.metadata.name != '${name}'`;
  return probeOf(
    name,
    { paramKind: { apiVersion, kind }, validations: [{ expression, message: refusalOf(name) }] },
    { paramRef: { name, parameterNotFoundAction: 'Deny' } },
  );
}

/** A policy about the ConfigMap of its own name in the namespace of the probes. */
function probeOf(name: string, policySpec: object, bindingSpec: object = {}): PolicyObjects {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  const matchConstraints = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': PROBE_NAMESPACE } },
    resourceRules: [{ ...rule, resourceNames: [name] }],
  };
  return {
    policies: [
      {
        apiVersion,
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: `${name}.example.com` },
        spec: { matchConstraints, ...policySpec },
      },
    ],
    bindings: [
      {
        apiVersion,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: `${name}.example.com`, validationActions: ['Deny'], ...bindingSpec },
      },
    ],
  };
}
