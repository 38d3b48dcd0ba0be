/** What may become of a Stage (delivery.md §3.1). */
import type { AdmissionRequest } from '../../cluster/objects.ts';
import { at, sameJson } from '../identity/foreign.ts';
import type { Verdict } from '../verdict.ts';
import type { ApiEvidence, ApiNeed, ApiSettings } from './api-evidence.ts';
import type { StageName } from './change.ts';
import { bar, listed, pass, personOf, type Barred } from './delivery-answer.ts';
import { mayCross, mayDo, rolesFor, type IdentityPolicy } from './identity-policy.ts';
import { countAt } from './read-fields.ts';
import { readStageSpec } from './read-stage.ts';
import { stageLosses } from './stage-losses.ts';
import type { StagePointer, StageSpec } from './stage.ts';
import { windowFault } from './windows.ts';

interface StageQuestion {
  readonly request: AdmissionRequest;
  readonly settings: ApiSettings;
  readonly evidence: ApiEvidence;
  readonly stage: StageName;
  readonly spec: StageSpec;
  /** Undefined on creation. */
  readonly old: StageSpec | undefined;
  readonly policy: IdentityPolicy | undefined;
  readonly isAdmin: boolean;
}

export function decideStage(
  request: AdmissionRequest,
  settings: ApiSettings,
  evidence: ApiEvidence,
): Verdict | ApiNeed {
  const stage = nameOf(request);
  if (evidence.world === undefined) return { need: 'world', stage };
  const { policy } = evidence.world.isThere ? evidence.world.world.policy : evidence.world.policy;
  const isAdmin = mayDo(policy, stage, 'admin', personOf(request));
  if (request.operation === 'DELETE') return decideDeletion(evidence, stage, isAdmin);
  const old = request.operation === 'UPDATE' ? readStageSpec(at(request.oldObject, 'spec')) : undefined;
  const spec = readStageSpec(at(request.object, 'spec'));
  const question = { request, settings, evidence, stage, spec, old, policy, isAdmin };
  const needed = needOf(question);
  if (needed !== undefined) return needed;
  const barred = [malformed, elsewhere, weakened, busy, contested]
    .map((rule) => rule(question))
    .find((found) => found !== undefined);
  return barred === undefined
    ? pass('ALLOWED', old === undefined ? 'Created' : 'Changed', { stage }, unsolvable(question))
    : bar(barred, { stage });
}

function nameOf({ namespace = '', name, object, oldObject }: AdmissionRequest): StageName {
  const named = [name, at(object, 'metadata', 'name'), at(oldObject, 'metadata', 'name')].find(
    (one) => typeof one === 'string' && one !== '',
  );
  return { namespace, name: typeof named === 'string' ? named : '' };
}

