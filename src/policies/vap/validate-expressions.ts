/** Write-time rules about the expressions of a policy (vap.md V03 to V05, V09, V10, V12, V16). */
import { variableFieldType, variablesType } from '../cel/admission-types.ts';
import type { Cel } from '../cel/cel.ts';
import { BOOL, NULL, STRING, type CelType } from '../cel/cel-type.ts';
import type { Environment } from '../cel/environment.ts';
import { internal, invalid, shownText, type FieldError } from './field-error.ts';
import type { Policy } from './types.ts';

const CONDITION: readonly CelType[] = [BOOL];
const MESSAGE: readonly CelType[] = [STRING];
const ANNOTATION: readonly CelType[] = [STRING, NULL];

/** The expressions of the object as it is stored: they may use everything that this API server knows (vap.md V16). */
interface Stored {
  readonly conditions: ReadonlySet<string>;
  readonly validations: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
  readonly annotations: ReadonlySet<string>;
}

type Role = keyof Stored;

/** One write of one policy: its variables become known one by one. */
export class ExpressionRules {
  readonly #cel: Cel;
  readonly #minor: number;
  readonly #policy: Policy;
  readonly #stored: Stored;
  /** Undefined where the policy has no variables: `variables` is not declared then. */
  readonly #fields: Map<string, CelType> | undefined;

  /**
   * @param minor of the API server
   * @param old the policy as it is stored, of an update
   */
  constructor(cel: Cel, minor: number, policy: Policy, old?: Policy) {
    this.#cel = cel;
    this.#minor = minor;
    this.#policy = policy;
    this.#stored = {
      conditions: new Set(old?.matchConditions.map(({ expression }) => expression)),
      validations: new Set(old?.validations.map(({ expression }) => expression)),
      messages: new Set(old?.validations.flatMap(({ messageExpression }) => messageExpression ?? [])),
      annotations: new Set(old?.auditAnnotations.map(({ valueExpression }) => valueExpression)),
    };
    this.#fields = policy.variables.length === 0 ? undefined : new Map<string, CelType>();
  }

  /** @param expression trimmed. Variables are not declared for it (vap.md V04). */
  condition(expression: string, field: string): FieldError[] {
    const within = this.#environment(this.#isStored('conditions', expression), true, false);
    return this.#errors(expression, expression, field, within, CONDITION);
  }

  /** Later variables and all other expressions but conditions may use it from here on. */
  variable(name: string, expression: string, field: string): FieldError[] {
    // The API server looks for it among the validations of the stored policy, not among its variables.
    const within = this.#environment(this.#isStored('validations', expression), true);
    const program = this.#cel.compile(expression, within);
    this.#fields?.set(name, variableFieldType(program.ok ? program.type : undefined));
    return program.ok ? [] : [refusal(program, expression, field)];
  }

  validation(expression: string, field: string): FieldError[] {
    const within = this.#environment(this.#isStored('validations', expression), true);
    return this.#errors(expression, expression, field, within, CONDITION);
  }

  message(expression: string, field: string): FieldError[] {
    const within = this.#environment(this.#isStored('messages', expression), false);
    return this.#errors(expression, expression, field, within, MESSAGE);
  }

  /** @param written as it stands; @param trimmed what is compiled */
  annotation(written: string, trimmed: string, field: string): FieldError[] {
    const within = this.#environment(this.#isStored('annotations', written), true);
    return this.#errors(trimmed, written, field, within, ANNOTATION);
  }

  #isStored(role: Role, expression: string): boolean {
    return this.#stored[role].has(expression);
  }

  #environment(stored: boolean, authorizer: boolean, composed = true): Environment {
    return this.#cel.environment({
      // What is new must also be known to the API server of the minor before (vap.md §2.10).
      minor: stored ? this.#minor : this.#minor - 1,
      mode: stored ? 'stored' : 'new',
      params: this.#policy.paramKind !== undefined,
      authorizer,
      ...(composed && this.#fields !== undefined
        ? { variables: new Map([['variables', variablesType(new Map(this.#fields))]]) }
        : {}),
    });
  }

  #errors(
    source: string,
    shown: string,
    field: string,
    within: Environment,
    returns: readonly CelType[],
  ): FieldError[] {
    const program = this.#cel.compile(source, within, { returns });
    return program.ok ? [] : [refusal(program, shown, field)];
  }
}

function refusal(
  { phase, error }: { readonly phase: string; readonly error: string },
  expression: string,
  field: string,
): FieldError {
  return phase === 'program' || phase === 'panic'
    ? internal(field, error)
    : invalid(field, shownText(expression), error);
}
