import type { JsonValue } from './json-value.ts';
import type { SchemaAnswer, SchemaChecks } from './schema-checks.ts';

/** Ours: contracts in use have a handful. */
const MAX_SCHEMAS = 256;

/** Ours: far more than the worker takes, so that a larger file need not become a text. */
const MAX_SCHEMA_BYTES = 1024 * 1024;

/** Each may have taken all the time that a schema is given. */
const MAX_REFUSED = 8;

/**
 * The schema files of one validation: each is read and compiled once however often it is named, and there is an end to how
 * many a contract can make us look at and to how many of them can run into a limit. Beyond that the answer is `refused`.
 */
export class SchemaRun {
  readonly #checks: SchemaChecks;
  readonly #texts = new Map<Uint8Array, string>();
  readonly #compiled = new Map<string, SchemaAnswer>();
  #refused = 0;

  constructor(checks: SchemaChecks) {
    this.#checks = checks;
  }

  async compile(file: Uint8Array): Promise<SchemaAnswer> {
    if (file.length > MAX_SCHEMA_BYTES) return tooLong();
    const text = this.#text(file);
    const known = this.#compiled.get(text);
    if (known !== undefined) return known;
    const limit = this.#limit(true);
    if (limit !== undefined) return limit;
    const answer = this.#count(await this.#checks.compile(text));
    this.#compiled.set(text, answer);
    return answer;
  }

  /** Answers as `compile` does where the schema does not compile. */
  async validate(file: Uint8Array, instance: JsonValue): Promise<SchemaAnswer> {
    if (file.length > MAX_SCHEMA_BYTES) return tooLong();
    const text = this.#text(file);
    const known = this.#compiled.get(text);
    if (known !== undefined && known.outcome !== 'valid') return known;
    const answer =
      this.#limit(known === undefined) ?? this.#count(await this.#checks.validate(text, instance));
    if (known === undefined && answer.outcome !== 'refused') {
      this.#compiled.set(text, answer.outcome === 'invalid' ? { outcome: 'valid' } : answer);
    }
    return answer;
  }

  /** A byte order mark stays, as no JSON has one, and what is no UTF-8 becomes U+FFFD as in Go. */
  #text(file: Uint8Array): string {
    const known = this.#texts.get(file);
    if (known !== undefined) return known;
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(file);
    this.#texts.set(file, text);
    return text;
  }

  #limit(isNew: boolean): SchemaAnswer | undefined {
    if (isNew && this.#compiled.size >= MAX_SCHEMAS) {
      return { outcome: 'refused', reason: `a contract may have at most ${MAX_SCHEMAS} schemas` };
    }
    if (this.#refused >= MAX_REFUSED) {
      return { outcome: 'refused', reason: `${MAX_REFUSED} schemas before it went over a limit` };
    }
    return undefined;
  }

  #count(answer: SchemaAnswer): SchemaAnswer {
    if (answer.outcome === 'refused') this.#refused += 1;
    return answer;
  }
}

function tooLong(): SchemaAnswer {
  return { outcome: 'refused', reason: `it has more than ${MAX_SCHEMA_BYTES} bytes` };
}
