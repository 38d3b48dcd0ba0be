import type { JsonValue } from './json-value.ts';
import type { SchemaAnswer, SchemaChecks } from './schema-checks.ts';

/** Ours: contracts in use have a handful. */
const MAX_SCHEMAS = 256;

/** Each may have taken all the time that a schema is given. */
const MAX_REFUSED = 8;

/**
 * The schemas of one validation: each is compiled once however often it is named, and there is an end to how many a contract
 * can make us look at and to how many of them can run into a limit. Beyond that the answer is `refused`.
 */
export class SchemaRun implements SchemaChecks {
  readonly #checks: SchemaChecks;
  readonly #compiled = new Map<string, SchemaAnswer>();
  #refused = 0;

  constructor(checks: SchemaChecks) {
    this.#checks = checks;
  }

  async compile(schemaText: string): Promise<SchemaAnswer> {
    const known = this.#compiled.get(schemaText);
    if (known !== undefined) return known;
    const answer = this.#limit(true) ?? this.#count(await this.#checks.compile(schemaText));
    this.#compiled.set(schemaText, answer);
    return answer;
  }

  /** Answers as `compile` does where the schema does not compile. */
  async validate(schemaText: string, instance: JsonValue): Promise<SchemaAnswer> {
    const known = this.#compiled.get(schemaText);
    if (known !== undefined && known.outcome !== 'valid') return known;
    const answer =
      this.#limit(known === undefined) ?? this.#count(await this.#checks.validate(schemaText, instance));
    if (known === undefined && answer.outcome !== 'refused') {
      this.#compiled.set(schemaText, answer.outcome === 'invalid' ? { outcome: 'valid' } : answer);
    }
    return answer;
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
