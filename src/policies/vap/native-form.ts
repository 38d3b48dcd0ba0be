/**
 * A policy as it is written natively for somebody who may have to take it away again: what it comes from stays out of
 * its reach, as it does for a webhook entry (design decision 20). So does what an API server writes itself: one that
 * starts ends if it cannot, and nobody could take the policy away then.
 */
import { NAMESPACE_NAME_LABEL } from '../entry.ts';
import { NO_API_SERVER, reachesSome, WRITTEN_BY_API_SERVER } from './never-reached.ts';
import { OWN_GROUP } from './entry-name.ts';
import type { NamedRule } from './types.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Everything of the gate's own group (vap.md M05: the resources and their subresources). */
const OWN_KINDS = {
  apiGroups: [OWN_GROUP],
  apiVersions: ['*'],
  operations: ['*'],
  resources: ['*/*'],
  scope: '*',
};

/** API servers take so many of a policy. */
const MOST_CONDITIONS = 64;
const API_SERVER = { name: `${OWN_GROUP}/no-api-server`, expression: NO_API_SERVER };

/**
 * @param spec of a ValidatingAdmissionPolicy, as written
 * @param rules of the same, as read
 * @param namespaces of the gate, and of ConfigMaps with policies
 * @returns another spec. One without match constraints, which no API server takes, is given back as it is.
 */
export function withoutItsSources(
  spec: unknown,
  rules: readonly NamedRule[],
  namespaces: readonly string[],
): unknown {
  if (!isFields(spec) || !isFields(spec['matchConstraints'])) return spec;
  const constraints = spec['matchConstraints'];
  const selector = isFields(constraints['namespaceSelector']) ? constraints['namespaceSelector'] : {};
  const excluded = namespaces.length === 0 ? [] : [notIn(namespaces)];
  const conditions = listOf(spec['matchConditions']);
  const letsPass = reachesSome(rules, WRITTEN_BY_API_SERVER) && conditions.length < MOST_CONDITIONS;
  return {
    ...spec,
    ...(letsPass && { matchConditions: [...conditions, API_SERVER] }),
    matchConstraints: {
      ...constraints,
      namespaceSelector: {
        ...selector,
        matchExpressions: [...listOf(selector['matchExpressions']), ...excluded],
      },
      excludeResourceRules: [
        ...listOf(constraints['excludeResourceRules']),
        ...(reachesSome(rules, [{ group: OWN_GROUP, resource: '*' }]) ? [OWN_KINDS] : []),
      ],
    },
  };
}

function notIn(namespaces: readonly string[]): Fields {
  return { key: NAMESPACE_NAME_LABEL, operator: 'NotIn', values: [...new Set(namespaces)].toSorted() };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
