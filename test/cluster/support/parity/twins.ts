/** Two control planes with the same state and the same policies, and what each answers to the same requests. */
import type { KubeObject } from '../../../../src/cluster/objects.ts';
import type { ApiClient } from '../api-client.ts';
import { prepare } from '../case-state.ts';
import { requestOf } from '../case-objects.ts';
import { createCustomResources, createDefinitions } from '../custom-resources.ts';
import { RECORDED_PARAM_KINDS } from '../enforcement.ts';
import { namespaceOf } from '../policy-cases.ts';
import { AUDIT_POLICY } from '../policy-parity.ts';
import { startRecordingWebhook } from '../recording-webhook.ts';
import { answersOf } from './answers.ts';
import { KUBESCAPE_PARAMS, type KubescapeSet } from './kubescape-cases.ts';
import type { ParityCase, Sending } from './parity-case.ts';
import type { PolicySource } from './policy-places.ts';
import type { Answers } from './seen.ts';
import {
  startNativeSide,
  startWebhookSide,
  type PhasePolicies,
  type Side,
  type WebhookSide,
} from './sides.ts';

export interface Twins {
  readonly native: Answers;
  readonly ours: Answers;
  /** Ours to some of them, with policies that our server finds in the cluster. */
  readonly fromCluster: ReadonlyMap<PolicySource, Answers>;
  /** How often another webhook was asked about a request that a policy refuses. */
  readonly asksOthers: { readonly native: number; readonly ours: number };
  stop(): Promise<void>;
}

/** In the order in which they are asked. */
export const CLUSTER_SOURCES = ['configMaps', 'customResources', 'customResourcesLive'] as const;

export interface Asked {
  readonly sendings: readonly Sending[];
  readonly kubescape: KubescapeSet | undefined;
  /** Single cases that may be in force together. */
  readonly fromCluster: readonly Sending[];
  /** Is refused, and outside of every namespace: its policy is in force last. */
  readonly refused: ParityCase;
}

/** Without NamespaceLifecycle policies are asked about namespaces that are not there, or no longer for long. */
const PLANE = {
  auditPolicy: AUDIT_POLICY,
  disableAdmissionPlugins: ['ServiceAccount', 'NamespaceLifecycle'],
};

/** Of the recorded cases, as `policies.paramKinds` has them. */
const PARAM_KINDS = [
  'v1/ConfigMap',
  'rules.example.com/v1/ReplicaLimit',
  'rules.example.com/v1/ClusterLimit:Cluster',
];

export async function startTwins(asked: Asked): Promise<Twins> {
  const { kubescape } = asked;
  const kept = kubescape === undefined ? [] : [KUBESCAPE_PARAMS.kept];
  const kinds = kubescape === undefined ? [] : [KUBESCAPE_PARAMS.configured];
  const started: Side[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((side) => side.stop()));
  };
  const answerAll = async <S extends Side>(starting: Promise<S>): Promise<{ side: S; answers: Answers }> => {
    const side = await starting;
    started.push(side);
    await prepareAll(side.api, asked);
    await side.begin();
    return { side, answers: await answerPhases(side, asked) };
  };
  const both = await Promise.allSettled([
    answerAll(startNativeSide(PLANE, [...RECORDED_PARAM_KINDS, ...kept])),
    answerAll(startWebhookSide(PLANE, [...PARAM_KINDS, ...kinds])),
  ]);
  try {
    const [native, ours] = both.map(valueOf) as [
      { side: Side; answers: Answers },
      { side: WebhookSide; answers: Answers },
    ];
    const asksOthers = {
      native: await asksOther(native.side, asked.refused),
      ours: await asksOther(ours.side, asked.refused),
    };
    const fromCluster = new Map<PolicySource, Answers>();
    for (const source of CLUSTER_SOURCES) {
      await ours.side.enforce(policiesOf(asked.fromCluster, undefined), source);
      fromCluster.set(source, await answersOf(ours.side, asked.fromCluster));
    }
    return { native: native.answers, ours: ours.answers, fromCluster, asksOthers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @returns how often a webhook for everything is asked about it */
async function asksOther({ api }: Side, one: ParityCase): Promise<number> {
  const webhook = await startRecordingWebhook(api, []);
  try {
    const request = requestOf(one);
    const { answer, recording } = await webhook.record(request.as?.username, () => api.request(request));
    await webhook.uninstall();
    if (answer.status < 400) throw new Error(`${one.id} was not refused`);
    return recording.reviews.length;
  } finally {
    await webhook.close();
  }
}

function valueOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

async function prepareAll(api: ApiClient, { sendings, kubescape }: Asked): Promise<void> {
  await createCustomResources(api);
  const single = sendings.filter(({ batch }) => batch === undefined).flatMap(({ cases }) => cases);
  await prepare(api, single);
  if (kubescape !== undefined) {
    await createDefinitions(api, [kubescape.definition]);
    for (const step of kubescape.prepared)
      await Promise.all(step.map(({ path, body }) => api.demand({ method: 'POST', path, body })));
  }
  // Nobody finishes that: a controller manager would.
  const terminating = single.filter((one) => one.terminating === true).map(namespaceOf);
  await Promise.all(
    terminating.map((name) => api.demand({ method: 'DELETE', path: `/api/v1/namespaces/${name}` })),
  );
}

/** One after the other, each with its own policies: together they would answer for each other. */
function phasesOf(sendings: readonly Sending[]): readonly (readonly Sending[])[] {
  const batched = sendings.filter(({ batch }) => batch !== undefined);
  const single = sendings.filter(({ batch }) => batch === undefined);
  const together = single.filter(({ cases }) => cases.every(isWithin));
  const apart = single.filter((sending) => !together.includes(sending));
  return [batched, together, apart].filter((phase) => phase.length > 0);
}

/** No namespace selector holds a policy back from what lies in no namespace, or in one that is not there. */
export function isWithin({ family, review }: ParityCase): boolean {
  const { namespace, resource } = review.request;
  const isOutside = namespace === undefined && resource.resource !== 'namespaces';
  return !isOutside && family !== 'missing-namespace';
}

async function answerPhases(side: Side, { sendings, kubescape }: Asked): Promise<Answers> {
  const printed = new Map<string, NonNullable<ReturnType<Answers['printed']['get']>>>();
  const seen = new Map<string, NonNullable<ReturnType<Answers['seen']['get']>>>();
  for (const phase of phasesOf(sendings)) {
    await side.enforce(policiesOf(phase, kubescape));
    const answers = await answersOf(side, phase);
    for (const [id, one] of answers.printed) printed.set(id, one);
    for (const [id, one] of answers.seen) seen.set(id, one);
  }
  return { printed, seen };
}

function policiesOf(phase: readonly Sending[], kubescape: KubescapeSet | undefined): PhasePolicies {
  const single = phase.filter(({ batch }) => batch === undefined).flatMap(({ cases }) => cases);
  const batched = phase.some(({ batch }) => batch !== undefined) ? kubescape : undefined;
  const policies = (isStored: boolean): readonly KubeObject[] =>
    single
      .filter(({ family }) => (family === 'stored') === isStored)
      .flatMap((one) => one.policies as readonly KubeObject[]);
  return {
    policies: [...policies(false), ...(batched?.policies ?? [])],
    bindings: [
      ...single.flatMap((one) => one.bindings as readonly KubeObject[]),
      ...(batched?.bindings ?? []),
    ],
    stored: policies(true),
  };
}
