/** Where names are read from: variables of the environment, of macros, and the names of types. */
import type { Activation } from './activation.ts';
import type { NamedConstant } from './environment.ts';
import { PlanFailure, type Run } from './plan.ts';
import { CelError, TypeValue, type Value, intOf } from './values.ts';

/** A variable of a macro. */
export function slotRun(slot: number): Run {
  return (frame) => frame.locals[slot] as Value;
}

function rootOf(name: string): (activation: Activation) => Value | undefined {
  switch (name) {
    case 'object':
      return (activation) => activation.object;
    case 'oldObject':
      return (activation) => activation.oldObject;
    case 'params':
      return (activation) => activation.params;
    case 'request':
      return (activation) => activation.request;
    case 'namespaceObject':
      return (activation) => activation.namespaceObject;
    case 'authorizer':
      return (activation) => activation.authorizer;
    case 'authorizer.requestResource':
      return (activation) => activation.requestResource;
    case 'variables':
      return (activation) => activation.variables;
    default:
      return (activation) => activation.others?.get(name);
  }
}

/** A variable of the environment; reading what is not bound is an error. */
export function variableRun(name: string): Run {
  const root = rootOf(name);
  const missing = new CelError(`no such attribute(s): ${name}`);
  return ({ activation }) => {
    const value = root(activation);
    return value === undefined ? missing : value;
  };
}

export function constantValue(name: string, constant: NamedConstant): Value {
  if (constant.kind === 'int') return intOf(constant.value);
  if (!constant.registered) throw new PlanFailure('program', `reference to undefined type: ${name}`);
  return new TypeValue(name);
}
