/** Fetches what a pure decision needs and asks it again. */
import { DAEMON_SET, NODE, POD } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError } from '../errors.ts';
import { isNeed, type Evidence, type Found, type Need } from '../policies/identity/evidence.ts';
import type { Verdict } from '../policies/verdict.ts';
import type { DecisionContext } from './webhook.ts';

/** Each of them is needed at most once. */
const ROUNDS = 4;

/**
 * @param known what is known without asking the cluster.
 * @throws whatever the reader throws: the edge then answers by the failure policy.
 */
export async function decideWithEvidence(
  decide: (evidence: Evidence) => Verdict | Need,
  known: Evidence,
  context: DecisionContext,
): Promise<Verdict> {
  const found: { -readonly [Key in ObjectNeed['need']]?: Found } = {};
  for (let round = 0; round < ROUNDS; round++) {
    const answer = decide({ ...known, ...found });
    if (!isNeed(answer)) return answer;
    if (answer.need === 'server-version') throw versionUnknown();
    found[answer.need] = { object: await read(answer, context) };
  }
  throw new GateError('GATE_INTERNAL', 'a decision asked for the same object again; report this as a defect');
}

type ObjectNeed = Exclude<Need, { readonly need: 'server-version' }>;

/** Only a rule that depends on it says so: everything else is decided while nobody knows the version. */
function versionUnknown(): GateError {
  return new GateError(
    'GATE_UNSYNCED',
    'the version of the API server is not known, and identity.podLookup auto looks the Pod up on old ones only; let pacto-gate reach the cluster (/version), or set identity.podLookup to always',
  );
}

function read(need: ObjectNeed, context: DecisionContext): Promise<KubeObject | undefined> {
  const options = {
    signal: context.signal,
    ...(need.settles !== undefined && { settles: need.settles }),
  };
  if (need.need === 'node') return context.reader.get(NODE, { name: need.name }, options);
  const kind = need.need === 'pod' ? POD : DAEMON_SET;
  return context.reader.get(kind, { namespace: need.namespace, name: need.name }, options);
}
