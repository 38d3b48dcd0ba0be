/** Who may write policies on a real API server: accounts with different rights, and the writes that they try. */
import type { KubeObject, UserInfo } from '../../../src/cluster/objects.ts';

const NATIVE_GROUP = 'admissionregistration.k8s.io';
export const GATE_GROUP = 'gate.pacto.trianalab.io';
/** The group of an object, and so who is asked. */
export type PolicyGroup = typeof NATIVE_GROUP | typeof GATE_GROUP;
export const NATIVE: PolicyGroup = NATIVE_GROUP;

const POLICIES = 'validatingadmissionpolicies';
const BINDINGS = 'validatingadmissionpolicybindings';

export const pathOf = (group: PolicyGroup, { kind }: Pick<KubeObject, 'kind'>): string =>
  `/apis/${group}/v1/${kind === 'ValidatingAdmissionPolicy' ? POLICIES : BINDINGS}`;

const user = (username: string): UserInfo => ({ username, groups: ['system:authenticated'] });

/** May write policies and bindings of both groups, and nothing else. */
export const AUTHOR = user('author');
/** May read all ConfigMaps beside that. */
const READER = user('reader');
/** May read one ConfigMap beside that. */
const SHOPKEEPER = user('shopkeeper');
/** May list the ConfigMaps of one namespace beside that. */
const LISTER = user('lister');
export const MASTER: UserInfo = { username: 'root', groups: ['system:masters', 'system:authenticated'] };

const RBAC = 'rbac.authorization.k8s.io';

function granted(
  name: string,
  to: readonly UserInfo[],
  rules: readonly object[],
  namespace?: string,
): object[] {
  const [kind, metadata] =
    namespace === undefined ? ['ClusterRole', { name }] : ['Role', { name, namespace }];
  return [
    { apiVersion: `${RBAC}/v1`, kind, metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name },
      subjects: to.map(({ username }) => ({ apiGroup: RBAC, kind: 'User', name: username })),
    },
  ];
}

export const SHOP = 'shop';

/** Roles of all of them. */
export const ACCOUNT_OBJECTS: readonly object[] = [
  ...granted(
    'policy-writers',
    [AUTHOR, READER, SHOPKEEPER, LISTER],
    [{ apiGroups: [NATIVE_GROUP, GATE_GROUP], resources: [POLICIES, BINDINGS], verbs: ['*'] }],
  ),
  ...granted(
    'map-readers',
    [READER],
    [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
  ),
  ...granted(
    'limits-readers',
    [SHOPKEEPER],
    [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['limits'], verbs: ['get'] }],
    SHOP,
  ),
  ...granted(
    'map-listers',
    [LISTER],
    [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
    SHOP,
  ),
];

export function policyOf(
  group: PolicyGroup,
  name: string,
  spec: object = {},
  metadata: object = {},
): KubeObject {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  return {
    apiVersion: `${group}/v1`,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name, ...metadata },
    spec: {
      matchConstraints: { resourceRules: [{ ...rule, resourceNames: [`${name}-refused`] }] },
      validations: [{ expression: 'false' }],
      ...spec,
    },
  };
}

export function bindingOf(
  group: PolicyGroup,
  name: string,
  policyName: string,
  spec: object = {},
): KubeObject {
  return {
    apiVersion: `${group}/v1`,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName, validationActions: ['Deny'], ...spec },
  };
}

export const OVER_MAPS = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
export const OVER_SECRETS = { paramKind: { apiVersion: 'v1', kind: 'Secret' } };

/** Stored beforehand by the administrator, in both groups. */
export const storedOf = (group: PolicyGroup): readonly KubeObject[] => [
  policyOf(group, 'plain.example.com'),
  policyOf(group, 'maps.example.com', OVER_MAPS),
  bindingOf(group, 'named', 'maps.example.com', named('limits')),
];

export function named(name: string): object {
  return { paramRef: { name, namespace: SHOP, parameterNotFoundAction: 'Deny' } };
}

const selected = (place: object = {}): object => ({
  paramRef: { selector: {}, parameterNotFoundAction: 'Deny', ...place },
});

export interface Attempt {
  readonly title: string;
  readonly as: UserInfo;
  /** Created, or put in the place of the stored one of its name, in a dry run. */
  readonly object: (group: PolicyGroup) => KubeObject;
  readonly isUpdate?: boolean;
  /** Finding of the field, without `Forbidden: `; undefined where it is allowed. */
  readonly refused?: { readonly field: string; readonly sentence: string };
}

const shown = ({ username }: UserInfo): string => `user &{${username}  [system:authenticated] map[]}`;
const noPolicy = (as: UserInfo): NonNullable<Attempt['refused']> => ({
  field: 'spec.paramKind',
  sentence: `${shown(as)} must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)`,
});
const noBinding = (as: UserInfo, verb: string): NonNullable<Attempt['refused']> => ({
  field: 'spec.paramRef',
  sentence: `${shown(as)} does not have "${verb}" permission on the object referenced by paramRef`,
});

