/**
 * `Type{field: value}`. Kubernetes' own types are declared without a way to make them; what can be made are the
 * messages of protocol buffers that stand for plain values.
 */
import type { Plan } from './plan.ts';
import { goText } from './libraries/go-value.ts';
import { messageValue } from './protobuf.ts';
import { CelError, Optional, type Value } from './values.ts';

const STRUCT_COST = 40;

export interface FieldPlan {
  readonly name: string;
  readonly value: Plan;
  readonly optional: boolean;
}

export function structPlan(typeName: string, fields: readonly FieldPlan[]): Plan {
  return {
    run: (frame) => {
      const made = new Map<string, Value>();
      let error: CelError | undefined;
      for (const { name, value: plan, optional } of fields) {
        const value = plan.run(frame);
        error = value instanceof CelError ? value : setField(made, name, value, optional);
        if (error !== undefined) break;
      }
      frame.charge(STRUCT_COST);
      return error ?? messageValue(typeName, made);
    },
  };
}

function setField(
  made: Map<string, Value>,
  name: string,
  value: Value,
  optional: boolean,
): CelError | undefined {
  if (!optional) {
    made.set(name, value);
    return undefined;
  }
  if (!(value instanceof Optional)) {
    return new CelError(
      `cannot initialize optional entry '${name}' from non-optional value ${goText(value)}`,
    );
  }
  if (value.value === undefined) made.delete(name);
  else made.set(name, value.value);
  return undefined;
}
