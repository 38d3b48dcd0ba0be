/** Fetches what a decision of the delivery gate has to see, and asks it again. */
import type { AdmissionRequest } from '../cluster/objects.ts';
import { GateError } from '../errors.ts';
import type { DeliveryEvidence, DeliveryNeed, DeliverySettings } from '../policies/delivery/evidence.ts';
import type { GateWorld } from '../policies/delivery/world.ts';
import type { Verdict } from '../policies/verdict.ts';
import type { DeliveryReads } from './delivery-reads.ts';
import { stickyKey, type StickyAllows } from './sticky-allows.ts';
import type { DecisionContext } from './webhook.ts';

/** Each kind of evidence is needed at most once. */
const ROUNDS = 6;

/** What the two gates have in common. */
export interface GateParts {
  readonly settings: DeliverySettings;
  readonly reads: DeliveryReads;
  readonly sticky: StickyAllows;
}

export interface GateRules {
  readonly decide: (
    request: AdmissionRequest,
    settings: DeliverySettings,
    evidence: DeliveryEvidence,
  ) => Verdict | DeliveryNeed;
  /** Worlds of the Stages that decide; undefined until they are seen, empty where there are none. */
  readonly worlds: (evidence: DeliveryEvidence) => readonly GateWorld[] | undefined;
}

/**
 * A decision of a gate, or the Allow that the same question was given some seconds ago.
 *
 * @throws as the reader: the edge then answers by the failure policy.
 */
export async function decideAtGate(
  { decide, worlds }: GateRules,
  request: AdmissionRequest,
  { settings, reads, sticky }: GateParts,
  context: DecisionContext,
): Promise<Verdict> {
  const evidence: { -readonly [Key in keyof DeliveryEvidence]: DeliveryEvidence[Key] } = {};
  let key: string | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    key ??= keyOf(request, settings, worlds(evidence) ?? []);
    const answer = (key === undefined ? undefined : sticky.get(key)) ?? decide(request, settings, evidence);
    if ('need' in answer) {
      Object.assign(evidence, await look(answer, reads, context));
      continue;
    }
    if (answer.allowed && key !== undefined) sticky.add(key, answer);
    return answer;
  }
  throw new GateError('GATE_INTERNAL', 'a decision asked for the same object again; report this as a defect');
}

function keyOf(
  request: AdmissionRequest,
  { sha256 }: DeliverySettings,
  worlds: readonly GateWorld[],
): string | undefined {
  const [first] = worlds;
  if (first === undefined) return undefined;
  const stages = worlds.map(({ stage }) => stage.uid);
  return stickyKey(request, sha256, { stages, policySha256: first.policy.sha256 });
}

async function look(
  need: DeliveryNeed,
  reads: DeliveryReads,
  context: DecisionContext,
): Promise<DeliveryEvidence> {
  switch (need.need) {
    case 'world':
      return { world: await reads.world(need.stage, context) };
    case 'workload-worlds':
      return { workloadWorlds: await reads.workloadWorlds(need.namespace, context) };
    case 'source':
      return { source: { object: await reads.object(need.object, context) } };
    case 'parent':
      return { parent: { object: await reads.object(need.object, context) } };
  }
}
