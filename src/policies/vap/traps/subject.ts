/** What traps look at: a policy with its bindings, and its expressions as the checker understands them. */
import { variableFieldType, variablesType } from '../../cel/admission-types.ts';
import type { Expr } from '../../cel/ast.ts';
import type { Cel } from '../../cel/cel.ts';
import { BOOL, NULL, STRING, type CelType } from '../../cel/cel-type.ts';
import type { Checked } from '../../cel/checker.ts';
import type { Environment, EnvironmentOptions } from '../../cel/environment.ts';
import type { Binding, Policy } from '../types.ts';

export type ExpressionRole = 'variable' | 'condition' | 'validation' | 'message' | 'annotation';

export interface SubjectExpression {
  readonly role: ExpressionRole;
  /** In its list; of a message, of its validation. */
  readonly index: number;
  /** `spec.validations[0].expression`. */
  readonly field: string;
  /** As it is compiled. */
  readonly source: string;
  /** What it may give; undefined: anything. */
  readonly returns: readonly CelType[] | undefined;
  readonly checked: (Checked & { readonly ok: true }) | undefined;
  /** Why it does not compile. */
  readonly failure: string | undefined;
}

export interface Subject {
  readonly policy: Policy;
  /** Of this policy, as far as they are given. */
  readonly bindings: readonly Binding[];
  readonly expressions: readonly SubjectExpression[];
  /** By name, of those that compile; of several with one name, the last (vap.md V12). */
  readonly variables: ReadonlyMap<string, Expr>;
}

const CONDITION: readonly CelType[] = [BOOL];
const MESSAGE: readonly CelType[] = [STRING];
const ANNOTATION: readonly CelType[] = [STRING, NULL];

interface Written {
  readonly role: ExpressionRole;
  readonly index: number;
  readonly field: string;
  readonly source: string;
  readonly returns: readonly CelType[] | undefined;
}

/** Every expression of a policy, variables first. */
export function expressionsOf(policy: Policy): readonly Written[] {
  const written: Written[] = [];
  const add = (
    role: ExpressionRole,
    [list, index, member]: readonly [list: string, index: number, member: string],
    source: string,
    returns?: readonly CelType[],
  ): void => {
    written.push({ role, index, field: `spec.${list}[${String(index)}].${member}`, source, returns });
  };
  for (const [index, { expression }] of policy.variables.entries())
    add('variable', ['variables', index, 'expression'], expression);
  for (const [index, { expression }] of policy.matchConditions.entries())
    add('condition', ['matchConditions', index, 'expression'], expression.trim(), CONDITION);
  for (const [index, { expression, messageExpression = '' }] of policy.validations.entries()) {
    add('validation', ['validations', index, 'expression'], expression, CONDITION);
    if (messageExpression === '') continue;
    add('message', ['validations', index, 'messageExpression'], messageExpression, MESSAGE);
  }
  for (const [index, { valueExpression }] of policy.auditAnnotations.entries())
    add('annotation', ['auditAnnotations', index, 'valueExpression'], valueExpression.trim(), ANNOTATION);
  return written;
}

/** Environments of one policy: of a version, with the variables that are declared so far. */
export class PolicyEnvironments {
  readonly #cel: Cel;
  readonly #options: EnvironmentOptions;
  readonly #fields = new Map<string, CelType>();
  #made = new Map<boolean, Environment>();

  constructor(cel: Cel, { paramKind }: Policy, version: Pick<EnvironmentOptions, 'minor' | 'mode'>) {
    this.#cel = cel;
    this.#options = { ...version, params: paramKind !== undefined, authorizer: true };
  }

  /** For an expression of this role, after the variables that were declared. */
  of(role: ExpressionRole): Environment {
    const authorizer = role !== 'message';
    let made = this.#made.get(authorizer);
    if (made === undefined) {
      const variables = new Map([['variables', variablesType(new Map(this.#fields))] as const]);
      made = this.#cel.environment({ ...this.#options, authorizer, variables });
      this.#made.set(authorizer, made);
    }
    return made;
  }

  declare(name: string, type: CelType | undefined): void {
    this.#fields.set(name, variableFieldType(type));
    this.#made = new Map();
  }
}

/** @param minor of the API server that is imitated */
export function subjectOf(policy: Policy, bindings: readonly Binding[], cel: Cel, minor: number): Subject {
  const environments = new PolicyEnvironments(cel, policy, { minor, mode: 'stored' });
  const variables = new Map<string, Expr>();
  const expressions = expressionsOf(policy).map((written): SubjectExpression => {
    const within = environments.of(written.role);
    const checked = cel.check(written.source, within);
    if (written.role === 'variable') {
      const name = policy.variables[written.index]?.name ?? '';
      environments.declare(name, checked.ok ? checked.type : undefined);
      if (checked.ok) variables.set(name, checked.ast.expr);
      else variables.delete(name);
    }
    return {
      role: written.role,
      index: written.index,
      field: written.field,
      source: written.source,
      returns: written.returns,
      checked: checked.ok ? checked : undefined,
      failure: checked.ok ? patternFailure(written.source, cel, within) : checked.error,
    };
  });
  const { name } = policy;
  return {
    policy,
    bindings: bindings.filter(({ policyName }) => policyName === name),
    expressions,
    variables,
  };
}

/** A pattern is looked at when the program is made. */
function patternFailure(source: string, cel: Cel, within: Environment): string | undefined {
  if (!/\b(?:matches|find|findAll)\b/.test(source)) return undefined;
  const compiled = cel.compile(source, within);
  return compiled.ok ? undefined : compiled.error;
}

/** Whether a binding of the policy denies, as one may that is not given. */
export function mayDeny({ bindings }: Pick<Subject, 'bindings'>): boolean {
  return (
    bindings.length === 0 || bindings.some(({ validationActions }) => validationActions.includes('Deny'))
  );
}
