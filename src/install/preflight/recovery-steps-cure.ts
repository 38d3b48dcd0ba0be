/** How whatever locks the cluster is taken away, and how the gate is installed anew. */
import {
  CONFIG_MAP,
  GATE_GROUP,
  GATE_POLICY,
  GATE_POLICY_BINDING,
  MUTATING_WEBHOOK_CONFIGURATION,
  NATIVE_POLICY,
  NATIVE_POLICY_BINDING,
  VALIDATING_WEBHOOK_CONFIGURATION,
  type Kind,
} from '../../cluster/kinds.ts';
import {
  API_SERVICE,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  DEFINITION,
  PRIORITY_CLASS,
  ROLE,
  ROLE_BINDING,
} from './recovery-kinds.ts';
import {
  about,
  isHoused,
  stepOf,
  type HousedSite,
  type Need,
  type RecoverySite,
  type RecoveryStep,
  type StepDraft,
} from './recovery-step.ts';
import { ADMINISTRATOR, API_SERVER } from './recovery-users.ts';

const POLICY_RULE = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['configmaps'],
};
const POLICY_SPEC = {
  matchConstraints: { resourceRules: [POLICY_RULE] },
  validations: [{ expression: 'true' }],
};
const BINDING_SPEC = { policyName: 'preflight', validationActions: ['Deny'] };

export function cureSteps({ namespace, policyNamespaces }: RecoverySite): readonly RecoveryStep[] {
  const holders = [...(namespace === undefined ? [] : [namespace]), ...policyNamespaces];
  return [
    ...removalDrafts('cure-validating', VALIDATING_WEBHOOK_CONFIGURATION, { webhooks: [] }, 'necessary'),
    ...removalDrafts('cure-mutating', MUTATING_WEBHOOK_CONFIGURATION, { webhooks: [] }, 'necessary'),
    ...removalDrafts('cure-native-policy', NATIVE_POLICY, { spec: POLICY_SPEC }, 'necessary'),
    ...removalDrafts('cure-native-binding', NATIVE_POLICY_BINDING, { spec: BINDING_SPEC }, 'necessary'),
    // Whoever writes a custom policy is asked about by an entry of its own, which waits for the gate (decision 17).
    ...removalDrafts('cure-custom-policy', GATE_POLICY, { spec: POLICY_SPEC }, 'comfort'),
    ...removalDrafts('cure-custom-binding', GATE_POLICY_BINDING, { spec: BINDING_SPEC }, 'comfort'),
    ...[...new Set(holders)].flatMap(configMapDrafts),
  ].map((draft) => stepOf('cure', draft));
}

function removalDrafts(
  id: string,
  kind: Kind,
  fields: Readonly<Record<string, unknown>>,
  update: Need,
): readonly StepDraft[] {
  const own = about({ kind, name: 'preflight', need: 'necessary', fields });
  const what = `a ${kind.kind} of ${kind.group}`;
  return [
    own(`${id}-delete`, 'DELETE', ADMINISTRATOR, `an administrator deletes ${what}`),
    own(`${id}-update`, 'UPDATE', ADMINISTRATOR, `an administrator mends ${what}`, { need: update }),
  ];
}

function configMapDrafts(namespace: string): readonly StepDraft[] {
  const own = about({
    kind: CONFIG_MAP,
    namespace,
    name: 'preflight-policies',
    labels: { [`${GATE_GROUP}/policies`]: 'true' },
    need: 'necessary',
    fields: {},
  });
  const what = `a ConfigMap with policies of ${namespace}`;
  return [
    own(`cure-configmap-delete-${namespace}`, 'DELETE', ADMINISTRATOR, `an administrator deletes ${what}`),
    own(`cure-configmap-update-${namespace}`, 'UPDATE', ADMINISTRATOR, `an administrator mends ${what}`),
  ];
}

export function reinstallSteps(site: RecoverySite): readonly RecoveryStep[] {
  const roles = isHoused(site) ? roleDrafts(site) : [];
  return [...roles, ...definitionDrafts(), ...classDrafts(site)].map((draft) => stepOf('reinstall', draft));
}

function roleDrafts({ namespace, name, labels }: HousedSite): readonly StepDraft[] {
  const own = { name: `${name}-preflight-new`, labels, need: 'comfort' } as const;
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const roleRef = { apiGroup: CLUSTER_ROLE.group, kind: 'ClusterRole', name: 'view' };
  const clusterRole = about({ ...own, kind: CLUSTER_ROLE, fields: { rules } });
  const clusterBinding = about({ ...own, kind: CLUSTER_ROLE_BINDING, fields: { subjects, roleRef } });
  const role = about({ ...own, kind: ROLE, namespace, fields: { rules } });
  const binding = about({ ...own, kind: ROLE_BINDING, namespace, fields: { subjects, roleRef } });
  const admin = ADMINISTRATOR;
  const old = { name: `${name}-preflight` };
  return [
    clusterRole('reinstall-clusterrole-create', 'CREATE', admin, "the gate's ClusterRole is made anew"),
    clusterRole('reinstall-clusterrole-update', 'UPDATE', admin, "the gate's ClusterRole is mended", old),
    clusterBinding(
      'reinstall-clusterrolebinding',
      'CREATE',
      admin,
      "the gate's ClusterRoleBinding is made anew",
    ),
    role('reinstall-role', 'CREATE', admin, "the gate's Role is made anew"),
    binding('reinstall-rolebinding', 'CREATE', admin, "the gate's RoleBinding is made anew"),
  ];
}

function definitionDrafts(): readonly StepDraft[] {
  const named = (plural: string, kind: string): Partial<StepDraft> => ({
    name: `${plural}.${GATE_GROUP}`,
    fields: { spec: { group: GATE_GROUP, scope: 'Cluster', names: { kind, plural }, versions: [version] } },
  });
  const schema = { openAPIV3Schema: { type: 'object' } };
  const version = { name: 'v1', served: true, storage: true, schema };
  const definition = about({ kind: DEFINITION, need: 'comfort' });
  const fresh = named('preflightnews', 'PreflightNew');
  const old = named('preflights', 'Preflight');
  return [
    definition(
      'reinstall-definition-create',
      'CREATE',
      ADMINISTRATOR,
      "the gate's kinds are made anew",
      fresh,
    ),
    definition('reinstall-definition-update', 'UPDATE', ADMINISTRATOR, "the gate's kinds are mended", old),
    definition('reinstall-definition-delete', 'DELETE', ADMINISTRATOR, "the gate's kinds are deleted", old),
  ];
}

function classDrafts({ name, labels }: RecoverySite): readonly StepDraft[] {
  const priority = about({
    kind: PRIORITY_CLASS,
    name: `${name}-preflight-new`,
    labels,
    need: 'comfort',
    fields: { value: 1000 },
  });
  const spec = { group: 'apps', version: 'v1', groupPriorityMinimum: 17_800, versionPriority: 15 };
  const service = about({ kind: API_SERVICE, name: 'v1.apps', need: 'comfort', fields: { spec } });
  return [
    priority('reinstall-priorityclass', 'CREATE', ADMINISTRATOR, 'an administrator makes a PriorityClass'),
    // An API server is not ready after an upgrade until what it newly serves is registered.
    service('reinstall-apiservice', 'UPDATE', API_SERVER, 'the API server registers a group that it serves'),
  ];
}
