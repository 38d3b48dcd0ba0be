/**
 * The order that Go's `sort.Slice` (1.26) leaves elements in. It is not stable: which of several equal elements comes
 * first shows through `sortBy`, so the very same steps are taken (pattern-defeating quicksort, and insertion for at
 * most twelve elements).
 */

/** Whether the element at index `a` must come before that at index `b` of the original list. */
type Less = (a: number, b: number) => boolean;

const INSERTION_LENGTH = 12;
const NINTHER_LENGTH = 50;
const SHIFTING_LENGTH = 50;
const MAX_SHIFTS = 5;
const MAX_MEDIAN_SWAPS = 12;

/** @returns the indexes `0 … length - 1` in order. */
export function goSortedIndexes(length: number, less: Less): number[] {
  const sorter = new Sorter(length, less);
  sorter.sort(0, length, bitLength(length));
  return sorter.indexes;
}

function bitLength(value: number): number {
  return value === 0 ? 0 : 32 - Math.clz32(value);
}

type Hint = 'increasing' | 'decreasing' | 'none';

class Sorter {
  readonly indexes: number[];
  readonly #less: Less;
  /** Of the search for a pivot. */
  #swaps = 0;

  constructor(length: number, less: Less) {
    this.indexes = Array.from({ length }, (_, index) => index);
    this.#less = less;
  }

