/** Regular expressions of schemas, on RE2: linear in the text, and what Go accepts (contract.md §3.4.3). */
import { RE2JS } from 're2js';

/** What ajv needs of a regular expression. */
class SchemaPattern {
  readonly #compiled: RE2JS;
  readonly #source: string;

  constructor(source: string) {
    this.#compiled = RE2JS.compile(source);
    this.#source = source;
  }

  test(text: string): boolean {
    return this.#compiled.test(text);
  }

  /** ajv keeps patterns apart by this. */
  toString(): string {
    return this.#source;
  }
}

/** ajv's `code.regExp`. The name is only written into generated code that nobody keeps. */
export const schemaPatterns = Object.assign((source: string): SchemaPattern => new SchemaPattern(source), {
  code: 'schemaPatterns',
});

/** The format `regex`. */
export function isPattern(text: string): boolean {
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}
