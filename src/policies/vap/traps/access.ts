/** What expressions stand for in one kind of request: places in its objects, and values that are the same in all. */
import type { Expr, MacroNode } from '../../cel/ast.ts';
import { print } from '../../cel/printer.ts';
import { elementsOf } from './elements.ts';
import {
  keyOf,
  OUTSIDE,
  type Access,
  type Constant,
  type Elements,
  type Key,
  type Places,
  type Scope,
} from './places.ts';
import type { Effort } from './effort.ts';
import { anyOf, EMPTY, NOWHERE, type ObjectPresence, type Place, type Presence } from './presence.ts';
import { paramsKindOf, type Scene } from './scenes.ts';
import type { Subject } from './subject.ts';
import { identName, variableName } from './walk-expression.ts';

/** One kind of request, with the variables of a policy. */
export class Resolver implements Places {
  readonly presence: ObjectPresence;
  readonly scene: Scene;
  readonly #params: Place;
  readonly #variables: ReadonlyMap<string, Expr>;
  readonly #effort: Effort;
  /** What was found out about variables, by what was asked. */
  readonly #known = new Map<string, unknown>();

  constructor(presence: ObjectPresence, scene: Scene, { policy, variables }: Subject, effort: Effort) {
    this.#effort = effort;
    this.presence = presence;
    this.scene = scene;
    this.#params = presence.params(policy.paramKind && paramsKindOf(policy.paramKind));
    this.#variables = variables;
  }

  variable(name: string): Expr | undefined {
    return this.#variables.get(name);
  }

  inVariable<T>(expr: Expr, question: string, run: (inner: Expr) => T): T | undefined {
    const name = variableName(expr);
    const inner = name === undefined ? undefined : this.#variables.get(name);
    if (inner === undefined) return undefined;
    const key = `${question} ${name ?? ''}`;
    if (!this.#known.has(key)) {
      // Until it is known, so that one that reads itself comes to an end.
      this.#known.set(key, undefined);
      this.#known.set(key, run(inner));
    }
    return this.#known.get(key) as T | undefined;
  }

  /** @returns undefined for what is no place in an object */
  access(expr: Expr, scope: Scope): Access | undefined {
    if (!this.#effort.spend()) return undefined;
    switch (expr.kind) {
      case 'ident':
        return this.#root(identName(expr) ?? '', scope);
      case 'select': {
        if (expr.test) return undefined;
        const inner = this.inVariable(expr, 'access', (body) => this.access(body, OUTSIDE));
        if (inner !== undefined || variableName(expr) !== undefined) return inner;
        const base = this.access(expr.operand, scope);
        return base && this.#field(base, expr.field);
      }
      case 'call':
        return this.#callAccess(expr, scope);
      default:
        return undefined;
    }
  }

  #callAccess(expr: Expr & { readonly kind: 'call' }, scope: Scope): Access | undefined {
    const [first, second, third] = expr.args;
    if (first === undefined) return undefined;
    if (expr.target !== undefined) {
      return expr.function === 'orValue' ? this.#orValue(expr.target, first, expr, scope) : undefined;
    }
    if (expr.function === 'dyn') return this.access(first, scope);
    if (expr.function === '_?_:_' && second !== undefined && third !== undefined) {
      const value = this.constant(first, scope);
      return typeof value === 'boolean'
        ? this.access(value ? second : third, scope)
        : this.#oneOf([second, third], expr, scope);
    }
    if ((expr.function !== '_[_]' && expr.function !== '_[?_]') || second === undefined) return undefined;
    const base = this.access(first, scope);
    return base && this.member(base, second, scope);
  }

