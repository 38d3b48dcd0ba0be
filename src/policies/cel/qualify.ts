/** Fields and elements: `a.b`, `a[b]`, `has(a.b)` on values of any type (cel-go interpreter/attributes.go). */
import { VariableScope } from './activation.ts';
import { findKey, isMap } from './equality.ts';
import { goTypeName } from './go-type-name.ts';
import { goText } from './libraries/go-value.ts';
import { NO_SUCH_OVERLOAD } from './ordering.ts';
import { EvaluationCancelled } from './signals.ts';
import { typeNameOf } from './type-name.ts';
import {
  CelError,
  CelMap,
  Opaque,
  Optional,
  TypeValue,
  Uint,
  type Value,
  isBoxedDouble,
  isIntNumber,
} from './values.ts';

/**
 * The value under a key.
 *
 * @returns undefined where it is absent: an error or an empty optional, as the caller needs it.
 */
export function qualify(value: Value, key: Value): Value | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return element(value as readonly Value[], key);
  if (value instanceof VariableScope) {
    return typeof key === 'string' ? value.get(key) : NO_SUCH_OVERLOAD;
  }
  return isMap(value) ? entry(value, key) : undefined;
}

/** The entry of a map; what Go cannot hash ends the evaluation, as there. */
export function entry(map: Parameters<typeof findKey>[0], key: Value): Value | undefined {
  if (map instanceof CelMap && map.size > 0) requireHashable(key);
  return findKey(map, key);
}

/** Go's names of what it has no hash of. */
const UNHASHABLE: ReadonlySet<string> = new Set(['types.Bytes', 'cel.Format', 'cel.Semver']);

/** @throws EvaluationCancelled for a value that Go cannot keep as a key: its map ends the evaluation. */
export function requireHashable(key: Value): void {
  if (typeof key !== 'object' || key === null) return;
  const name = goTypeName(key);
  if (UNHASHABLE.has(name)) {
    throw new EvaluationCancelled(`internal error: runtime error: hash of unhashable type ${name}`);
  }
}

function element(list: readonly Value[], key: Value): Value | undefined {
  if (typeof key === 'number' && isIntNumber(key)) return list[key];
  if (typeof key === 'bigint') return undefined;
  if (key instanceof Uint && key.value < 2n ** 63n) return list[Number(key.value)];
  const double = isBoxedDouble(key) ? key.valueOf() : typeof key === 'number' ? key : undefined;
  if (double !== undefined && Number.isInteger(double) && Math.abs(double) < 2 ** 63) {
    return list[double + 0];
  }
  return double === undefined && !(key instanceof Uint)
    ? new CelError(`unsupported index type '${typeNameOf(key)}' in list`)
    : new CelError(`unsupported index value ${goText(key)} in list`);
}

/** The error of a key that is not there. */
export function missing(value: Value, key: Value): CelError {
  return new CelError(`${Array.isArray(value) ? 'index out of bounds' : 'no such key'}: ${goText(key)}`);
}

/** Go types of the values that Kubernetes' libraries keep; what is not here is kept as it is. */
const KEPT_AS: Readonly<Record<string, string>> = {
  'kubernetes.Quantity': '*resource.Quantity',
  'kubernetes.Semver': 'semver.Version',
  'kubernetes.URL': '*url.URL',
  'net.CIDR': 'netip.Prefix',
  'net.IP': 'netip.Addr',
};

/**
 * What cel-go sees of the value in an optional once it reads the optional by a variable: the plain Go value, so that
 * an optional in it is gone, a type is its name, and what it cannot take over is an error.
 */
export function withoutWrapper(value: Value): Value {
  if (value instanceof Optional) return value.value === undefined ? null : withoutWrapper(value.value);
  if (value instanceof TypeValue) return value.name;
  if (!(value instanceof Opaque)) return value;
  const kept = KEPT_AS[value.typeName];
  if (kept !== undefined) return new CelError(`unsupported conversion to ref.Val: (${kept})${goText(value)}`);
  return value.typeName.startsWith('kubernetes.authorization.') ? NO_SUCH_OVERLOAD : value;
}
