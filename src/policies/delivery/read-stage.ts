/** From a `Stage` as the cluster has it to what the gate reads (delivery.md §3.1). */
import type { KubeObject } from '../../cluster/objects.ts';
import { at } from '../identity/foreign.ts';
import {
  choiceAt,
  countAt,
  durationAt,
  durationOf,
  entriesAt,
  maybeTextAt,
  textAt,
  textsAt,
  timeAt,
} from './read-fields.ts';
import {
  POINTER_FIELDS,
  type Stage,
  type StageConsumer,
  type StageCurrent,
  type StagePointer,
  type StageRelease,
  type StageSpec,
  type StageStatus,
  type StageUpstream,
  type StageWindow,
} from './stage.ts';

const MINUTE_MS = 60_000;

/** delivery.md §3.1; milliseconds. */
export const STAGE_DEFAULTS = {
  maxVerdictAgeMs: 15 * MINUTE_MS,
  validForMs: 24 * 60 * MINUTE_MS,
  soakMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  historyLimit: 20,
} as const;
/** Of an upstream that says nothing. */
const MAX_RECORD_AGE_MS = 24 * 60 * MINUTE_MS;
/** delivery.md §3.1, rules of the definition. */
const MOST_POINTERS = 8;
const MOST_TEMPLATES = 16;

/** Never throws: what is left out reads as its default, and what is wrong as what opens least. */
export function readStage(object: KubeObject): Stage {
  const { metadata } = object;
  return {
    namespace: textAt(metadata, 'namespace'),
    name: textAt(metadata, 'name'),
    uid: textAt(metadata, 'uid'),
    generation: countAt(metadata, ['generation'], 0),
    resourceVersion: textAt(metadata, 'resourceVersion'),
    spec: readStageSpec(at(object, 'spec')),
    status: statusOf(at(object, 'status')),
  };
}

/** As `readStage`, of the spec alone. */
export function readStageSpec(spec: unknown): StageSpec {
  return {
    pacto: { name: textAt(spec, 'pacto', 'name'), namespace: maybeTextAt(spec, 'pacto', 'namespace') },
    pointers: entriesAt(spec, 'pointers').slice(0, MOST_POINTERS).flatMap(pointerOf),
    consumers: entriesAt(spec, 'consumers').map(consumerOf),
    upstreams: {
      strategy: choiceAt(spec, ['upstreams', 'strategy'], ['All', 'Any'], 'All'),
      from: entriesAt(spec, 'upstreams', 'from').map(upstreamOf),
    },
    gate: gateOf(at(spec, 'gate')),
    approvals: approvalsOf(at(spec, 'approvals')),
    verification: {
      soakMs: durationAt(spec, ['verification', 'soak'], STAGE_DEFAULTS.soakMs),
      deadlineMs: durationAt(spec, ['verification', 'deadline'], STAGE_DEFAULTS.deadlineMs),
    },
    freeze: freezeOf(at(spec, 'freeze')),
    windows: entriesAt(spec, 'windows').map(windowOf),
    historyLimit: countAt(spec, ['historyLimit'], STAGE_DEFAULTS.historyLimit),
    suspend: at(spec, 'suspend') === true,
  };
}

function pointerOf(entry: unknown): readonly StagePointer[] {
  const field = POINTER_FIELDS.find((one) => one === at(entry, 'field'));
  // Nobody knows what another field holds: such a pointer gates nothing, and the webhook refuses it.
  if (field === undefined) return [];
  return [
    {
      name: textAt(entry, 'name'),
      target: {
        apiVersion: textAt(entry, 'target', 'apiVersion'),
        kind: textAt(entry, 'target', 'kind'),
        name: textAt(entry, 'target', 'name'),
        namespace: maybeTextAt(entry, 'target', 'namespace'),
      },
      field,
      key: textAt(entry, 'key'),
      artifact: textAt(entry, 'artifact'),
    },
  ];
}

function consumerOf(entry: unknown): StageConsumer {
  return {
    kind: textAt(entry, 'kind'),
    name: textAt(entry, 'name'),
    namespace: maybeTextAt(entry, 'namespace'),
  };
}

function upstreamOf(entry: unknown): StageUpstream {
  const remote = maybeTextAt(entry, 'remote');
  const stage = textAt(entry, 'stage');
  if (remote !== undefined)
    return { remote, stage, maxRecordAgeMs: durationAt(entry, ['maxRecordAge'], MAX_RECORD_AGE_MS) };
  return {
    stage,
    namespace: maybeTextAt(entry, 'namespace'),
    // One that is there and cannot be read is never over.
    minCompliantForMs:
      at(entry, 'minCompliantFor') === undefined
        ? 0
        : durationAt(entry, ['minCompliantFor'], Number.MAX_SAFE_INTEGER),
  };
}

