/** The recorded cases of the parity test: two of each family at least, and what is hard to do right in each. */
import { readRequestCases } from '../policy-cases.ts';
import type { ParityCase } from './parity-case.ts';

/** By family. */
const CHOSEN: Readonly<Record<string, readonly string[]>> = {
  actions: [
    'a01-deny-audit',
    'a01-two-warn-audit',
    'a01-two-policies-deny-warn',
    'a01-warn-two-policies',
    'a03-subresource-in-message',
    'a07-warn-20-long',
    'a08-audit-escapes',
    'o05-no-binding',
  ],
  authorizer: ['d11-reason-allowed', 'd11-sa-no', 'd11-name-yes', 'd11-path-no', 'd11-fieldselector'],
  cost: ['b01-expression-limit', 'b01-budget-20-annotations', 'e09-audit-budget-warn'],
  library: ['n-quantity-2', 'n-format-1', 'n-err-01'],
  matchconditions: [
    'c02-delete-null-object',
    'c02-error-warn',
    'c03-namespaceobject-field',
    'c04-kind-matched',
    'c06-two-errors',
  ],
  matching: [
    'm02-namespace-create-own-labels',
    'm02-namespace-update-new-labels',
    'm04-cluster-scope-cluster',
    'm06-deletecollection-unnamed',
    'm06-generatename',
    'm07-exclude-scale',
    'm09-equivalent-delete',
    'm09-hpa-v1-as-v2',
    'm09-scale-other-version',
    'm10-binding-exact-version',
  ],
  messages: ['e02-multiline-source', 'e08-me-newline-data', 'e08-message-unicode', 'e10-error-fail'],
  'missing-namespace': ['a06-condition-false', 'a06-ignore'],
  'node-identity': [
    'ni00-lease-other-simple',
    'ni04-two-values-strict',
    'ni11-apply-create-simple',
    'ni13-deletecollection-other-simple',
    'ni14-status-other-strict',
  ],
  numbers: ['d02-expr-13', 'd02-maxint'],
  operations: [
    'd07-connect-exec',
    'd07-connect-proxy-service',
    'd07-deployment-scale-put',
    'd07-pod-binding',
    'd07-pod-ephemeral',
    'o02-delete-options',
    'o02-namespace-delete',
    'o02-namespace-finalize',
    'o02-patch-json',
    'o03-subjectaccessreview',
    'o08-generatename-pod',
    'o09-deletecollection-one-of-two',
    'o10-apply-update',
  ],
  params: [
    'p03-configmap',
    'p04-cluster-scoped-request-explicit',
    'p05-cluster-kind-selector',
    'p07-selector-annotations-join',
    'p07-two-bindings-actions',
    'p10-notfound-deny-warn',
  ],
  realworld: [
    'rw-eviction',
    'rw-exec-restrict',
    'rw-flux-v1beta2',
    'rw-ingress-duplicate',
    'rw-several-policies',
  ],
  stored: ['e02-compile-audit', 'e02-compile-type'],
  values: ['d06-metadata', 'd08-request-apply', 'd09-absent-extra', 'd10-namespaceobject'],
  variables: ['l02-phases', 'l03-error-twice', 'l06-authorizer-var-in-audit'],
};

/** @throws Error for a case that is not recorded (any more). */
export function readChosenCases(): readonly ParityCase[] {
  const recorded = new Map(readRequestCases().map((one) => [`${one.family}/${one.id}`, one]));
  return Object.entries(CHOSEN).flatMap(([family, ids]) =>
    ids.map((id): ParityCase => {
      const one = recorded.get(`${family}/${id}`);
      if (one === undefined) throw new Error(`there is no case ${id} of the family ${family}`);
      return { ...one, allowed: one.answer.allowed };
    }),
  );
}
