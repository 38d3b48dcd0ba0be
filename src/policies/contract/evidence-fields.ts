/** Fields of a JSON object as Go's decoder finds and reads them. */
import { quote } from '../quote.ts';
import { isTime, ZERO_TIME } from './evidence-time.ts';

/** What was read has not the shape it needs; the message says where. */
export class Malformed extends Error {
  override readonly name = 'Malformed';
}

export class Fields {
  readonly #where: string;
  /** By the folded name: of two that fold to the same, the later. */
  readonly #values: ReadonlyMap<string, { readonly name: string; readonly value: unknown }>;

  private constructor(object: object, where: string) {
    this.#where = where;
    this.#values = new Map(Object.entries(object).map(([name, value]) => [folded(name), { name, value }]));
  }

  /**
   * Null and a field that is not given are an object without fields, as they leave Go's as it is.
   * @throws Malformed for anything else that is no object
   */
  static of(json: unknown, where: string): Fields {
    if (json === undefined || json === null) return new Fields({}, where);
    // oxlint-disable-next-line unicorn/no-instanceof-builtins -- the box is made here, in this realm
    if (typeof json !== 'object' || Array.isArray(json) || json instanceof Number) {
      throw new Malformed(`${where} is not an object`);
    }
    return new Fields(json, where);
  }

  has(name: string): boolean {
    return this.#values.has(folded(name));
  }

  get(name: string): unknown {
    return this.#values.get(folded(name))?.value;
  }

  /** @throws Malformed where there are others than these */
  refuseOthers(names: readonly string[]): void {
    const known = new Set(names.map(folded));
    for (const [key, { name }] of this.#values) {
      if (!known.has(key)) throw new Malformed(`${this.#where} has an unknown field ${quote(name)}`);
    }
  }

  /** @throws Malformed where it is given and no text */
  text(name: string): string {
    return asText(this.get(name) ?? '', `${this.#where}: ${name}`);
  }

  /** @throws Malformed where it is given and neither true nor false */
  flag(name: string): boolean {
    const value = this.get(name) ?? false;
    if (typeof value !== 'boolean') throw new Malformed(`${this.#where}: ${name} is neither true nor false`);
    return value;
  }

  /** @throws Malformed where it is given and no time */
  time(name: string): string {
    const where = `${this.#where}: ${name}`;
    const text = asText(this.get(name) ?? ZERO_TIME, where);
    if (!isTime(text)) throw new Malformed(`${where} ${quote(text)} is not a time of RFC 3339`);
    return text;
  }

  /** @throws Malformed where it is given and no list */
  list(name: string): readonly unknown[] {
    const value = this.get(name) ?? [];
    if (!Array.isArray(value)) throw new Malformed(`${this.#where}: ${name} is not a list`);
    return value;
  }

  /** @throws Malformed where it is given and no list of texts */
  texts(name: string): readonly string[] {
    return this.list(name).map((each) => asText(each ?? '', `${this.#where}: ${name}`));
  }
}

function asText(value: unknown, where: string): string {
  if (typeof value !== 'string') throw new Malformed(`${where} is not a text`);
  return value;
}

/** The letters that Go takes for the same: ASCII in either case, and the two others that fold to one of them. */
const FOLDED = /[A-Z\u017f\u212a]/g;

function folded(name: string): string {
  return name.replace(FOLDED, (letter) => (letter === '\u017f' ? 's' : letter.toLowerCase()));
}