/** What native and our own kinds answer alike. */
export const ATTEMPTS: readonly Attempt[] = [
  {
    title: 'a policy over ConfigMaps by somebody who may not read them',
    as: AUTHOR,
    object: (group) => policyOf(group, 'new.example.com', OVER_MAPS),
    refused: noPolicy(AUTHOR),
  },
  {
    title: 'a policy over ConfigMaps by somebody who may read one of them',
    as: SHOPKEEPER,
    object: (group) => policyOf(group, 'new.example.com', OVER_MAPS),
    refused: noPolicy(SHOPKEEPER),
  },
  {
    title: 'a policy over ConfigMaps by somebody who may read them',
    as: READER,
    object: (group) => policyOf(group, 'new.example.com', OVER_MAPS),
  },
  {
    title: 'a policy over ConfigMaps by a superuser',
    as: MASTER,
    object: (group) => policyOf(group, 'new.example.com', OVER_MAPS),
  },
  {
    title: 'a policy without parameters',
    as: AUTHOR,
    object: (group) => policyOf(group, 'new.example.com'),
  },
  {
    title: 'parameters for a policy that had none',
    as: AUTHOR,
    isUpdate: true,
    object: (group) => policyOf(group, 'plain.example.com', OVER_MAPS),
    refused: noPolicy(AUTHOR),
  },
  {
    title: 'another failure policy of a policy over ConfigMaps',
    as: AUTHOR,
    isUpdate: true,
    object: (group) => policyOf(group, 'maps.example.com', { ...OVER_MAPS, failurePolicy: 'Ignore' }),
  },
  {
    title: 'a label of a policy over ConfigMaps',
    as: AUTHOR,
    isUpdate: true,
    object: (group) => policyOf(group, 'maps.example.com', OVER_MAPS, { labels: { a: 'b' } }),
  },
  {
    title: 'a binding to a ConfigMap by somebody who may not read it',
    as: AUTHOR,
    object: (group) => bindingOf(group, 'new', 'maps.example.com', named('limits')),
    refused: noBinding(AUTHOR, 'get'),
  },
  {
    title: 'a binding to a ConfigMap by somebody who may read it',
    as: SHOPKEEPER,
    object: (group) => bindingOf(group, 'new', 'maps.example.com', named('limits')),
  },
  {
    title: 'a binding to another ConfigMap',
    as: SHOPKEEPER,
    object: (group) => bindingOf(group, 'new', 'maps.example.com', named('others')),
    refused: noBinding(SHOPKEEPER, 'get'),
  },
  {
    title: 'a binding to the ConfigMaps of that name in every namespace',
    as: SHOPKEEPER,
    object: (group) =>
      bindingOf(group, 'new', 'maps.example.com', {
        paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' },
      }),
    refused: noBinding(SHOPKEEPER, 'get'),
  },
  {
    title: 'a binding that selects, by somebody who may read one ConfigMap',
    as: SHOPKEEPER,
    object: (group) => bindingOf(group, 'new', 'maps.example.com', selected({ namespace: SHOP })),
    refused: noBinding(SHOPKEEPER, 'list'),
  },
  {
    title: 'a binding that selects in a namespace, by somebody who may list there',
    as: LISTER,
    object: (group) => bindingOf(group, 'new', 'maps.example.com', selected({ namespace: SHOP })),
  },
  {
    title: 'a binding that selects everywhere, by somebody who may list in one namespace',
    as: LISTER,
    object: (group) => bindingOf(group, 'new', 'maps.example.com', selected()),
    refused: noBinding(LISTER, 'list'),
  },
  {
    title: 'a binding of a policy that is not there',
    as: READER,
    object: (group) => bindingOf(group, 'new', 'absent.example.com', named('limits')),
    refused: {
      field: 'spec.paramRef',
      sentence: `unable to get policy absent.example.com to determine minimum required permissions and ${shown(READER)} does not have "get" permission for all groups, versions and resources`,
    },
  },
  {
    title: 'a binding with parameters of a policy without',
    as: READER,
    object: (group) => bindingOf(group, 'new', 'plain.example.com', named('limits')),
    refused: noBinding(READER, 'get'),
  },
  {
    title: 'another action of a binding to a ConfigMap',
    as: AUTHOR,
    isUpdate: true,
    object: (group) =>
      bindingOf(group, 'named', 'maps.example.com', { ...named('limits'), validationActions: ['Warn'] }),
    refused: noBinding(AUTHOR, 'get'),
  },
  {
    title: 'no parameters any more',
    as: AUTHOR,
    isUpdate: true,
    object: (group) => bindingOf(group, 'named', 'maps.example.com'),
  },
];
