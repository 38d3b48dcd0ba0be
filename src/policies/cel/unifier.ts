/**
 * Which static types go together (cel-go checker/types.go). Type variables are bound in place and unbound again where
 * an attempt fails, so that trying the overloads of a function copies nothing.
 */
import type { CelType } from './cel-type.ts';
import { DYN, listOf, mapOf, optionalOf } from './cel-type.ts';

/** A type parameter of one use of an overload, or of an empty literal. */
interface TypeVariable {
  readonly kind: 'param';
  readonly name: string;
  readonly index: number;
}

function isVariable(type: CelType): type is TypeVariable {
  return type.kind === 'param' && 'index' in type;
}

export function isDyn(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'any';
}

export function isDynOrError(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'error' || type.kind === 'any';
}

/** Equality; a wrapper is as its type. */
export function isExactType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind === 'wrapper') return isExactType(a.of, b);
  if (b.kind === 'wrapper') return isExactType(a, b.of);
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'list':
      return b.kind === 'list' && isExactType(a.element, b.element);
    case 'map':
      return b.kind === 'map' && isExactType(a.key, b.key) && isExactType(a.value, b.value);
    case 'optional':
      return b.kind === 'optional' && isExactType(a.value, b.value);
    case 'type':
      return b.kind === 'type' && isSameOf(a.of, b.of);
    default:
      return !('name' in a) || !('name' in b) || a.name === b.name;
  }
}

function isSameOf(a: CelType | undefined, b: CelType | undefined): boolean {
  return a === undefined || b === undefined ? a === b : isExactType(a, b);
}

export class Unifier {
  readonly #bindings: (CelType | undefined)[] = [];
  /** Variables bound since the attempt began, with what they were bound to before. */
  readonly #trail: { readonly index: number; readonly before: CelType | undefined }[] = [];

  newVariable(): CelType {
    const index = this.#bindings.length;
    this.#bindings.push(undefined);
    const variable: TypeVariable = { kind: 'param', name: `_var${index}`, index };
    return variable;
  }

  isAssignable(a: CelType, b: CelType): boolean {
    if (this.#assignable(a, b)) return this.#keep(true);
    return this.#keep(false);
  }

  areAssignable(given: readonly CelType[], wanted: readonly CelType[]): boolean {
    if (given.length !== wanted.length) return false;
    for (let i = 0; i < given.length; i++) {
      if (!this.#assignable(given[i] ?? DYN, wanted[i] ?? DYN)) return this.#keep(false);
    }
    return this.#keep(true);
  }

  /** With every variable replaced by what it is bound to; free ones stay, or become dyn. */
  substitute(type: CelType, freeToDyn: boolean): CelType {
    switch (type.kind) {
      case 'param': {
        const bound = isVariable(type) ? this.#bindings[type.index] : undefined;
        if (bound !== undefined) return this.substitute(bound, freeToDyn);
        return freeToDyn ? DYN : type;
      }
      case 'list': {
        const element = this.substitute(type.element, freeToDyn);
        return element === type.element ? type : listOf(element);
      }
      case 'map': {
        const key = this.substitute(type.key, freeToDyn);
        const value = this.substitute(type.value, freeToDyn);
        return key === type.key && value === type.value ? type : mapOf(key, value);
      }
      case 'optional': {
        const value = this.substitute(type.value, freeToDyn);
        return value === type.value ? type : optionalOf(value);
      }
      case 'type': {
        if (type.of === undefined) return type;
        const of = this.substitute(type.of, freeToDyn);
        return of === type.of ? type : { kind: 'type', of };
      }
      default:
        return type;
    }
  }

  /** The one of two types that go together which says less. */
  mostGeneral(a: CelType, b: CelType): CelType {
    return isEqualOrLessSpecific(a, b) ? a : b;
  }

  #keep(success: boolean): boolean {
    if (!success) {
      for (let entry = this.#trail.pop(); entry !== undefined; entry = this.#trail.pop()) {
        this.#bindings[entry.index] = entry.before;
      }
    }
    this.#trail.length = 0;
    return success;
  }

  #bind(variable: TypeVariable, type: CelType): void {
    this.#trail.push({ index: variable.index, before: this.#bindings[variable.index] });
    this.#bindings[variable.index] = type;
  }

  #assignable(a: CelType, b: CelType): boolean {
    if (isVariable(b)) {
      const outcome = this.#substitutes(a, b);
      if (outcome !== 'free') return outcome === 'yes';
    }
    if (isVariable(a)) return this.#substitutes(b, a) === 'yes';
    if (isDynOrError(a) || isDynOrError(b)) return true;
    if (a.kind === 'null') return isNullable(b);
    if (b.kind === 'null') return isNullable(a);
    switch (a.kind) {
      case 'list':
        return b.kind === 'list' && this.#assignable(a.element, b.element);
      case 'map':
        return b.kind === 'map' && this.#assignable(a.key, b.key) && this.#assignable(a.value, b.value);
      case 'optional':
        return b.kind === 'optional' && this.#assignable(a.value, b.value);
      case 'type':
        return b.kind === 'type';
      case 'param':
        return false;
      default:
        return isExactType(a, b);
    }
  }

  /** @returns `free` where the variable is not bound and must not be bound to this type. */
  #substitutes(type: CelType, variable: TypeVariable): 'yes' | 'no' | 'free' {
    if (isVariable(type) && type.index === variable.index) return 'yes';
    const bound = this.#bindings[variable.index];
    if (bound === undefined) {
      if (!this.#isFreeIn(variable, type)) return 'free';
      this.#bind(variable, type);
      return 'yes';
    }
    if (isExactType(type, bound)) return 'yes';
    if (!this.#assignable(type, bound)) return 'no';
    const general = this.mostGeneral(type, bound);
    if (this.#isFreeIn(variable, general)) this.#bind(variable, general);
    return 'yes';
  }

  /** Whether a variable does not occur in a type: it may be bound to it. */
  #isFreeIn(variable: TypeVariable, type: CelType): boolean {
    switch (type.kind) {
      case 'param': {
        if (!isVariable(type)) return true;
        if (type.index === variable.index) return false;
        const bound = this.#bindings[type.index];
        return bound === undefined || this.#isFreeIn(variable, bound);
      }
      case 'list':
        return this.#isFreeIn(variable, type.element);
      case 'map':
        return this.#isFreeIn(variable, type.key) && this.#isFreeIn(variable, type.value);
      case 'optional':
        return this.#isFreeIn(variable, type.value);
      case 'type':
        return type.of === undefined || this.#isFreeIn(variable, type.of);
      default:
        return true;
    }
  }
}

function isEqualOrLessSpecific(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'param') return true;
  if (isDyn(b) || b.kind === 'param') return false;
  switch (a.kind) {
    case 'list':
      return b.kind === 'list' && isEqualOrLessSpecific(a.element, b.element);
    case 'map':
      return (
        b.kind === 'map' && isEqualOrLessSpecific(a.key, b.key) && isEqualOrLessSpecific(a.value, b.value)
      );
    case 'optional':
      return b.kind === 'optional' && isEqualOrLessSpecific(a.value, b.value);
    case 'type':
      return b.kind === 'type';
    default:
      return isExactType(a, b);
  }
}

/** What null may stand for. */
function isNullable(type: CelType): boolean {
  switch (type.kind) {
    case 'null':
    case 'wrapper':
    case 'optional':
    case 'opaque':
    case 'struct':
    case 'any':
    case 'duration':
    case 'timestamp':
      return true;
    default:
      return false;
  }
}