/** Without it, everything it holds could move. */
function decideDeletion(evidence: ApiEvidence, stage: StageName, isAdmin: boolean): Verdict | ApiNeed {
  if (isAdmin) return pass('DELETE', 'Admin', { stage });
  if (evidence.pointers === undefined) return { need: 'pointers', stage };
  if (evidence.pointers.length === 0) return pass('DELETE', 'NoPointers', { stage });
  const named = evidence.pointers
    .map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`)
    .toSorted();
  return bar(
    {
      code: 'NOT_ADMIN',
      message: `it holds ${listed(named)}, and may be deleted by a stage admin only`,
      next: 'have a stage admin take the labels away or delete the Stage',
    },
    { stage },
  );
}

function needOf({ evidence, stage, spec }: StageQuestion): ApiNeed | undefined {
  if (evidence.stages === undefined) return { need: 'stages', namespace: stage.namespace };
  const { name, namespace = stage.namespace } = spec.pacto;
  return evidence.pacto === undefined ? { need: 'pacto', namespace, name } : undefined;
}

/** What the definition cannot check: schedules, and times that depend on others. */
function malformed({ request, settings, evidence, spec }: StageQuestion): Barred | undefined {
  const faults = spec.windows.flatMap((window, index) => {
    const fault = windowFault(window);
    return fault === undefined ? [] : [`spec.windows[${index}]: ${fault}`];
  });
  const { soakMs } = spec.verification;
  if (soakMs !== 0 && soakMs < settings.stabilizationMs)
    faults.push(
      `spec.verification.soak: ${soakMs / 1_000} s are less than an absence must last (0, or ${settings.stabilizationMs / 1_000} s at least)`,
    );
  const checkMs = countAt(evidence.pacto?.object, ['spec', 'checkIntervalSeconds'], 0) * 1_000;
  if (spec.gate.maxVerdictAgeMs < 2 * checkMs)
    faults.push(
      `spec.gate.maxVerdictAge: ${spec.gate.maxVerdictAgeMs / 1_000} s are less than twice the checkIntervalSeconds of the Pacto (${2 * (checkMs / 1_000)} s)`,
    );
  if (spec.gate.target === 'Ignore' && spec.upstreams.from.length === 0)
    faults.push('spec.gate.target: Ignore without upstreams would be no gate at all');
  const pointers = at(request.object, 'spec', 'pointers');
  if (Array.isArray(pointers) && pointers.length !== spec.pointers.length)
    faults.push('spec.pointers: there is one whose field is not known');
  const [fault] = faults;
  return fault === undefined ? undefined : { code: 'MALFORMED', message: fault, next: 'correct the Stage' };
}

/** Objects of other namespaces are gated only where the identity policy says so. */
function elsewhere({ stage, spec, policy }: StageQuestion): Barred | undefined {
  const namespaces = [spec.pacto.namespace, ...spec.pointers.map(({ target }) => target.namespace)];
  const refused = namespaces.find((one) => one !== undefined && !mayCross(policy, stage, one));
  return refused === undefined
    ? undefined
    : {
        code: 'NOT_ADMIN',
        message: `the identity policy does not let this Stage have to do with namespace ${refused}`,
        next: 'add it to crossNamespace of the identity policy, or move the Stage',
      };
}

function weakened({ spec, old, isAdmin }: StageQuestion): Barred | undefined {
  if (isAdmin) return undefined;
  const losses = stageLosses(old, spec);
  return losses.length === 0
    ? undefined
    : {
        code: 'NOT_ADMIN',
        message: `${listed(losses)} would let more through, and may be changed so by a stage admin only`,
        next: 'leave these fields, or have a stage admin change them',
      };
}

/** An Operation that is under way must end where it began. */
function busy({ request, spec, old }: StageQuestion): Barred | undefined {
  const active = at(request.oldObject, 'status', 'activeOperation', 'name');
  if (old === undefined || typeof active !== 'string' || active === '') return undefined;
  const isSame = sameJson(partsOf(old), partsOf(spec));
  return isSame
    ? undefined
    : {
        code: 'BUSY',
        message: `spec.pacto and spec.pointers stay as they are while Operation ${active} is under way`,
        next: 'wait for it, or cancel it',
      };
}

function partsOf({ pacto, pointers }: StageSpec): unknown {
  return [pacto.name, pacto.namespace ?? '', pointers.map(targetKey)];
}

/** One value of one object belongs to one Stage. */
function contested({ evidence, stage, spec }: StageQuestion): Barred | undefined {
  const mine = new Set(spec.pointers.map((pointer) => targetKey(pointer, stage.namespace)));
  const other = evidence.stages?.find(
    (one) =>
      (one.name !== stage.name || one.namespace !== stage.namespace) &&
      one.spec.pointers.some((pointer) => mine.has(targetKey(pointer, one.namespace))),
  );
  return other === undefined
    ? undefined
    : {
        code: 'MALFORMED',
        message: `Stage ${other.namespace}/${other.name} has one of these pointers already`,
        next: 'take the pointer out of one of the two',
      };
}

function targetKey({ target, field, key }: StagePointer, namespace: unknown = ''): string {
  const own = typeof namespace === 'string' ? namespace : '';
  const [group = ''] = target.apiVersion.split('/');
  return [group, target.kind, target.namespace ?? own, target.name, field, key].join(' ');
}

/** delivery.md §3.3: a Stage that nobody may approve stands still; said, not refused. */
function unsolvable({ stage, spec, policy }: StageQuestion): readonly string[] {
  const eligible = rolesFor(policy, stage, 'approve');
  return spec.approvals.required
    .filter(({ role }) => !eligible.includes(role) || policy?.roles.get(role)?.mayApprove !== true)
    .slice(0, 4)
    .map(
      ({ role }) => `${stage.namespace}/${stage.name}: nobody may approve as ${role}, by the identity policy`,
    );
}