  #orValue(target: Expr, fallback: Expr, expr: Expr, scope: Scope): Access | undefined {
    const access = this.access(target, scope);
    if (access === undefined) return undefined;
    // What `{}` lacks is there only if the optional is.
    return isEmptyMap(fallback)
      ? { ...access, place: anyOf([access.place, EMPTY]), presence: 'always' }
      : this.#oneOf([target, fallback], expr, scope);
  }

  #oneOf(exprs: readonly Expr[], of: Expr, scope: Scope): Access | undefined {
    const places = exprs.flatMap((one) => {
      const place = isEmptyMap(one) ? EMPTY : this.access(one, scope)?.place;
      return place === undefined ? [] : [place];
    });
    if (places.length < exprs.length) return undefined;
    return { key: keyOf(of, scope), place: anyOf(places), presence: 'always', isReached: true };
  }

  /** `base[index]`. */
  member(base: Access, index: Expr, scope: Scope): Access {
    const value = this.constant(index, scope);
    if (typeof value === 'string') return this.#field(base, value);
    const isMap = this.presence.isMap(base.place);
    return {
      key: `${base.key}[${this.#indexKey(index, scope)}]`,
      place: this.presence.element(base.place),
      presence: isMap ? 'optional' : 'unknown',
      isReached: base.isReached && base.presence === 'always',
    };
  }

  #indexKey(index: Expr, scope: Scope): string {
    const name = identName(index);
    const local = name === undefined ? undefined : scope.get(name);
    if (local?.is === 'key') return local.key;
    return this.access(index, scope)?.key ?? print(index);
  }

  #root(name: string, scope: Scope): Access | undefined {
    const local = scope.get(name);
    const always = { presence: 'always', isReached: true } as const;
    if (local !== undefined)
      return local.is === 'element' ? { key: local.key, place: local.place, ...always } : undefined;
    switch (name) {
      case 'object':
      case 'oldObject':
        return { key: name, place: this.presence.root(this.scene.kind), ...always };
      case 'namespaceObject':
        return { key: name, place: this.presence.namespace(), ...always };
      case 'request':
        return { key: name, place: NOWHERE, ...always };
      case 'params':
        // They are null where a binding names none.
        return { key: name, place: this.#params, presence: 'unknown', isReached: true };
      default:
        return undefined;
    }
  }

  #field(base: Access, field: string): Access {
    const { presence, place } = this.presence.field(base.place, field);
    return {
      key: `${base.key}.${field}`,
      place,
      presence: requestPresence(base.key, field, this.scene) ?? presence,
      isReached: base.isReached && base.presence === 'always',
    };
  }

  /** What a macro over this expression goes through. */
  elements(range: Expr, scope: Scope): Elements {
    return elementsOf(this, range, scope);
  }

  /** @returns what the expression gives in every request of this kind; undefined where that is not known */
  constant(expr: Expr, scope: Scope): Constant | undefined {
    if (!this.#effort.spend()) return undefined;
    switch (expr.kind) {
      case 'literal': {
        const { literal } = expr;
        if (literal.type === 'null') return null;
        return literal.type === 'string' || literal.type === 'bool' || literal.type === 'int'
          ? literal.value
          : undefined;
      }
      case 'ident': {
        const local = scope.get(identName(expr) ?? '');
        if (local !== undefined) return local.is === 'constant' ? local.value : undefined;
        return this.isNull(expr, scope) ? null : undefined;
      }
      case 'select':
        return this.#selectConstant(expr, scope);
      case 'call':
        return expr.target === undefined
          ? this.#callConstant(expr, scope)
          : this.#memberConstant(expr, scope);
      case 'macro':
        return this.#macroConstant(expr, scope);
      default:
        return undefined;
    }
  }

  /** Of `object` and `oldObject` themselves (vap.md D07). */
  isNull(expr: Expr, scope: Scope): boolean {
    const name = identName(expr) ?? '';
    if (scope.has(name)) return false;
    const { operation } = this.scene;
    if (name === 'object') return operation === 'DELETE';
    return name === 'oldObject' && (operation === 'CREATE' || operation === 'CONNECT');
  }

  #selectConstant(expr: Expr & { readonly kind: 'select' }, scope: Scope): Constant | undefined {
    const inner = this.inVariable(expr, 'constant', (body) => this.constant(body, OUTSIDE));
    if (inner !== undefined) return inner;
    if (expr.test) return this.#has(expr.operand, (base) => this.#field(base, expr.field), scope);
    const access = this.access(expr, scope);
    if (access === undefined || this.isNull(rootOf(expr), scope)) return undefined;
    return this.#sceneValue(access.key);
  }

  #has(operand: Expr, field: (base: Access) => Access, scope: Scope): boolean | undefined {
    // Of null, nothing is there, and that is no error.
    if (this.isNull(operand, scope)) return false;
    const base = this.access(operand, scope);
    if (base === undefined || !base.isReached || base.presence !== 'always') return undefined;
    if (this.isNull(rootOf(operand), scope)) return undefined;
    const { presence } = field(base);
    if (presence === 'always') return true;
    return presence === 'never' ? false : undefined;
  }

  #sceneValue(key: Key): Constant | undefined {
    const { kind, operation, resource, subresource } = this.scene;
    switch (key) {
      case 'request.operation':
        return operation;
      case 'request.resource.resource':
        return resource;
      case 'request.subResource':
        return subresource === '' ? undefined : subresource;
      case 'object.kind':
      case 'oldObject.kind':
      case 'request.kind.kind':
        return kind?.kind;
      case 'object.apiVersion':
      case 'oldObject.apiVersion':
        return kind && (kind.group === '' ? kind.version : `${kind.group}/${kind.version}`);
      case 'request.kind.group':
      case 'request.resource.group':
        return kind?.group;
      case 'request.kind.version':
        return kind?.version;
      default:
        return undefined;
    }
  }

  #callConstant(expr: Expr & { readonly kind: 'call' }, scope: Scope): Constant | undefined {
    const [first, second, third] = expr.args;
    if (first === undefined) return undefined;
    const value = (of: Expr): Constant | undefined => this.constant(of, scope);
    switch (expr.function) {
      case '_&&_':
      case '_||_': {
        const settling = expr.function === '_||_';
        const values = expr.args.map(value);
        if (values.includes(settling)) return settling;
        return values.every((one) => one === !settling) ? !settling : undefined;
      }
      case '!_': {
        const given = value(first);
        return typeof given === 'boolean' ? !given : undefined;
      }
      case '_?_:_': {
        const condition = value(first);
        if (typeof condition !== 'boolean' || second === undefined || third === undefined) return undefined;
        return value(condition ? second : third);
      }
      case '_==_':
      case '_!=_':
        return second && this.#equality(expr.function === '_==_', first, second, scope);
      case '@in':
        return second && this.#within(first, second, scope);
      case 'dyn':
        return value(first);
      default:
        return undefined;
    }
  }

  #equality(isEqual: boolean, a: Expr, b: Expr, scope: Scope): boolean | undefined {
    const [left, right] = [this.constant(a, scope), this.constant(b, scope)];
    if (left !== undefined && right !== undefined) return (left === right) === isEqual;
    // `object == null` where there is one.
    const other = left === null ? b : right === null ? a : undefined;
    const name = other === undefined ? undefined : identName(other);
    if (name === undefined || scope.has(name)) return undefined;
    const isObject = (name === 'object' || name === 'oldObject') && this.scene.operation !== 'CONNECT';
    return isObject ? !isEqual : undefined;
  }

  #within(value: Expr, container: Expr, scope: Scope): boolean | undefined {
    const wanted = this.constant(value, scope);
    if (wanted === undefined) return undefined;
    const { constants } = this.elements(container, scope);
    if (constants !== undefined) return constants.includes(wanted);
    if (typeof wanted !== 'string') return undefined;
    return this.#has(container, (base) => this.#field(base, wanted), scope);
  }

  #memberConstant(expr: Expr & { readonly kind: 'call' }, scope: Scope): boolean | undefined {
    const [argument] = expr.args;
    if (expr.target === undefined || argument === undefined) return undefined;
    const [text, part] = [this.constant(expr.target, scope), this.constant(argument, scope)];
    if (typeof text !== 'string' || typeof part !== 'string') return undefined;
    switch (expr.function) {
      case 'startsWith':
        return text.startsWith(part);
      case 'endsWith':
        return text.endsWith(part);
      case 'contains':
        return text.includes(part);
      default:
        return undefined;
    }
  }

  #macroConstant(expr: MacroNode, scope: Scope): boolean | undefined {
    if ((expr.macro !== 'all' && expr.macro !== 'exists') || expr.variables.length !== 1) return undefined;
    const { constants } = this.elements(expr.range, scope);
    if (constants === undefined) return undefined;
    const settling = expr.macro === 'exists';
    const values = constants.map((value) =>
      this.constant(
        expr.body,
        new Map([...scope, [expr.variables[0] ?? '', { is: 'constant', value } as const]]),
      ),
    );
    if (values.includes(settling)) return settling;
    return values.every((value) => value === !settling) ? !settling : undefined;
  }
}

/** Of the members of `request` that may be absent (vap.md D09). */
function requestPresence(base: Key, field: string, { subresource }: Scene): Presence | undefined {
  if (base === 'request.userInfo') {
    if (field === 'extra' || field === 'uid') return 'optional';
    return 'always';
  }
  if (base === 'request.userInfo.extra') return 'optional';
  if (base !== 'request') return undefined;
  if (field !== 'subResource' && field !== 'requestSubResource') return 'always';
  if (subresource === undefined) return 'optional';
  return subresource === '' ? 'optional' : 'always';
}

function isEmptyMap(expr: Expr): boolean {
  return expr.kind === 'map' && expr.entries.length === 0;
}

/** What a chain of selections begins with. */
export function rootOf(expr: Expr): Expr {
  let root = expr;
  for (;;) {
    if (root.kind === 'select') root = root.operand;
    else if (root.kind === 'call' && (root.function === '_[_]' || root.function === '_[?_]') && root.args[0])
      root = root.args[0];
    else return root;
  }
}
