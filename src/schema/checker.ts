/** Compiles and validates, in the worker: keeps what it compiled, the least recently used goes. */
import { hash } from 'node:crypto';
import type { ValidateFunction } from 'ajv';
import { messageOf, quote } from '../errors.ts';
import { refused, type Answer, type Json } from './answer.ts';
import { compilerOf, draftOf, isMetaschema, metaschemaOf, rulesOf, type DraftName } from './drafts.ts';
import { leavesOf } from './leaves.ts';
import { schemaExcess } from './limits.ts';
import { normalize, refuseUnsupported } from './normalize.ts';
import { withPlainNumbers } from './plain-numbers.ts';
import { ReferenceFault, References } from './references.ts';

/** Of compiled schemas, by the length of their texts: what is compiled takes some twenty times that. */
const KEPT_UNITS = 1024 * 1024;
const KEPT_SCHEMAS = 256;

const ENDLESS = 'the schema refers to itself without end';

/** A schema that compiled, or why it did not. */
type Compiled = CompiledSchema | { readonly answer: Answer };

interface CompiledSchema {
  readonly validate: ValidateFunction;
  /** Whether it comes back to itself without having gone deeper into the instance. */
  readonly isEndless: boolean;
}

export class Checker {
  readonly #kept = new Map<string, { readonly compiled: Compiled; readonly units: number }>();
  readonly #metaschemas = new Map<DraftName, ValidateFunction>();
  #keptUnits = 0;

  constructor() {
    // Most of the time of a first answer (platform.md §5).
    this.#metaschema('2020-12');
  }

  /**
   * @param instance what is validated, in a list; undefined only compiles.
   * @param onPhase is told what takes time before it begins.
   */
  check(
    schemaText: string,
    instance: readonly [Json] | undefined,
    onPhase: (phase: 'compiling' | 'compiled') => void,
  ): Answer {
    const compiled = this.#known(schemaText, onPhase);
    if ('answer' in compiled) return compiled.answer;
    if (instance === undefined) return { outcome: 'valid' };
    return validate(compiled, withPlainNumbers(instance[0]));
  }

  #known(schemaText: string, onPhase: (phase: 'compiling' | 'compiled') => void): Compiled {
    const key = hash('sha256', schemaText, 'base64');
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known.compiled;
    }
    onPhase('compiling');
    const compiled = this.#compile(schemaText);
    this.#kept.set(key, { compiled, units: schemaText.length });
    this.#keptUnits += schemaText.length;
    for (const [oldest, { units }] of this.#kept) {
      if (this.#kept.size === 1 || (this.#keptUnits <= KEPT_UNITS && this.#kept.size <= KEPT_SCHEMAS)) break;
      this.#kept.delete(oldest);
      this.#keptUnits -= units;
    }
    onPhase('compiled');
    return compiled;
  }

  #compile(schemaText: string): Compiled {
    let schema: Json;
    try {
      schema = JSON.parse(schemaText) as Json;
    } catch (error) {
      return { answer: { outcome: 'not-json', reason: placeOf(error) } };
    }
    const excess = schemaExcess(schema);
    if (excess !== undefined) return { answer: refused(excess) };
    try {
      return this.#compileSchema(schema);
    } catch (error) {
      return { answer: compileFault(error) };
    }
  }

  #compileSchema(schema: Json): Compiled {
    const dialect = isObject(schema) && Object.hasOwn(schema, '$schema') ? schema['$schema'] : undefined;
    const draft = typeof dialect === 'string' ? draftOf(dialect) : '2020-12';
    if (draft === undefined)
      return {
        answer: notASchema(
          `its $schema ${quote(typeof dialect === 'string' ? dialect : '')} is none of the drafts 4, 6, 7, 2019-09, 2020-12`,
        ),
      };
    const metaschema = this.#metaschema(draft);
    if (!metaschema(schema)) return { answer: notASchema(metaschemaFault(metaschema)) };
    if (typeof schema !== 'boolean' && !isObject(schema))
      return { answer: notASchema('it is neither an object nor a boolean') };
    if (typeof schema === 'boolean')
      return { validate: compilerOf(draft, false).compile(schema), isEndless: false };
    const references = new References(schema, {
      ...rulesOf(draft),
      isMetaschema,
      mustBeSchema: (value) => {
        if (!metaschema(value)) throw new ReferenceFault('outside', 'points at what is no schema');
      },
    });
    refuseUnsupported(references);
    normalize(references.schemas, rulesOf(draft).isOld);
    const compiler = compilerOf(draft, references.leadsToMetaschema);
    return { validate: compiler.compile(schema), isEndless: references.hasCircle() };
  }

  #metaschema(draft: DraftName): ValidateFunction {
    let validate = this.#metaschemas.get(draft);
    if (validate === undefined) this.#metaschemas.set(draft, (validate = metaschemaOf(draft)));
    return validate;
  }
}

function validate({ validate: check, isEndless }: CompiledSchema, instance: Json): Answer {
  try {
    if (check(instance)) return { outcome: 'valid' };
    return { outcome: 'invalid', leaves: leavesOf(check.errors ?? []) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Go finds this while it validates, so that the schema is one, and nothing fits it.
    if (isEndless) return { outcome: 'invalid', leaves: [{ instancePath: '', message: ENDLESS }] };
    return refused('the schema refers to itself too often for this instance');
  } finally {
    // They hold the instance.
    check.errors = null;
  }
}

function notASchema(reason: string): Answer {
  return { outcome: 'not-a-schema', reason };
}

function compileFault(error: unknown): Answer {
  if (error instanceof RangeError) return refused('the schema is too entangled to compile');
  if (error instanceof ReferenceFault)
    return error.kind === 'outside' ? notASchema(error.message) : refused(error.message);
  return notASchema(quote(messageOf(error)).slice(1, -1));
}

/** Where JSON ends to be JSON; not V8's message, which shows a piece of the text. */
function placeOf(error: unknown): string {
  const message = messageOf(error);
  const place = /at position (\d+)/.exec(message)?.[1];
  if (place !== undefined) return `it stops being JSON at character ${place}`;
  return message.includes('end of JSON') ? 'the text ends too early' : 'the text is not JSON';
}

function metaschemaFault({ errors }: ValidateFunction): string {
  const [first] = leavesOf(errors ?? []);
  if (first === undefined) return 'the metaschema refuses it';
  return `${first.instancePath === '' ? 'it' : quote(first.instancePath)} ${first.message}`;
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
