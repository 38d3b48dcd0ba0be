/** Write-time rules about what a policy or binding matches: matchConstraints, matchResources, selectors (vap.md V02). */
import { labelKeyFaults, labelValueFaults } from '../cel/libraries/kubernetes-names.ts';
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  shownJson,
  shownText,
  type FieldError,
} from './field-error.ts';
import type { LabelRequirement, LabelSelector, MatchResources, NamedRule } from './types.ts';
import { each, labelErrors, segmentFaults } from './validate-metadata.ts';

const MATCH_POLICIES = ['Equivalent', 'Exact'];
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

export function matchErrors(match: MatchResources, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!MATCH_POLICIES.includes(match.matchPolicy)) {
    errors.push(notSupported(`${field}.matchPolicy`, match.matchPolicy, MATCH_POLICIES));
  }
  errors.push(...selectorErrors(match.namespaceSelector, `${field}.namespaceSelector`));
  errors.push(...selectorErrors(match.objectSelector, `${field}.objectSelector`));
  for (const list of ['resourceRules', 'excludeResourceRules'] as const) {
    errors.push(
      ...match[list].flatMap((rule, index) => ruleErrors(rule, `${field}.${list}[${String(index)}]`)),
    );
  }
  return errors;
}

export function selectorErrors(
  { matchLabels, matchExpressions }: LabelSelector,
  field: string,
): FieldError[] {
  return [
    ...labelErrors(matchLabels, `${field}.matchLabels`),
    ...matchExpressions.flatMap((requirement, index) =>
      requirementErrors(requirement, `${field}.matchExpressions[${String(index)}]`),
    ),
  ];
}

function requirementErrors({ key, operator, values }: LabelRequirement, field: string): FieldError[] {
  const errors: FieldError[] = [];
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        const detail = "must be specified when `operator` is 'In' or 'NotIn'";
        errors.push(required(`${field}.values`, detail));
      }
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.push(forbidden(`${field}.values`, detail));
      }
      break;
    default:
      errors.push(invalid(`${field}.operator`, shownJson(operator), 'not a valid selector operator'));
  }
  errors.push(...each(labelKeyFaults(key), `${field}.key`, key));
  for (const [index, value] of values.entries()) {
    errors.push(...each(labelValueFaults(value), `${field}.values[${String(index)}]`, value));
  }
  return errors;
}

function ruleErrors(rule: NamedRule, field: string): FieldError[] {
  return [
    ...resourceNameErrors(rule.resourceNames, `${field}.resourceNames`),
    ...operationErrors(rule.operations, `${field}.operations`),
    ...listErrors(rule.apiGroups, `${field}.apiGroups`, 'API groups'),
    ...listErrors(rule.apiVersions, `${field}.apiVersions`, 'API versions'),
    ...rule.apiVersions.flatMap((version, index) =>
      version === '' ? [required(`${field}.apiVersions[${String(index)}]`)] : [],
    ),
    ...resourceErrors(rule.resources, `${field}.resources`),
    ...(SCOPES.includes(rule.scope) ? [] : [notSupported(`${field}.scope`, rule.scope, SCOPES)]),
  ];
}

function resourceNameErrors(names: readonly string[], field: string): FieldError[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    const at = `${field}[${String(index)}]`;
    const errors = each(segmentFaults(name), at, name);
    if (seen.has(name)) errors.push(duplicate(at, shownText(name)));
    seen.add(name);
    return errors;
  });
}

function operationErrors(operations: readonly string[], field: string): FieldError[] {
  return [
    ...listErrors(operations, field, 'operations'),
    ...operations.flatMap((operation, index) =>
      OPERATIONS.includes(operation)
        ? []
        : [notSupported(`${field}[${String(index)}]`, operation, OPERATIONS)],
    ),
  ];
}

/** A list must have something in it, and `*` stands alone. */
function listErrors(values: readonly string[], field: string, others: string): FieldError[] {
  if (values.length === 0) return [required(field)];
  if (values.length === 1 || !values.includes('*')) return [];
  return [invalid(field, shownJson(values), `if '*' is present, must not specify other ${others}`)];
}

function resourceErrors(resources: readonly string[], field: string): FieldError[] {
  const errors: FieldError[] = resources.length === 0 ? [required(field)] : [];
  /** Resources of which all subresources are named: `pods/*`. */
  const wholeResources = new Set<string>();
  /** Subresources that are named of all resources: `*` and `/scale`. */
  const everywhere = new Set<string>();
  let hasMainResource = false;
  for (const [index, resource] of resources.entries()) {
    const at = `${field}[${String(index)}]`;
    if (resource === '') {
      errors.push(required(at));
      continue;
    }
    const slash = resource.indexOf('/');
    if (slash < 0) {
      // Of several the last one counts.
      hasMainResource = resource !== '*';
      continue;
    }
    const [main, sub] = [resource.slice(0, slash), resource.slice(slash + 1)];
    const covering = [
      ...(wholeResources.has(main) ? [`${main}/*`] : []),
      ...(everywhere.has(sub) ? [`*/${sub}`] : []),
    ];
    for (const by of covering) {
      errors.push(invalid(at, shownText(resource), `if '${by}' is present, must not specify ${resource}`));
    }
    if (sub === '*') wholeResources.add(main);
    if (main === '*') everywhere.add(sub);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(
      invalid(field, shownJson(resources), "if '*/*' is present, must not specify other resources"),
    );
  }
  if (hasMainResource && resources.includes('*')) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalid(field, shownJson(resources), detail));
  }
  return errors;
}
