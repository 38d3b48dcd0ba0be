/** From an `Operation` or an `Approval` as the cluster has it to what the gate reads (delivery.md §3.2, §3.3). */
import type { KubeObject } from '../../cluster/objects.ts';
import { at } from '../identity/foreign.ts';
import { OPERATION_TYPES, TERMINAL_PHASES, type Approval, type Operation } from './operation.ts';
import { choiceAt, durationAt, entriesAt, personAt, textAt, timeAt } from './read-fields.ts';
import { STAGE_DEFAULTS } from './read-stage.ts';

const TERMINAL: ReadonlySet<string> = new Set(TERMINAL_PHASES);

/** Never throws: what is wrong reads as what opens least. */
export function readOperation(object: KubeObject): Operation {
  const { metadata } = object;
  const spec = at(object, 'spec');
  const phase = textAt(object, 'status', 'phase') || 'Pending';
  return {
    namespace: textAt(metadata, 'namespace'),
    name: textAt(metadata, 'name'),
    uid: textAt(metadata, 'uid'),
    resourceVersion: textAt(metadata, 'resourceVersion'),
    createdAtMs: timeAt(metadata, 'creationTimestamp'),
    stage: textAt(spec, 'stage'),
    // A Promote needs the most.
    type: choiceAt(spec, ['type'], OPERATION_TYPES, 'Promote'),
    digest: textAt(spec, 'digest'),
    expectedCurrent: textAt(spec, 'expectedCurrent'),
    requestedBy: personAt(spec, 'requestedBy'),
    deadlineMs: durationAt(spec, ['deadline'], STAGE_DEFAULTS.deadlineMs),
    cancel: (at(spec, 'cancel') ?? false) !== false,
    phase,
    isTerminal: TERMINAL.has(phase),
    moves: entriesAt(object, 'status', 'moves').map((entry) => ({
      pointer: textAt(entry, 'pointer'),
      from: textAt(entry, 'from'),
      to: textAt(entry, 'to'),
      state: textAt(entry, 'state'),
    })),
  };
}

/** Never throws: a decision that is none of the three counts as `Reject`. */
export function readApproval(object: KubeObject): Approval {
  const { metadata } = object;
  const spec = at(object, 'spec');
  const expiresAt = at(spec, 'expiresAt');
  return {
    namespace: textAt(metadata, 'namespace'),
    name: textAt(metadata, 'name'),
    uid: textAt(metadata, 'uid'),
    createdAtMs: timeAt(metadata, 'creationTimestamp'),
    operation: { name: textAt(spec, 'operation', 'name'), uid: textAt(spec, 'operation', 'uid') },
    digest: textAt(spec, 'digest'),
    decision: choiceAt(spec, ['decision'], ['Approve', 'Reject', 'BreakGlass'], 'Reject'),
    role: textAt(spec, 'role'),
    reason: textAt(spec, 'reason'),
    ticket: textAt(spec, 'ticket'),
    // One that cannot be read is over.
    expiresAtMs: expiresAt === undefined || expiresAt === null ? undefined : (timeAt(spec, 'expiresAt') ?? 0),
    approvedBy: personAt(spec, 'approvedBy'),
    seen: {
      verdict: textAt(spec, 'seen', 'verdict'),
      verdictResourceVersion: textAt(spec, 'seen', 'verdictResourceVersion'),
      gateDecision: textAt(spec, 'seen', 'gateDecision'),
      policySha256: textAt(spec, 'seen', 'policySha256'),
    },
  };
}
