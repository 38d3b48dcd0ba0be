/** The library of quantities: `quantity`, `isQuantity`, arithmetic and comparison. */
import { BOOL, DOUBLE, INT, STRING, opaque } from '../cel-type.ts';
import type { Library } from '../library.ts';
import { CelError, Opaque, type Value, doubleOf, intOf } from '../values.ts';
import { define, global, member, readingCost, unitCost } from './declare.ts';
import { QuantityFault, ResourceQuantity, parseQuantity } from './resource-quantity.ts';

const QUANTITY = opaque('kubernetes.Quantity');

export class QuantityValue extends Opaque {
  override readonly typeName = 'kubernetes.Quantity';
  readonly quantity: ResourceQuantity;
  /**
   * Sums and differences are pointers in Kubernetes, which equality does not know on its right side
   * (cel.md trap 22).
   */
  readonly isSum: boolean;

  constructor(quantity: ResourceQuantity, isSum: boolean) {
    super();
    this.quantity = quantity;
    this.isSum = isSum;
  }

  override equals(other: Value): boolean | undefined {
    if (!(other instanceof QuantityValue) || other.isSum) return undefined;
    return this.quantity.copy().compare(other.quantity) === 0;
  }

  override goType(): string | undefined {
    return this.isSum ? '*cel.Quantity' : undefined;
  }

  override toString(): string {
    return String(this.quantity);
  }
}

function quantityOf(text: string): Value {
  const quantity = parseQuantity(text);
  return quantity instanceof QuantityFault
    ? new CelError(quantity.message)
    : new QuantityValue(quantity, false);
}

function asInteger({ quantity }: QuantityValue): Value {
  const value = quantity.asInt64();
  return value === undefined ? new CelError('cannot convert value to integer') : intOf(value);
}

/** Of a copy, which shares the decimal of a long number: that one changes with it, as in Kubernetes. */
function added(base: QuantityValue, other: ResourceQuantity, sign: 1n | -1n): Value {
  const sum = base.quantity.copy();
  return sum.add(other, sign) ? new QuantityValue(sum, true) : new CelError('quantity out of range');
}

function adding(name: 'add' | 'sub', sign: 1n | -1n) {
  return define(name, unitCost, [
    member(`quantity_${name}`, [QUANTITY, QUANTITY], QUANTITY, (base: QuantityValue, other: QuantityValue) =>
      added(base, other.quantity, sign),
    ),
    member(`quantity_${name}_int`, [QUANTITY, INT], QUANTITY, (base: QuantityValue, other: number | bigint) =>
      added(base, ResourceQuantity.ofInt(BigInt(other)), sign),
    ),
  ]);
}

function comparing(name: string, id: string, result: typeof BOOL, of: (comparison: number) => Value) {
  return define(name, unitCost, [
    member(id, [QUANTITY, QUANTITY], result, (a: QuantityValue, b: QuantityValue) =>
      of(a.quantity.compare(b.quantity)),
    ),
  ]);
}

export const quantityLibrary: Library = {
  name: 'kubernetes.quantity',
  since: 28,
  functions: [
    define('quantity', readingCost, [global('string_to_quantity', [STRING], QUANTITY, quantityOf)]),
    define('isQuantity', readingCost, [
      global(
        'is_quantity_string',
        [STRING],
        BOOL,
        (text: string) => !(parseQuantity(text) instanceof QuantityFault),
      ),
    ]),
    // No member in Kubernetes, though its documentation says so.
    define('sign', unitCost, [
      global('quantity_sign', [QUANTITY], INT, ({ quantity }: QuantityValue) => quantity.sign()),
    ]),
    define('isInteger', unitCost, [
      member(
        'quantity_is_integer',
        [QUANTITY],
        BOOL,
        ({ quantity }: QuantityValue) => quantity.asInt64() !== undefined,
      ),
    ]),
    define('asInteger', unitCost, [member('quantity_get_int', [QUANTITY], INT, asInteger)]),
    define('asApproximateFloat', unitCost, [
      member('quantity_get_float', [QUANTITY], DOUBLE, ({ quantity }: QuantityValue) =>
        doubleOf(quantity.asApproximateFloat()),
      ),
    ]),
    comparing('isGreaterThan', 'quantity_is_greater_than', BOOL, (comparison) => comparison > 0),
    comparing('isLessThan', 'quantity_is_less_than', BOOL, (comparison) => comparison < 0),
    comparing('compareTo', 'quantity_compare_to', INT, (comparison) => comparison),
    adding('add', 1n),
    adding('sub', -1n),
  ],
};
