/**
 * The workloads webhook: whether a workload may get another Pod template (delivery.md §2.3, rows 20, 21, 24 to 27, 29, 31),
 * for Stages of scope Workload and Strict. Defence in depth: what a floating source or a person brings in beside the pointer.
 */
import type { AdmissionRequest } from '../../cluster/objects.ts';
import { at, canonicalJson } from '../identity/foreign.ts';
import type { Verdict } from '../verdict.ts';
import type { StageName } from './change.ts';
import { answerOf, pass, stageText, type About } from './delivery-answer.ts';
import type { DeliveryEvidence, DeliveryNeed, DeliverySettings } from './evidence.ts';
import { evaluateGate } from './gate.ts';
import { STAGE_LABEL } from './names.ts';
import type { Stage, StageRelease } from './stage.ts';
import { templateTextOf, workloadChangeOf } from './workload-template.ts';
import type { GateWorld } from './world.ts';

/** @returns the verdict where the review alone gives one: no other template, or nothing in it that is a release (rows 22, 26, 33). */
export function decideWorkloadPlainly(request: AdmissionRequest): Verdict | undefined {
  if (request.operation !== 'CREATE' && request.operation !== 'UPDATE')
    return pass('DELETE', 'Delete', { stage: undefined });
  const { changes } = workloadChangeOf(request);
  if (changes === 'nothing') return pass('SAME', 'Same', { stage: undefined });
  if (changes === 'harmless') return pass('SAME', 'Harmless', { stage: undefined });
  return undefined;
}

/** @returns a verdict, or what has to be seen for one. Of several Stages the first that refuses answers, by name. */
export function decideWorkload(
  request: AdmissionRequest,
  settings: DeliverySettings,
  evidence: DeliveryEvidence,
): Verdict | DeliveryNeed {
  const plainly = decideWorkloadPlainly(request);
  if (plainly !== undefined) return plainly;
  const { namespace = '' } = request;
  if (evidence.workloadWorlds === undefined) return { need: 'workload-worlds', namespace };
  const worlds = evidence.workloadWorlds
    .filter(({ stage }) => stage.spec.gate.scope !== 'Pointer')
    .filter((world) => isGatedBy(world, request))
    .toSorted((a, b) => (stageText(a.stage) < stageText(b.stage) ? -1 : 1));
  const [first, ...rest] = worlds.map((world) => decideFor(world, request, settings));
  if (first === undefined) return pass('GATE_OFF', 'Ungated', { stage: undefined });
  return [first, ...rest].find(({ allowed }) => !allowed) ?? first;
}

function decideFor(world: GateWorld, request: AdmissionRequest, { sha256 }: DeliverySettings): Verdict {
  const { stage } = world;
  const { current, lastGood, ungated } = stage.status;
  const name: StageName = { namespace: stage.namespace, name: stage.name };
  const about: About & { readonly stage: StageName; readonly world: GateWorld } = { stage: name, world };
  const template = templateTextOf(request.object);
  const hash = template === undefined ? '' : sha256(template);
  const is = (release: StageRelease | undefined): boolean =>
    release?.templates.some(
      (one) => one.sha256 === hash && one.kind === request.kind.kind && one.name === request.name,
    ) ?? false;
  if (is(current)) return pass('DRIFT_CORRECTION', 'DriftCorrection', about);
  if (lastGood.some(is)) return pass('ROLLBACK', 'Rollback', about);
  // The gate let the pointer move, and what the workloads get is what it points at.
  if (ungated === undefined && current !== undefined && current.convergedAtMs === undefined)
    return pass('ALLOWED', 'Moved', about);
  const digest = ungated?.digest ?? current?.digest ?? '';
  const { decision } = evaluateGate(world, {
    digest,
    change: 'Move',
    isPinned: true,
    identityChanged: false,
    ratchet: 'unknown',
  });
  if (decision.decision !== 'Allow' && isConfiguration(request, stage))
    return pass('ALLOWED', 'Configuration', about, [
      `${stageText(name)}: the template changes while the gate is closed: ${decision.message}`,
    ]);
  return answerOf(decision, about, { digest, warnings: [] });
}

/** The same images with other settings are often the cure (row 12): held in scope Strict only. */
function isConfiguration(request: AdmissionRequest, { spec }: Stage): boolean {
  if (spec.gate.scope === 'Strict' || request.operation !== 'UPDATE') return false;
  return imagesOf(request.object) === imagesOf(request.oldObject);
}

function imagesOf(object: unknown): string {
  const pod = at(object, 'spec', 'template', 'spec');
  const of = (list: unknown): readonly unknown[] =>
    Array.isArray(list) ? list.map((one) => [at(one, 'name') ?? '', at(one, 'image') ?? '']) : [];
  return canonicalJson([...of(at(pod, 'initContainers')), ...of(at(pod, 'containers'))]);
}

const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io';
const HELM = 'helm.toolkit.fluxcd.io';

/** By the workload's own label, by the release that applied it, or by the target of the Pacto. */
function isGatedBy({ stage, pacto }: GateWorld, request: AdmissionRequest): boolean {
  return [request.object, request.oldObject].some(
    (object) =>
      labelOf(object, STAGE_LABEL) === stage.name ||
      stage.spec.consumers.some(({ kind, name, namespace }) => {
        const group = kind === 'HelmRelease' ? HELM : kind === 'Kustomization' ? KUSTOMIZE : undefined;
        return (
          group !== undefined &&
          labelOf(object, `${group}/name`) === name &&
          labelOf(object, `${group}/namespace`) === (namespace ?? stage.namespace)
        );
      }) ||
      isTargetOf(pacto, request),
  );
}

function labelOf(object: unknown, key: string): unknown {
  return at(object, 'metadata', 'labels', key);
}

/** operator.md §1.1.1: a workload that is named, else the Deployment of the Service's name. */
function isTargetOf(pacto: GateWorld['pacto'], request: AdmissionRequest): boolean {
  if (pacto === undefined || pacto.metadata.namespace !== request.namespace) return false;
  const target = at(pacto, 'spec', 'target');
  const name = at(target, 'workloadRef', 'name') ?? at(target, 'serviceName');
  const kind = at(target, 'workloadRef', 'kind') ?? 'Deployment';
  return name !== undefined && name !== '' && name === request.name && kind === request.kind.kind;
}
