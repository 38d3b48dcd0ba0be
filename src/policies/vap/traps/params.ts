/** Parameters: of the policy, and as its bindings find them. */
import { finding, type LintFinding } from '../lint-finding.ts';
import type { OpenApiTypes, ServedResource } from '../openapi-schema.ts';
import type { Binding, ParamKind, Policy } from '../types.ts';
import type { Subject } from './subject.ts';
import { identName, nodesOf } from './walk-expression.ts';

export function paramsTraps({ policy }: Subject): readonly LintFinding[] {
  const { paramKind } = policy;
  if (paramKind?.apiVersion !== 'v1' || paramKind.kind !== 'Secret') return [];
  return [
    finding(
      'LINT_PARAMS_SECRET',
      'spec.paramKind',
      'is Secret: pacto-gate never reads Secrets for a policy, and a denial could show what is in them; keep parameters in a ConfigMap or a resource of their own',
    ),
  ];
}

/** @param subject the policy of the binding */
export function bindingParamsTraps(
  { paramRef, validationActions }: Binding,
  subject: Subject,
  types: OpenApiTypes,
): readonly LintFinding[] {
  const { policy } = subject;
  if (policy.paramKind === undefined) return [];
  if (paramRef === undefined) return usesParams(subject) ? [nullParams(policy)] : [];
  const found: LintFinding[] = [];
  if (paramRef.parameterNotFoundAction === 'Allow' && validationActions.includes('Deny')) {
    found.push(
      finding(
        'LINT_PARAMS_ABSENT_ALLOWED',
        'spec.paramRef.parameterNotFoundAction',
        'is Allow: as long as there is no such parameter, the policy checks nothing and says so nowhere; write Deny unless that is meant',
      ),
    );
  }
  const scope = scopeFault(policy, policy.paramKind, paramRef.namespace, types);
  return scope === undefined ? found : [...found, scope];
}

/** Without paramRef, params is null (vap.md P02). */
function nullParams({ failurePolicy }: Policy): LintFinding {
  const then = failurePolicy === 'Ignore' ? 'lets every request pass' : 'denies every request';
  return finding(
    'LINT_PARAMS_NULL',
    'spec.paramRef',
    `is not set, and the policy has parameters: params is null, and the failure policy ${failurePolicy} ${then} that reads them; name a parameter`,
  );
}

/** Whether params are read, and not compared with null. */
function usesParams({ expressions }: Subject): boolean {
  let isUsed = false;
  for (const { checked } of expressions) {
    if (checked === undefined) continue;
    for (const node of nodesOf(checked.ast.expr)) {
      if (identName(node) === 'params') isUsed = true;
      const isComparison = node.kind === 'call' && (node.function === '_==_' || node.function === '_!=_');
      if (!isComparison) continue;
      const hasNull = node.args.some((arg) => arg.kind === 'literal' && arg.literal.type === 'null');
      if (hasNull && node.args.some((arg) => identName(arg) === 'params')) return false;
    }
  }
  return isUsed;
}

/** vap.md P04, P05: such a binding fails, and under the failure policy Fail denies whatever it says. */
function scopeFault(
  policy: Policy,
  paramKind: ParamKind,
  namespace: string | undefined,
  { resources }: OpenApiTypes,
): LintFinding | undefined {
  const of = resources.find(
    (one) => one.kind === paramKind.kind && apiVersionOf(one) === paramKind.apiVersion,
  );
  const field = 'spec.paramRef.namespace';
  const then = policy.failurePolicy === 'Ignore' ? 'the policy checks nothing' : 'requests are denied';
  if (of?.namespaced === false && namespace !== undefined) {
    return finding(
      'LINT_PARAMS_SCOPE',
      field,
      `is set, and a ${paramKind.kind} is in no namespace: the binding cannot be used, and ${then}; leave it out`,
    );
  }
  if (of?.namespaced !== true || namespace !== undefined) return undefined;
  const clusterScoped = clusterScopedIn(policy, resources);
  if (clusterScoped === undefined) return undefined;
  return finding(
    'LINT_PARAMS_SCOPE',
    field,
    `is not set, so that the parameter is looked for in the namespace of the request, and ${clusterScoped} are in none: ${then}; name a namespace`,
  );
}

function apiVersionOf({ group, version }: ServedResource): string {
  return group === '' ? version : `${group}/${version}`;
}

/** A Namespace is looked up as being in itself (vap.md P03). */
function clusterScopedIn(
  { matchConstraints }: Policy,
  served: readonly ServedResource[],
): string | undefined {
  for (const rule of matchConstraints?.resourceRules ?? []) {
    if (rule.scope === 'Namespaced') continue;
    for (const resource of rule.resources) {
      const name = resource.split('/')[0] ?? '';
      const found = served.find((one) => one.resource === name && rule.apiGroups.includes(one.group));
      if (found?.namespaced === false && name !== 'namespaces') return name;
    }
  }
  return undefined;
}
