/** Fetches what a pure decision needs and asks it again. */
import { DAEMON_SET, NODE, POD } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError } from '../errors.ts';
import { isNeed, type Evidence, type Found, type Need } from '../policies/identity/evidence.ts';
import type { Verdict } from '../policies/verdict.ts';
import type { DecisionContext } from './webhook.ts';

/** Each kind of object is needed at most once, and there are three kinds. */
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
  const found: { -readonly [Key in Need['need']]?: Found } = {};
  for (let round = 0; round < ROUNDS; round++) {
    const answer = decide({ ...known, ...found });
    if (!isNeed(answer)) return answer;
    found[answer.need] = { object: await read(answer, context) };
  }
  throw new GateError('GATE_INTERNAL', 'a decision asked for the same object again; report this as a defect');
}

function read(need: Need, context: DecisionContext): Promise<KubeObject | undefined> {
  const options = {
    signal: context.signal,
    ...(need.settles !== undefined && { settles: need.settles }),
  };
  if (need.need === 'node') return context.reader.get(NODE, { name: need.name }, options);
  const kind = need.need === 'pod' ? POD : DAEMON_SET;
  return context.reader.get(kind, { namespace: need.namespace, name: need.name }, options);
}
