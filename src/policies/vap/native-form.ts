/**
 * A policy as it is written natively for somebody who may have to take it away again: what it comes from stays out of
 * its reach, as it does for a webhook entry (design decision 20).
 */
import { NAMESPACE_NAME_LABEL } from '../entry.ts';
import { OWN_GROUP } from './never-reached.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Everything of the gate's own group (vap.md M05: the resources and their subresources). */
const OWN_KINDS = {
  apiGroups: [OWN_GROUP],
  apiVersions: ['*'],
  operations: ['*'],
  resources: ['*/*'],
  scope: '*',
};

/**
 * @param spec of a ValidatingAdmissionPolicy, as written
 * @param namespaces of the gate, and of ConfigMaps with policies
 * @returns another spec. One without match constraints, which no API server takes, is given back as it is.
 */
export function withoutItsSources(spec: unknown, namespaces: readonly string[]): unknown {
  if (!isFields(spec) || !isFields(spec['matchConstraints'])) return spec;
  const constraints = spec['matchConstraints'];
  const selector = isFields(constraints['namespaceSelector']) ? constraints['namespaceSelector'] : {};
  const excluded = namespaces.length === 0 ? [] : [notIn(namespaces)];
  return {
    ...spec,
    matchConstraints: {
      ...constraints,
      namespaceSelector: {
        ...selector,
        matchExpressions: [...listOf(selector['matchExpressions']), ...excluded],
      },
      excludeResourceRules: [
        ...listOf(constraints['excludeResourceRules']),
        ...(reachesOwnKinds(constraints) ? [OWN_KINDS] : []),
      ],
    },
  };
}

function notIn(namespaces: readonly string[]): Fields {
  return { key: NAMESPACE_NAME_LABEL, operator: 'NotIn', values: [...new Set(namespaces)].toSorted() };
}

/** By the group alone: a rule of more than it needs does no harm. */
function reachesOwnKinds({ resourceRules }: Fields): boolean {
  return listOf(resourceRules).some((rule) => {
    const groups = isFields(rule) ? listOf(rule['apiGroups']) : [];
    return groups.includes('*') || groups.includes(OWN_GROUP);
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