  #isLess(i: number, j: number): boolean {
    return this.#less(this.indexes[i] ?? 0, this.indexes[j] ?? 0);
  }

  #swap(i: number, j: number): void {
    const kept = this.indexes[i] ?? 0;
    this.indexes[i] = this.indexes[j] ?? 0;
    this.indexes[j] = kept;
  }

  /** @param limit how many bad pivots there may be before a heap does the work */
  sort(from: number, to: number, limit: number): void {
    let [start, end, left] = [from, to, limit];
    let isBalanced = true;
    let isPartitioned = true;
    while (end - start > INSERTION_LENGTH) {
      const length = end - start;
      if (left === 0) {
        this.#heapSort(start, end);
        return;
      }
      if (!isBalanced) {
        this.#breakPatterns(start, end);
        left--;
      }
      const [pivot, hint] = this.#pivot(start, end);
      if (isBalanced && isPartitioned && hint === 'increasing' && this.#finishSorted(start, end)) return;
      if (start > 0 && !this.#isLess(start - 1, pivot)) {
        start = this.#partitionEqual(start, end, pivot);
        continue;
      }
      const partition = this.#partition(start, end, pivot);
      isPartitioned = partition.wasPartitioned;
      const { middle } = partition;
      isBalanced = Math.min(middle - start, end - middle) >= Math.floor(length / 8);
      if (middle - start < end - middle) {
        this.sort(start, middle, left);
        start = middle + 1;
      } else {
        this.sort(middle + 1, end, left);
        end = middle;
      }
    }
    this.#insertionSort(start, end);
  }

  #insertionSort(start: number, end: number): void {
    for (let i = start + 1; i < end; i++) this.#shiftLeft(i, start);
  }

  /** Moves an element to the left as long as it is less than its neighbour. */
  #shiftLeft(from: number, start: number): void {
    for (let i = from; i > start && this.#isLess(i, i - 1); i--) this.#swap(i, i - 1);
  }

  #heapSort(start: number, end: number): void {
    const length = end - start;
    for (let i = Math.floor((length - 1) / 2); i >= 0; i--) this.#siftDown(i, length, start);
    for (let i = length - 1; i >= 0; i--) {
      this.#swap(start, start + i);
      this.#siftDown(0, i, start);
    }
  }

  #siftDown(from: number, length: number, first: number): void {
    let root = from;
    for (let child = 2 * root + 1; child < length; child = 2 * root + 1) {
      if (child + 1 < length && this.#isLess(first + child, first + child + 1)) child++;
      if (!this.#isLess(first + root, first + child)) return;
      this.#swap(first + root, first + child);
      root = child;
    }
  }

  /** Scatters three elements about the middle, by a generator that the length seeds. */
  #breakPatterns(start: number, end: number): void {
    const length = end - start;
    const mask = (1n << BigInt(bitLength(length))) - 1n;
    let random = BigInt(length);
    const middle = start + Math.floor(length / 4) * 2;
    for (let i = middle - 1; i <= middle + 1; i++) {
      random = BigInt.asUintN(64, random ^ (random << 13n));
      random ^= random >> 7n;
      random = BigInt.asUintN(64, random ^ (random << 17n));
      const other = Number(random & mask);
      this.#swap(i, start + (other >= length ? other - length : other));
    }
  }

  /** A pivot, and how sorted its surroundings seem; what seems to decrease is turned round. */
  #pivot(start: number, end: number): [pivot: number, hint: Hint] {
    const length = end - start;
    const quarter = Math.floor(length / 4);
    this.#swaps = 0;
    let [i, j, k] = [start + quarter, start + quarter * 2, start + quarter * 3];
    if (length >= NINTHER_LENGTH) {
      i = this.#median(i - 1, i, i + 1);
      j = this.#median(j - 1, j, j + 1);
      k = this.#median(k - 1, k, k + 1);
    }
    const pivot = this.#median(i, j, k);
    if (this.#swaps === 0) return [pivot, 'increasing'];
    if (this.#swaps < MAX_MEDIAN_SWAPS) return [pivot, 'none'];
    for (let [a, b] = [start, end - 1]; a < b; a++, b--) this.#swap(a, b);
    return [end - 1 - (pivot - start), 'increasing'];
  }

  #median(first: number, second: number, third: number): number {
    let [a, b, c] = [first, second, third];
    if (this.#isOutOfOrder(a, b)) [a, b] = [b, a];
    if (this.#isOutOfOrder(b, c)) [b, c] = [c, b];
    return this.#isOutOfOrder(a, b) ? a : b;
  }

  #isOutOfOrder(a: number, b: number): boolean {
    const isOut = this.#isLess(b, a);
    if (isOut) this.#swaps++;
    return isOut;
  }

  /** Sorts what needs but a few shifts. @returns whether it is sorted now */
  #finishSorted(start: number, end: number): boolean {
    let i = start + 1;
    for (let shifts = 0; shifts < MAX_SHIFTS; shifts++) {
      while (i < end && !this.#isLess(i, i - 1)) i++;
      if (i === end) return true;
      if (end - start < SHIFTING_LENGTH) return false;
      this.#swap(i, i - 1);
      if (i - start >= 2) this.#shiftLeft(i - 1, 0);
      if (end - i >= 2) {
        for (let j = i + 1; j < end && this.#isLess(j, j - 1); j++) this.#swap(j, j - 1);
      }
    }
    return false;
  }

  #partition(start: number, end: number, pivot: number): { middle: number; wasPartitioned: boolean } {
    this.#swap(start, pivot);
    let [i, j] = [start + 1, end - 1];
    let swaps = 0;
    for (;;) {
      while (i <= j && this.#isLess(i, start)) i++;
      while (i <= j && !this.#isLess(j, start)) j--;
      if (i > j) break;
      this.#swap(i, j);
      swaps++;
      i++;
      j--;
    }
    this.#swap(j, start);
    return { middle: j, wasPartitioned: swaps === 0 };
  }

  /** Of elements none of which is less than the pivot: those equal to it come first. @returns where they end */
  #partitionEqual(start: number, end: number, pivot: number): number {
    this.#swap(start, pivot);
    let [i, j] = [start + 1, end - 1];
    for (;;) {
      while (i <= j && !this.#isLess(start, i)) i++;
      while (i <= j && this.#isLess(start, j)) j--;
      if (i > j) return i;
      this.#swap(i, j);
      i++;
      j--;
    }
  }
}
