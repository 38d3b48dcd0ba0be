/** The expressions of a policy as programs, in the environments that the API server compiles them in. */
import type { CompiledVariable } from '../cel/activation.ts';
import { variableFieldType, variablesType } from '../cel/admission-types.ts';
import type { Cel, CompileFailure } from '../cel/cel.ts';
import { BOOL, NULL, STRING, type CelType } from '../cel/cel-type.ts';
import type { Environment } from '../cel/environment.ts';
import type { Program } from '../cel/program.ts';
import { typeString } from '../cel/type-format.ts';
import type { Policy } from './types.ts';

export interface CompiledExpression {
  /** As written: error texts quote it so. */
  readonly source: string;
  readonly program: Program | CompileFailure;
}

export interface CompiledPolicy {
  readonly policy: Policy;
  readonly variables: readonly CompiledVariable[];
  readonly conditions: readonly CompiledExpression[];
  readonly validations: readonly CompiledExpression[];
  /** One for each validation; undefined where it has no messageExpression. */
  readonly messages: readonly (CompiledExpression | undefined)[];
  readonly annotations: readonly CompiledExpression[];
}

/** An expression that does not compile: the rest of its policy is enforced all the same. */
export interface CompileProblem {
  readonly policy: string;
  /** Such as `spec.validations[0].expression`. */
  readonly field: string;
  /** Of several lines. */
  readonly error: string;
}

/** What an expression may give (vap.md V09, V10). */
const CONDITION: readonly CelType[] = [BOOL];
const MESSAGE: readonly CelType[] = [STRING];
const ANNOTATION: readonly CelType[] = [STRING, NULL];

/** Takes all steps at once. */
export function runSteps<T>(steps: Generator<void, T>): T {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
  }
}

/** Which variables are declared in a policy, and with which types. */
interface Declarations {
  readonly params: boolean;
  readonly fields: ReadonlyMap<string, CelType>;
  /** Environments with the same signature are the same. */
  readonly signature: string;
}

/** Compiles policies; what is written in the same words in the same environment is compiled once. */
export class PolicyCompiler {
  readonly #cel: Cel;
  readonly #minor: number;
  /** What an earlier compiler made; what is not used again is forgotten. */
  #earlier: ReadonlyMap<string, Program | CompileFailure>;
  readonly #programs = new Map<string, Program | CompileFailure>();
  readonly #environments = new Map<string, Environment>();

  /** @param minor of the compatibility version (design decision 21) */
  constructor(cel: Cel, minor: number, earlier: ReadonlyMap<string, Program | CompileFailure> = new Map()) {
    this.#cel = cel;
    this.#minor = minor;
    this.#earlier = earlier;
  }

  /** For the compiler that comes after this one. */
  get programs(): ReadonlyMap<string, Program | CompileFailure> {
    return this.#programs;
  }

  /** Nothing is compiled after the last policy: what only an earlier compiler had can go. */
  finish(): void {
    this.#earlier = new Map();
  }

  compile(policy: Policy): CompiledPolicy {
    return runSteps(this.steps(policy));
  }

  /** A step is an expression: whoever takes them lets others work in between. */
  *steps(policy: Policy): Generator<void, CompiledPolicy> {
    const params = policy.paramKind !== undefined;
    const fields = new Map<string, CelType>();
    const variables: CompiledVariable[] = [];
    for (const { name, expression } of policy.variables) {
      const program = this.#program(expression, declarations(params, fields), true);
      fields.set(name, variableFieldType(program.ok ? program.type : undefined));
      variables.push({ name, program });
      yield;
    }
    const declared = declarations(params, fields);
    const { matchConditions, validations, auditAnnotations } = policy;
    const conditions = yield* this.#all(
      matchConditions.map(({ expression }) => expression),
      { declared, returns: CONDITION },
    );
    const conclusions = yield* this.#all(
      validations.map(({ expression }) => expression),
      { declared, returns: CONDITION },
    );
    const messages: (CompiledExpression | undefined)[] = [];
    for (const { messageExpression: source = '' } of validations) {
      // A message may not ask the authorizer (vap.md V05).
      const program = source === '' ? undefined : this.#program(source, declared, false, MESSAGE);
      messages.push(program === undefined ? undefined : { source, program });
      if (program !== undefined) yield;
    }
    const annotations = yield* this.#all(
      auditAnnotations.map(({ valueExpression }) => valueExpression),
      { declared, returns: ANNOTATION },
    );
    return { policy, variables, conditions, validations: conclusions, messages, annotations };
  }

  *#all(
    sources: readonly string[],
    { declared, returns }: { readonly declared: Declarations; readonly returns: readonly CelType[] },
  ): Generator<void, CompiledExpression[]> {
    const compiled: CompiledExpression[] = [];
    for (const source of sources) {
      compiled.push({ source, program: this.#program(source, declared, true, returns) });
      yield;
    }
    return compiled;
  }

  #program(
    source: string,
    declared: Declarations,
    authorizer: boolean,
    returns?: readonly CelType[],
  ): Program | CompileFailure {
    const key = `${String(this.#minor)} ${String(authorizer)} ${declared.signature}\n${(returns ?? []).map(typeString).join()}\n${source}`;
    let program = this.#programs.get(key);
    if (program === undefined) {
      program = this.#earlier.get(key) ?? this.#compile(source, declared, authorizer, returns);
      this.#programs.set(key, program);
    }
    return program;
  }

  #compile(
    source: string,
    declared: Declarations,
    authorizer: boolean,
    returns?: readonly CelType[],
  ): Program | CompileFailure {
    const within = this.#environment(declared, authorizer);
    return this.#cel.compile(source, within, returns === undefined ? {} : { returns });
  }

  #environment({ params, fields, signature }: Declarations, authorizer: boolean): Environment {
    const key = `${String(authorizer)} ${signature}`;
    let environment = this.#environments.get(key);
    if (environment === undefined) {
      environment = this.#cel.environment({
        minor: this.#minor,
        mode: 'stored',
        params,
        authorizer,
        variables: new Map([['variables', variablesType(fields)]]),
      });
      this.#environments.set(key, environment);
    }
    return environment;
  }
}

function declarations(params: boolean, fields: ReadonlyMap<string, CelType>): Declarations {
  const types = [...fields].map(([name, type]) => `${name}: ${typeString(type)}`);
  return { params, fields: new Map(fields), signature: `${String(params)} ${types.join()}` };
}

/** Everything in a policy that does not compile. */
export function problemsOf(compiled: CompiledPolicy): CompileProblem[] {
  const { policy, variables, conditions, validations, messages, annotations } = compiled;
  const lists: readonly [
    list: string,
    member: string,
    (CompiledExpression | CompiledVariable | undefined)[],
  ][] = [
    ['variables', 'expression', [...variables]],
    ['matchConditions', 'expression', [...conditions]],
    ['validations', 'expression', [...validations]],
    ['validations', 'messageExpression', [...messages]],
    ['auditAnnotations', 'valueExpression', [...annotations]],
  ];
  return lists.flatMap(([list, member, expressions]) =>
    expressions.flatMap((expression, index) =>
      expression === undefined || expression.program.ok
        ? []
        : [
            {
              policy: policy.name,
              field: `spec.${list}[${String(index)}].${member}`,
              error: expression.program.error,
            },
          ],
    ),
  );
}
