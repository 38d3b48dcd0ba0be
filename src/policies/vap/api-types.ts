/** The shapes of ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding (admissionregistration.k8s.io/v1). */
import { listOfShape, struct, text, type Shape, type StructShape } from './api-shape.ts';

const TEXT = text();
const TEXTS = listOfShape(TEXT);
const TEXT_MAP: Shape = { kind: 'map', of: TEXT };
const INT64: Shape = { kind: 'int', goType: 'int64' };
const BOOL: Shape = { kind: 'bool', goType: 'bool' };
const RAW: Shape = { kind: 'raw' };

const OWNER_REFERENCE = struct('OwnerReference', {
  apiVersion: TEXT,
  kind: TEXT,
  name: TEXT,
  uid: text('types.UID'),
  controller: BOOL,
  blockOwnerDeletion: BOOL,
});

const METADATA = struct('ObjectMeta', {
  name: TEXT,
  generateName: TEXT,
  namespace: TEXT,
  selfLink: TEXT,
  uid: text('types.UID'),
  resourceVersion: TEXT,
  generation: INT64,
  creationTimestamp: RAW,
  deletionTimestamp: RAW,
  deletionGracePeriodSeconds: INT64,
  labels: TEXT_MAP,
  annotations: TEXT_MAP,
  ownerReferences: listOfShape(OWNER_REFERENCE),
  finalizers: TEXTS,
  managedFields: RAW,
});

const SELECTOR = struct('LabelSelector', {
  matchLabels: TEXT_MAP,
  matchExpressions: listOfShape(
    struct('LabelSelectorRequirement', {
      key: TEXT,
      operator: text('v1.LabelSelectorOperator'),
      values: TEXTS,
    }),
  ),
});

const RULE = struct(
  'NamedRuleWithOperations',
  {
    resourceNames: TEXTS,
    operations: listOfShape(text('v1.OperationType')),
    apiGroups: TEXTS,
    apiVersions: TEXTS,
    resources: TEXTS,
    scope: text('v1.ScopeType'),
  },
  {
    operations: 'RuleWithOperations.',
    apiGroups: 'RuleWithOperations.Rule.',
    apiVersions: 'RuleWithOperations.Rule.',
    resources: 'RuleWithOperations.Rule.',
    scope: 'RuleWithOperations.Rule.',
  },
);

const MATCH_RESOURCES = struct('MatchResources', {
  namespaceSelector: SELECTOR,
  objectSelector: SELECTOR,
  resourceRules: listOfShape(RULE),
  excludeResourceRules: listOfShape(RULE),
  matchPolicy: text('v1.MatchPolicyType'),
});

const POLICY_SPEC = struct('ValidatingAdmissionPolicySpec', {
  paramKind: struct('ParamKind', { apiVersion: TEXT, kind: TEXT }),
  matchConstraints: MATCH_RESOURCES,
  validations: listOfShape(
    struct('Validation', {
      expression: TEXT,
      message: TEXT,
      reason: text('v1.StatusReason'),
      messageExpression: TEXT,
    }),
  ),
  failurePolicy: text('v1.FailurePolicyType'),
  auditAnnotations: listOfShape(struct('AuditAnnotation', { key: TEXT, valueExpression: TEXT })),
  matchConditions: listOfShape(struct('MatchCondition', { name: TEXT, expression: TEXT })),
  variables: listOfShape(struct('Variable', { name: TEXT, expression: TEXT })),
});

const BINDING_SPEC = struct('ValidatingAdmissionPolicyBindingSpec', {
  policyName: TEXT,
  paramRef: struct('ParamRef', {
    name: TEXT,
    namespace: TEXT,
    selector: SELECTOR,
    parameterNotFoundAction: text('v1.ParameterNotFoundActionType'),
  }),
  matchResources: MATCH_RESOURCES,
  validationActions: listOfShape(text('v1.ValidationAction')),
});

export const POLICY: StructShape = struct('ValidatingAdmissionPolicy', {
  apiVersion: TEXT,
  kind: TEXT,
  metadata: METADATA,
  spec: POLICY_SPEC,
  status: RAW,
});

export const BINDING: StructShape = struct('ValidatingAdmissionPolicyBinding', {
  apiVersion: TEXT,
  kind: TEXT,
  metadata: METADATA,
  spec: BINDING_SPEC,
});
