/** The door of the room: compiles expressions as the API server does (README.md shows how it is used). */
import { VariableScope, type Activation, type CompiledVariable } from './activation.ts';
import { variableFieldType, variablesType } from './admission-types.ts';
import type { CelType } from './cel-type.ts';
import { check as checkTypes, type Checked } from './checker.ts';
import {
  catalogue,
  environment,
  type Catalogue,
  type Environment,
  type EnvironmentOptions,
} from './environment.ts';
import { estimateCost } from './estimate.ts';
import type { Range } from './estimate-range.ts';
import { allLibraries } from './libraries/all.ts';
import type { Library } from './library.ts';
import { parse } from './parser.ts';
import { PlanFailure } from './plan.ts';
import { planExpression } from './planner.ts';
import { Program } from './program.ts';
import { describeErrors, type ErrorLog, type SourceText } from './source-error.ts';
import { typeString } from './type-format.ts';
import { validate } from './validators.ts';

/** Why an expression is refused. */
export interface CompileFailure {
  readonly ok: false;
  /**
   * `syntax`: it is no expression. `check`: its names, types or literals do not fit. `program`: a constant in it
   * fails. `returnType`: it gives something else than it may. `panic`: compiling it panics in the API server.
   */
  readonly phase: 'syntax' | 'check' | 'program' | 'returnType' | 'panic';
  /** As the API server says it, without `compilation error: `; several lines. */
  readonly error: string;
}

export interface CompileOptions {
  /** What the expression may give, exactly; undefined: anything. */
  readonly returns?: readonly CelType[];
}

/** A variable of a policy, as it is written. */
export interface VariableSource {
  readonly name: string;
  readonly expression: string;
}

export interface CompiledVariables {
  /** With `variables` declared. */
  readonly environment: Environment;
  /** In the order of their declaration; a variable that does not compile fails where it is used. */
  readonly variables: readonly CompiledVariable[];
}

/** The engine. What it keeps is compiled patterns and tables of functions, so one for a process is enough. */
export class Cel {
  readonly #libraries: readonly Library[] = allLibraries();
  readonly #catalogues = new Map<string, Catalogue>();

  /** What an expression may use. */
  environment(options: EnvironmentOptions): Environment {
    const key = `${options.mode} ${String(options.minor)}`;
    let known = this.#catalogues.get(key);
    if (known === undefined) {
      known = catalogue(this.#libraries, options);
      this.#catalogues.set(key, known);
    }
    return environment(known, options);
  }

  /** Parses and checks, without making a program. */
  check(source: string, within: Environment): (Checked & { readonly ok: true }) | CompileFailure {
    const parsed = parse(source, within.syntax);
    if ('errors' in parsed) return failed(parsed.phase, parsed.source, parsed.errors);
    const checked = checkTypes(parsed.ast, within);
    if ('errors' in checked) return failed('check', parsed.source, checked.errors);
    const { errors, panic } = validate(checked, within.literalValidators);
    if (panic !== undefined) return { ok: false, phase: 'panic', error: panic };
    return errors.total > 0 ? failed('check', parsed.source, errors) : { ...checked, ok: true };
  }

  /** What the expression costs at least and at most, whatever it is evaluated on; 2^64 - 1 is no bound. */
  estimate(source: string, within: Environment): (Range & { readonly ok: true }) | CompileFailure {
    const checked = this.check(source, within);
    return checked.ok ? { ...estimateCost(checked), ok: true } : checked;
  }

  compile(source: string, within: Environment, options: CompileOptions = {}): Program | CompileFailure {
    const checked = this.check(source, within);
    if (!checked.ok) return checked;
    const refusal = returnRefusal(checked.type, options.returns);
    if (refusal !== undefined) return { ok: false, phase: 'returnType', error: refusal };
    try {
      return new Program(source, checked.type, planExpression(checked, within));
    } catch (thrown) {
      if (!(thrown instanceof PlanFailure)) throw thrown;
      const { phase, message } = thrown;
      const error = phase === 'program' ? `program instantiation failed: ${message}` : message;
      return { ok: false, phase, error };
    }
  }

  /** Compiles the variables of a policy: each may use those before it (vap.md L04, L05). */
  compileVariables(sources: readonly VariableSource[], options: EnvironmentOptions): CompiledVariables {
    const fields = new Map<string, CelType>();
    const declared = (): Environment =>
      this.environment({
        ...options,
        variables: new Map([
          ...(options.variables ?? []),
          ['variables', variablesType(new Map(fields))] as const,
        ]),
      });
    const variables: CompiledVariable[] = [];
    for (const { name, expression } of sources) {
      const program = this.compile(expression, declared());
      fields.set(name, variableFieldType(program.ok ? program.type : undefined));
      variables.push({ name, program });
    }
    return { environment: declared(), variables };
  }
}

/** The activation of one phase of a policy with variables: they are evaluated once in it, when first read. */
export function withVariables(activation: Activation, variables: readonly CompiledVariable[]): Activation {
  return new VariableScope(variables, activation).activation;
}

function failed(phase: 'syntax' | 'check', source: SourceText, errors: ErrorLog): CompileFailure {
  return { ok: false, phase, error: `compilation failed: ${describeErrors(source, errors)}` };
}

function returnRefusal(type: CelType, returns: readonly CelType[] | undefined): string | undefined {
  if (returns === undefined) return undefined;
  const names = returns.map(typeString);
  const given = typeString(type);
  if (names.includes(given)) return undefined;
  const wanted = names.length === 1 ? (names[0] ?? '') : `one of [${names.join(' ')}]`;
  return `must evaluate to ${wanted} but got ${given}`;
}
