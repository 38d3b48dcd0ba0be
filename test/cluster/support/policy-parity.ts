/**
 * Answers recorded requests twice: by the API server, with the policies in force, and by us, from the reviews that the
 * API server sent a webhook for the same requests before.
 */
import { Cel } from '../../../src/policies/cel/cel.ts';
import type { Outcome } from '../../../src/policies/vap/answer.ts';
import { sameKind } from '../../../src/policies/vap/attributes.ts';
import type { Conversion, ConversionNeed } from '../../../src/policies/vap/needs.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { readPolicy } from '../../../src/policies/vap/read.ts';
import { decide, settle } from '../../../src/policies/vap/vap.ts';
import {
  policySetOf,
  type RecordedStatus,
  type RequestCase,
  type Review,
} from '../../conformance/vap-case.ts';
import { recordedConversion } from '../../conformance/vap-recording.ts';
import type { ApiAnswer, ApiClient } from './api-client.ts';
import { readAuditEvents, type AuditEvent } from './audit-log.ts';
import { requestOf } from './case-objects.ts';
import { prepare } from './case-state.ts';
import type { ControlPlane } from './control-plane.ts';
import { createCustomResources } from './custom-resources.ts';
import { Enforcement, type PolicyObjects } from './enforcement.ts';
import { liveEvidence } from './live-evidence.ts';
import { pollUntil } from './polling.ts';
import { isConfined, namespaceOf, type PolicyCase } from './policy-cases.ts';
import { startRecordingWebhook, type RecordedEntry, type Recording } from './recording-webhook.ts';

/** Of the annotations, and as little of the rest as there can be. */
export const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    users: ['system:apiserver']
  - level: Metadata
