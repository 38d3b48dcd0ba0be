/** What GitOps tools need in order to bring the gate back. */
import type { Kind } from '../../cluster/kinds.ts';
import type { UserInfo } from '../../cluster/objects.ts';
import { STATUS } from './recovery-bodies.ts';
import {
  APPLICATION,
  GIT_REPOSITORY,
  HELM_CHART,
  HELM_RELEASE,
  HELM_REPOSITORY,
  KUSTOMIZATION,
  OCI_REPOSITORY,
} from './recovery-kinds.ts';
import {
  about,
  stepOf,
  type Pointer,
  type RecoverySite,
  type RecoveryStep,
  type StepDraft,
} from './recovery-step.ts';
import { ADMINISTRATOR, serviceAccount } from './recovery-users.ts';

/** Namespaces that Flux and Argo CD are installed into unless somebody chooses another. */
const FLUX = 'flux-system';
const ARGO = 'argocd';
const FLUX_KINDS = [KUSTOMIZATION, HELM_RELEASE, GIT_REPOSITORY, OCI_REPOSITORY, HELM_REPOSITORY, HELM_CHART];

export function gitopsSteps({ pointers }: RecoverySite): readonly RecoveryStep[] {
  const usual = [
    ...FLUX_KINDS.map((kind) => ({ kind, namespace: FLUX })),
    { kind: APPLICATION, namespace: ARGO },
  ];
  return [...pointers.flatMap(pointerDrafts), ...usual.flatMap(usualDrafts)].map((draft) =>
    stepOf('gitops', draft),
  );
}

function usualDrafts({ kind, namespace }: Pick<Pointer, 'kind' | 'namespace'>): readonly StepDraft[] {
  const own = about({ kind, namespace, name: 'preflight', need: 'comfort', fields: { spec: specOf(kind) } });
  const id = `gitops-${kind.kind.toLowerCase()}`;
  const what = `a ${kind.kind} in ${namespace}`;
  return [
    own(`${id}-update`, 'UPDATE', managerOf(kind, namespace), `GitOps changes ${what}`),
    own(`${id}-status`, 'UPDATE', managerOf(kind, namespace), `a controller writes the state of ${what}`, {
      ...stateOf(kind),
    }),
  ];
}

/** What deploys the gate itself: whoever repairs the gate through GitOps needs these. */
function pointerDrafts({ kind, namespace, name, labels }: Pointer): readonly StepDraft[] {
  const own = about({ kind, namespace, name, labels, need: 'necessary', fields: { spec: specOf(kind) } });
  const id = `pointer-${kind.kind.toLowerCase()}-${namespace}-${name}`;
  const what = `the ${kind.kind} ${namespace}/${name}, which deploys the gate`;
  return [
    own(`${id}-update`, 'UPDATE', ADMINISTRATOR, `somebody changes ${what}`),
    own(`${id}-status`, 'UPDATE', managerOf(kind, namespace), `its controller writes the state of ${what}`, {
      ...stateOf(kind),
    }),
  ];
}

/** Argo CD writes the state of an Application into the object itself: its definition has no subresource for it. */
function stateOf(kind: Kind): Partial<StepDraft> {
  return kind === APPLICATION ? {} : STATUS;
}

function managerOf(kind: Kind, namespace: string): UserInfo {
  if (kind === APPLICATION) return serviceAccount(namespace, 'argocd-application-controller');
  if (kind === KUSTOMIZATION) return serviceAccount(FLUX, 'kustomize-controller');
  if (kind === HELM_RELEASE) return serviceAccount(FLUX, 'helm-controller');
  return serviceAccount(FLUX, 'source-controller');
}

function specOf(kind: Kind): Readonly<Record<string, unknown>> {
  return kind === APPLICATION ? { project: 'default' } : { interval: '10m' };
}
