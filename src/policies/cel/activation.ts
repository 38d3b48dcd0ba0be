/** What an expression may read, and the variables of a policy, which are evaluated when they are first read. */
import type { Program } from './program.ts';
import { CelError, Opaque, type Value } from './values.ts';

/** Undefined means declared but not bound: reading it is `no such attribute(s): <name>`. */
export interface Activation {
  readonly object?: Value;
  readonly oldObject?: Value;
  readonly params?: Value;
  readonly request?: Value;
  readonly namespaceObject?: Value;
  readonly authorizer?: Value;
  readonly requestResource?: Value;
  readonly variables?: VariableScope;
  /** Of other environments, by name. */
  readonly others?: ReadonlyMap<string, Value>;
  /** Asked now and then within macros; true cancels the evaluation. */
  readonly interrupted?: () => boolean;
}

/** A variable of a policy: its program, or why it has none. */
export interface CompiledVariable {
  readonly name: string;
  readonly program: Program | { readonly ok: false; readonly error: string };
}

/**
 * The variables of one phase of one policy (vap.md L01 to L03): each is evaluated once, when it is first read, under
 * a limit of its own. What that costs is charged to the budget of the expression that read it, not to its limit.
 */
export class VariableScope extends Opaque {
  override readonly typeName = 'kubernetes.variables';
  readonly #variables: ReadonlyMap<string, CompiledVariable>;
  readonly #values = new Map<string, Value>();
  /** Being evaluated: a variable whose name is declared twice may read itself. */
  readonly #open = new Set<string>();
  readonly #activation: Activation;
  #cost = 0;

  /** @param activation what the variables may read; the scope puts itself in as their `variables`. */
  constructor(variables: readonly CompiledVariable[], activation: Activation) {
    super();
    // Of variables with the same name the last one counts (vap.md V12).
    this.#variables = new Map(variables.map((variable) => [variable.name, variable]));
    this.#activation = { ...activation, variables: this };
  }

  /** The activation for the expressions that use these variables. */
  get activation(): Activation {
    return this.#activation;
  }

  /** Of all variables, in the order of their declaration. */
  names(): Iterable<string> {
    return this.#variables.keys();
  }

  /** @returns undefined where there is no such variable. */
  get(name: string): Value | undefined {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const variable = this.#variables.get(name);
    if (variable === undefined) return undefined;
    const value = this.#evaluate(variable);
    this.#values.set(name, value);
    return value;
  }

  #evaluate({ name, program }: CompiledVariable): Value {
    if (!program.ok) {
      return new CelError(`composited variable ${JSON.stringify(name)} fails to compile: ${program.error}`);
    }
    if (this.#open.has(name)) return failedVariable(name, 'it reads itself');
    this.#open.add(name);
    try {
      const { value, cost } = program.run(this.#activation);
      this.#cost += cost;
      return value instanceof CelError ? failedVariable(name, value.message) : value;
    } finally {
      this.#open.delete(name);
    }
  }

  /** What the variables cost since this was asked last. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  override equals(other: Value): boolean | undefined {
    return other instanceof VariableScope ? other === this : undefined;
  }
}

function failedVariable(name: string, reason: string): CelError {
  return new CelError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${reason}`);
}