`;

export type NativeAnswer = RequestCase['answer'];

export interface Parity {
  /** What the API server answers, in the form of a recorded answer. */
  readonly native: NativeAnswer;
  /** The same with the name that the API server generated in the recording, where it generates one. */
  readonly nativeAsRecorded: NativeAnswer;
  /** What we answer: to each review of the request. */
  readonly outcomes: readonly Outcome[];
  /** To the review of an entry with the policy's own rules, where there was one. */
  readonly outcomeByEntry: Outcome | undefined;
}

/** @returns what came of each case, by its id */
export async function answerBothWays(
  plane: ControlPlane,
  api: ApiClient,
  cases: readonly PolicyCase[],
): Promise<ReadonlyMap<string, Parity>> {
  await createCustomResources(api);
  const enforcement = new Enforcement(api);
  await enforcement.keepParamKinds();
  await prepare(api, cases);
  const recorded = await recordReviews(api, cases);
  await enforcement.paramKindsKept();
  const answers = new Map<string, ApiAnswer>();
  const together = cases.filter(isConfined);
  const alone = cases.filter((one) => !isConfined(one));
  for (const group of [together, ...alone.map((one) => [one])]) {
    await enforcement.replace(policyObjects(group));
    for (const one of group) answers.set(one.id, await api.request(requestOf(one)));
  }
  const events = await eventsOf(plane, [...answers.values()]);
  const cel = new Cel();
  const parities = new Map<string, Parity>();
  for (const one of cases) {
    const { recording, answer: before } = recorded.get(one.id)!;
    const answer = answers.get(one.id)!;
    const native = nativeAnswer(one, before, answer, events.get(answer.auditId ?? '')?.annotations ?? {});
    const outcomes = await ourOutcomes(api, one, recording, cel);
    parities.set(one.id, {
      native: rename(native, nameIn(answer), recording.reviews[0]!.request.name),
      nativeAsRecorded: rename(native, nameIn(answer), one.review.request.name),
      ...outcomes,
    });
  }
  return parities;
}

function policyObjects(cases: readonly PolicyCase[]): PolicyObjects {
  return {
    policies: cases.flatMap((one) => one.policies as readonly KubeObject[]),
    bindings: cases.flatMap((one) => one.bindings as readonly KubeObject[]),
  };
}

interface Recorded {
  /** Of the API server, without policies. */
  readonly answer: ApiAnswer;
  readonly recording: Recording;
}

async function recordReviews(
  api: ApiClient,
  cases: readonly PolicyCase[],
): Promise<ReadonlyMap<string, Recorded>> {
  const webhook = await startRecordingWebhook(api, cases.flatMap(entriesOf));
  try {
    const recorded = new Map<string, Recorded>();
    for (const one of cases) {
      const request = requestOf(one);
      const result = await webhook.record(request.as?.username, () => api.request(request));
      if (result.recording.reviews.length === 0) {
        const { status, body } = result.answer;
        throw new Error(`${one.id}: no webhook was asked; status ${status}: ${body.message}`);
      }
      recorded.set(one.id, result);
      // What is no dry run must be possible once more.
      const isMade = request.method === 'POST' && !request.path.includes('dryRun=All');
      if (isMade && result.answer.status === 201) {
        await api.demand({
          method: 'DELETE',
          path: `${request.path}/${result.answer.body.metadata?.name}`,
        });
      }
    }
    await webhook.uninstall();
    return recorded;
  } finally {
    await webhook.close();
  }
}

/** A webhook entry with the policy's own rules, for cases about versions (vap.md F6). */
function entriesOf(one: PolicyCase): readonly RecordedEntry[] {
  if (one.policyReview === undefined) return [];
  return one.policies.map((written) => {
    const policy = readPolicy(written);
    if (!policy.ok) throw new Error(policy.fault);
    const { name, matchConstraints } = policy.value;
    const rules = (matchConstraints?.resourceRules ?? []).map(({ resourceNames: _names, ...rule }) => rule);
    return {
      name,
      rules,
      matchPolicy: matchConstraints?.matchPolicy ?? 'Equivalent',
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespaceOf(one) } },
    };
  });
}

/** By their ids; an event is written after its answer. */
async function eventsOf(
  { auditLogFile }: ControlPlane,
  answers: readonly ApiAnswer[],
): Promise<ReadonlyMap<string, AuditEvent>> {
  return pollUntil('the audit events of all answers', 30_000, () => {
    const events = new Map(readAuditEvents(auditLogFile).map((event) => [event.auditID, event]));
    const isWhole = answers.every(({ auditId = '' }) => events.has(auditId));
    return Promise.resolve(isWhole ? events : undefined);
  });
}

function nativeAnswer(
  one: PolicyCase,
  before: ApiAnswer,
  answer: ApiAnswer,
  annotations: Readonly<Record<string, string>>,
): NativeAnswer {
  const denied = answer.body.message?.includes(' is forbidden: ValidatingAdmissionPolicy ') === true;
  if (!denied && answer.status !== before.status) {
    throw new Error(
      `${one.id}: status ${answer.status}, ${before.status} without policies: ${answer.body.message}`,
    );
  }
  const prefixes = [
    'validation.policy.admission.k8s.io/',
    ...(one.policies as readonly KubeObject[]).map(({ metadata }) => `${metadata.name}/`),
  ];
  return {
    allowed: !denied,
    status: denied ? (answer.body as unknown as RecordedStatus) : null,
    warnings: answer.warnings,
    auditAnnotations: Object.fromEntries(
      Object.entries(annotations).filter(([key]) => prefixes.some((prefix) => key.startsWith(prefix))),
    ),
  };
}

/** The name of the object that the answer is about. */
function nameIn({ body }: ApiAnswer): string | undefined {
  return body.metadata?.name ?? (body['details'] as { readonly name?: string } | undefined)?.name;
}

/** A generated name is another one for each request. */
function rename(answer: NativeAnswer, from = '', to = ''): NativeAnswer {
  if (from === '' || to === '' || from === to) return answer;
  return JSON.parse(JSON.stringify(answer).replaceAll(from, to)) as NativeAnswer;
}

async function ourOutcomes(
  api: ApiClient,
  one: PolicyCase,
  { reviews, byEntry }: Recording,
  cel: Cel,
): Promise<Pick<Parity, 'outcomes' | 'outcomeByEntry'>> {
  const set = policySetOf(one, cel);
  const converted = [...byEntry.values()][0];
  const outcomeOf = ({ request }: Review): Promise<Outcome> => {
    const convert = (to: ConversionNeed['to']): Conversion => {
      if (converted !== undefined && sameKind(converted.request.kind, to)) return converted.request;
      const conversion = recordedConversion(request, to);
      if (conversion === undefined) throw new Error(`${one.id}: nothing is known as ${JSON.stringify(to)}`);
      return conversion;
    };
    return settle(decide(set, request), liveEvidence(api, convert), () => Promise.resolve());
  };
  const outcomes: Outcome[] = [];
  for (const review of reviews) outcomes.push(await outcomeOf(review));
  const outcomeByEntry = converted === undefined ? undefined : await outcomeOf(converted);
  return { outcomes, outcomeByEntry };
}
