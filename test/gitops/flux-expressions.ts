/** Health expressions of Flux, evaluated by our own engine in its order (delivery.md §4.1, operator.md §15.1). */
import { DYN, type CelType } from '../../src/policies/cel/cel-type.ts';
import { Cel } from '../../src/policies/cel/cel.ts';
import { Budget, type Program } from '../../src/policies/cel/program.ts';
import type { Value } from '../../src/policies/cel/values.ts';

export interface Expressions {
  readonly apiVersion: string;
  readonly kind: string;
  readonly failed: string;
  readonly current: string;
  readonly inProgress?: string;
}

const cel = new Cel();

function programOf(expression: string): Program {
  const variables = new Map<string, CelType>(
    ['apiVersion', 'kind', 'metadata', 'spec', 'status'].map((name) => [name, DYN]),
  );
  const environment = cel.environment({
    minor: 36,
    mode: 'stored',
    params: false,
    authorizer: false,
    variables,
  });
  const program = cel.compile(expression, environment, { returns: [{ kind: 'bool' }] });
  if (!program.ok) throw new Error(program.error);
  return program;
}

export type Health = 'Failed' | 'Current' | 'InProgress' | 'error';

export interface Judged {
  readonly metadata: { readonly generation: number };
  readonly status?: Readonly<Record<string, unknown>>;
}

/** In the order of Flux: the generation, then `failed`, then `current`; what errs is not yet healthy (operator.md §15.1). */
export function healthOf({ failed, current }: Expressions, pacto: Judged): Health {
  const seen = pacto.status?.['observedGeneration'];
  if (seen !== undefined && seen !== pacto.metadata.generation) return 'InProgress';
  const others = new Map(Object.entries(pacto) as [string, Value][]);
  const answers = [failed, current].map((expression) => {
    const evaluation = programOf(expression).evaluate({ others }, new Budget(10_000));
    return 'value' in evaluation ? evaluation.value : 'error';
  });
  if (answers[0] === 'error') return 'error';
  if (answers[0] === true) return 'Failed';
  if (answers[1] === 'error') return 'error';
  return answers[1] === true ? 'Current' : 'InProgress';
}
