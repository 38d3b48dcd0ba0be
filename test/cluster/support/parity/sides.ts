/** The two ways in which the same policies are enforced: by the API server, and by our server beside an older one. */
import { POLICIES_CONFIGURATION } from '../../../../src/policies/vap/entries.ts';
import { stringifyJson } from '../../../../src/json.ts';
import type { KubeObject } from '../../../../src/cluster/objects.ts';
import { createApiClient, type ApiClient } from '../api-client.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from '../control-plane.ts';
import {
  createProbeNamespace,
  Enforcement,
  refusingProbe,
  untilRefused,
  type KeptParamKind,
  type PolicyObjects,
} from '../enforcement.ts';
import { applyEntries, startGate, type Gate } from '../gate.ts';
import { createPolicyDefinitions, policyPlaces, type PolicySource } from './policy-places.ts';

/** Policies of a phase: `stored` ones are such as no API server would take today. */
export interface PhasePolicies extends PolicyObjects {
  readonly stored: readonly KubeObject[];
}

export interface Side {
  readonly plane: ControlPlane;
  readonly api: ApiClient;
  /** Once what the cases need is there. */
  begin(): Promise<void>;
  /** Puts these in force instead of those before, and waits until that is so. */
  enforce(policies: PhasePolicies): Promise<void>;
  stop(): Promise<void>;
}

export interface WebhookSide extends Side {
  /** @param source where our server finds them; default: files */
  enforce(policies: PhasePolicies, source?: PolicySource): Promise<void>;
}

export async function startNativeSide(
  options: Omit<ControlPlaneOptions, 'version'>,
  paramKinds: readonly KeptParamKind[],
): Promise<Side> {
  const plane = await startControlPlane({ ...options, version: '1.36' });
  const api = createApiClient(plane, 8);
  const enforcement = new Enforcement(api, paramKinds);
  return {
    plane,
    api,
    async begin() {
      await enforcement.keepParamKinds();
      await enforcement.paramKindsKept();
    },
    async enforce({ policies, bindings, stored }) {
      for (const policy of stored) await store(plane, policy);
      await enforcement.replace({ policies, bindings });
    },
    async stop() {
      await api.close();
      await plane.stop();
    },
  };
}

/** Past the API server's rules for what is written, as a policy of an older release may lie there. */
async function store(plane: ControlPlane, policy: KubeObject): Promise<void> {
  const { name = '' } = policy.metadata;
  const metadata = {
    ...policy.metadata,
    uid: crypto.randomUUID(),
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const answer = await fetch(`${plane.etcdUrl}/v3/kv/put`, {
    method: 'POST',
    body: JSON.stringify({
      key: base64(`/registry/validatingadmissionpolicies/${name}`),
      value: base64(stringifyJson({ ...policy, metadata })),
    }),
  });
  if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`);
}

const ENTRIES = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${POLICIES_CONFIGURATION}`;

/** @param paramKinds as `policies.paramKinds` has them */
export async function startWebhookSide(
  options: Omit<ControlPlaneOptions, 'version'>,
  paramKinds: readonly string[],
): Promise<WebhookSide> {
  const plane = await startControlPlane({ ...options, version: '1.29' });
  const api = createApiClient(plane, 8);
  const places = policyPlaces(plane, api);
  let running: { readonly gate: Gate; readonly source: PolicySource } | undefined;
  let phase = 0;
  // Entries whose server is gone refuse much of what is done for another.
  const serve = async (source: PolicySource): Promise<Gate> => {
    if (running?.source === source) {
      await running.gate.end('SIGTERM');
      await running.gate.start();
      return running.gate;
    }
    if (running !== undefined) await api.demand({ method: 'DELETE', path: ENTRIES });
    await running?.gate.stop();
    const flags = [
      '--identity-enabled=false',
      '--webhooks-drain-seconds=0',
      `--policies-param-kinds=${paramKinds.join(',')}`,
      ...places[source].serveFlags,
    ];
    running = { gate: await startGate({ plane, flags }), source };
    return running.gate;
  };
  return {
    plane,
    api,
    async begin() {
      await createProbeNamespace(api);
      await createPolicyDefinitions(api);
    },
    async enforce({ policies, bindings, stored }, source = 'files') {
      const name = `probe-${phase++}`;
      const probe = refusingProbe(name);
      await places[source].place([...stored, ...policies, ...bindings, ...probe.policies, ...probe.bindings]);
      const gate = await serve(source);
      const flags = ['--identity-enabled=false', ...places[source].generateFlags];
      await applyEntries(plane, gate, { flags });
      await untilRefused(api, name);
    },
    async stop() {
      await running?.gate.stop();
      await api.close();
      await plane.stop();
    },
  };
}