function gateOf(gate: unknown): StageSpec['gate'] {
  return {
    mode: choiceAt(gate, ['mode'], ['Enforce', 'Warn', 'Off'], 'Enforce'),
    scope: choiceAt(
      gate,
      ['scope'],
      ['Pointer', 'Workload', 'Strict'],
      unsetOr(gate, 'scope', 'Pointer', 'Strict'),
    ),
    target: choiceAt(
      gate,
      ['target'],
      ['AllowCures', 'Block', 'Ignore'],
      unsetOr(gate, 'target', 'AllowCures', 'Block'),
    ),
    onUnknown: choiceAt(gate, ['onUnknown'], ['Wait', 'Deny', 'Allow'], 'Wait'),
    maxVerdictAgeMs: durationAt(gate, ['maxVerdictAge'], STAGE_DEFAULTS.maxVerdictAgeMs),
    requireReadiness: (at(gate, 'requireReadiness') ?? false) !== false,
  };
}

function unsetOr<T extends string>(value: unknown, key: string, unset: T, wrong: T): T {
  return at(value, key) === undefined ? unset : wrong;
}

function approvalsOf(approvals: unknown): StageSpec['approvals'] {
  return {
    required: entriesAt(approvals, 'required').map((entry) => ({
      role: textAt(entry, 'role'),
      // At least one: a count that cannot be read is no waiver.
      count: Math.max(1, countAt(entry, ['count'], 1)),
    })),
    separationOfDuties: choiceAt(
      approvals,
      ['separationOfDuties'],
      ['None', 'Requester', 'RequesterAndAuthor'],
      'Requester',
    ),
    validForMs: durationAt(approvals, ['validFor'], STAGE_DEFAULTS.validForMs),
    onVerdictChange: choiceAt(approvals, ['onVerdictChange'], ['Invalidate', 'Keep'], 'Invalidate'),
  };
}

/** A time that is there and cannot be read is no end: frozen for ever. */
function freezeOf(freeze: unknown): StageSpec['freeze'] {
  const until = at(freeze, 'until');
  const isSet = until !== undefined && until !== null && until !== '';
  return {
    untilMs: isSet ? (timeAt(freeze, 'until') ?? Number.POSITIVE_INFINITY) : undefined,
    reason: textAt(freeze, 'reason'),
    allowCures: at(freeze, 'allowCures') === true,
  };
}

function windowOf(entry: unknown): StageWindow {
  return {
    // What is neither closes rather than opens.
    kind: choiceAt(entry, ['kind'], ['Allow', 'Deny'], 'Deny'),
    schedule: textAt(entry, 'schedule'),
    timeZone: textAt(entry, 'timeZone'),
    durationMs: durationOf(at(entry, 'duration')) ?? Number.NaN,
  };
}

function statusOf(status: unknown): StageStatus {
  const current = at(status, 'current');
  const ungated = at(status, 'ungated');
  const active = at(status, 'activeOperation');
  return {
    observedGeneration:
      at(status, 'observedGeneration') === undefined ? undefined : countAt(status, ['observedGeneration'], 0),
    current: textAt(current, 'digest') === '' ? undefined : currentOf(current),
    lastGood: entriesAt(status, 'lastGood')
      .map(releaseOf)
      .filter(({ digest }) => digest !== ''),
    holdDigests: at(status, 'hold', 'active') === true ? textsAt(status, 'hold', 'excludeDigests') : [],
    activeOperation:
      textAt(active, 'uid') === '' ? undefined : { name: textAt(active, 'name'), uid: textAt(active, 'uid') },
    ungated:
      textAt(ungated, 'digest') === ''
        ? undefined
        : { digest: textAt(ungated, 'digest'), sinceMs: timeAt(ungated, 'since') ?? 0 },
  };
}

function releaseOf(release: unknown): StageRelease {
  return {
    digest: textAt(release, 'digest'),
    tag: maybeTextAt(release, 'tag'),
    verifiedAtMs: timeAt(release, 'verifiedAt'),
    templates: entriesAt(release, 'templates')
      .slice(0, MOST_TEMPLATES)
      .map((entry) => ({
        kind: textAt(entry, 'kind'),
        name: textAt(entry, 'name'),
        sha256: textAt(entry, 'sha256'),
      })),
  };
}

function currentOf(current: unknown): StageCurrent {
  return {
    ...releaseOf(current),
    sinceMs: timeAt(current, 'since'),
    convergedAtMs: timeAt(current, 'convergedAt'),
    compliantSinceMs: timeAt(current, 'compliantSince'),
  };
}
