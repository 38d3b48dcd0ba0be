/** The warnings that Kubernetes puts into the status of a policy when its expressions do not fit its kinds (vap.md 2.12). */
import type { GroupVersionKind } from '../../cluster/objects.ts';
import { variableFieldType, variablesType } from '../cel/admission-types.ts';
import type { Cel } from '../cel/cel.ts';
import { DYN, opaque, type CelType } from '../cel/cel-type.ts';
import type { Environment } from '../cel/environment.ts';
import { kindText } from './openapi-schema.ts';
import type { KindTypes } from './openapi-types.ts';
import type { NamedRule, ParamKind, Policy } from './types.ts';

export interface ExpressionWarning {
  /** `spec.validations[0].expression`. */
  readonly fieldRef: string;
  /** One part for each kind that an expression does not fit, of several lines. */
  readonly warning: string;
}

export interface TypeCheckOptions {
  readonly cel: Cel;
  /** Minor of the API server that is imitated. */
  readonly minor: number;
  readonly kinds: KindTypes;
}

/** Kinds of one rule that are looked at. */
const MAX_KINDS = 10;

/** Only validations and their messages are looked at, with what variables they use (vap.md T02). */
export function typeCheck(policy: Policy, options: TypeCheckOptions): readonly ExpressionWarning[] {
  const environments = environmentsOf(policy, options);
  const warnings: ExpressionWarning[] = [];
  const look = (fieldRef: string, expression: string): void => {
    const warning = environments
      .flatMap(({ kind, environment }) => {
        const checked = options.cel.check(expression, environment);
        return checked.ok ? [] : [`${kindText(kind)}: ${issues(checked.error)}\n`];
      })
      .join('\n');
    if (warning !== '') warnings.push({ fieldRef, warning });
  };
  for (const [index, { expression, messageExpression }] of policy.validations.entries()) {
    const field = `spec.validations[${String(index)}]`;
    look(`${field}.expression`, expression);
    if (messageExpression !== undefined) look(`${field}.messageExpression`, messageExpression);
  }
  return warnings;
}

/** Here the text stands alone. */
function issues(error: string): string {
  return error.replace(/^compilation failed: /, '');
}

interface KindEnvironment {
  readonly kind: GroupVersionKind;
  readonly environment: Environment;
}

function environmentsOf(policy: Policy, options: TypeCheckOptions): readonly KindEnvironment[] {
  const params = paramsTypeOf(policy.paramKind, options.kinds);
  return kindsToCheck(policy.matchConstraints?.resourceRules ?? [], options.kinds).flatMap((kind) => {
    const object = options.kinds.typeOf(kind);
    return object === undefined
      ? []
      : [{ kind, environment: environmentOf(policy, object, params, options) }];
  });
}

/** @returns undefined where the policy has no params; dyn where nothing is known of them */
function paramsTypeOf(paramKind: ParamKind | undefined, kinds: KindTypes): CelType | undefined {
  if (paramKind === undefined) return undefined;
  const parts = paramKind.apiVersion.split('/');
  if (parts.length > 2) return undefined;
  const group = parts.length === 2 ? (parts[0] ?? '') : '';
  return kinds.typeOf({ group, version: parts.at(-1) ?? '', kind: paramKind.kind }) ?? DYN;
}

function environmentOf(
  { variables }: Policy,
  object: CelType,
  params: CelType | undefined,
  { cel, minor }: TypeCheckOptions,
): Environment {
  const declare = (fields: ReadonlyMap<string, CelType>): Environment =>
    cel.environment({
      minor,
      mode: 'stored',
      params: false,
      // Only itself is declared, without its `requestResource`.
      authorizer: false,
      variables: new Map<string, CelType>([
        ['object', object],
        ['oldObject', object],
        ...(params === undefined ? [] : ([['params', params]] as const)),
        ['authorizer', opaque('kubernetes.authorization.Authorizer')],
        ['variables', variablesType(fields)],
      ]),
    });
  const fields = new Map<string, CelType>();
  for (const { name, expression } of variables) {
    const checked = cel.check(expression, declare(new Map(fields)));
    fields.set(name, variableFieldType(checked.ok ? checked.type : undefined));
  }
  return declare(fields);
}

/** Kinds that rules name without a wildcard, in order (vap.md T03). */
function kindsToCheck(rules: readonly NamedRule[], kinds: KindTypes): readonly GroupVersionKind[] {
  const found = new Map<string, GroupVersionKind>();
  const sorted = (): readonly GroupVersionKind[] => [...found.values()].sort(byGroupVersionKind);
  for (const { apiGroups, apiVersions, resources } of rules) {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) continue;
    const whole = resources.filter((resource) => !/[*/]/.test(resource));
    let count = 0;
    for (const kind of namedKinds(apiGroups, apiVersions, whole, kinds)) {
      found.set(kindText(kind), kind);
      count += 1;
      // The rules after this one are not looked at either.
      if (count === MAX_KINDS) return sorted();
    }
  }
  return sorted();
}

function* namedKinds(
  groups: readonly string[],
  versions: readonly string[],
  resources: readonly string[],
  kinds: KindTypes,
): Generator<GroupVersionKind> {
  for (const group of [...groups].sort()) {
    for (const version of [...versions].sort()) {
      for (const resource of [...resources].sort()) yield* kinds.kindsOf(group, version, resource);
    }
  }
}

function byGroupVersionKind(a: GroupVersionKind, b: GroupVersionKind): number {
  return compare(a.group, b.group) || compare(a.version, b.version) || compare(a.kind, b.kind);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
