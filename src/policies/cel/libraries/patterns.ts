/** Regular expressions as Go's `regexp` has them, on re2js. */
import { RE2JS, RE2JSSyntaxException } from 're2js';

import { codePointCount } from '../sizes.ts';
import { CelError } from '../values.ts';
import { AsciiAutomaton } from './ascii-automaton.ts';
import { rewritePattern } from './pattern-rewrite.ts';

/** How many patterns that are not constants stay compiled. Each may grow an automaton of a few megabytes. */
const MAX_PATTERNS = 32;

export interface Pattern {
  /** Whether it matches somewhere in the text. */
  test(text: string): boolean;
  /** The leftmost match, or an empty string. */
  find(text: string): string;
  /** Matches from left to right; a negative limit is none. */
  findAll(text: string, limit: number): readonly string[];
}

/** @returns the pattern, or Go's error: `error parsing regexp: …`. */
export function compilePattern(source: string): Pattern | CelError {
  if (!source.isWellFormed()) return syntaxError('invalid UTF-8', source);
  const literal = readLiteral(source);
  return literal === undefined ? compile(source, true) : new LiteralPattern(literal);
}

const DUPLICATE_NAME = 'duplicate capture group name';
const INVALID_RANGE = 'invalid character class range';
const UNFINISHED_CLASS = /^\\[pP]\{[^}]*$/;
const CLASS = /\\[pP]/;

function compile(source: string, withNames: boolean): Pattern | CelError {
  const rewritten = withNames && !CLASS.test(source) ? undefined : rewritePattern(source, withNames);
  try {
    return new CompiledPattern(RE2JS.compile(rewritten?.text ?? source));
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    const description = error.getDescription();
    // Names of groups may repeat in Go.
    if (description === DUPLICATE_NAME) return compile(source, false);
    const part = error.getPattern();
    if (part === null) return syntaxError(description, description.startsWith('expression ') ? source : '');
    return (
      unfinishedName(description, part) ??
      syntaxError(
        description,
        rewritten?.originalOf(part, description !== INVALID_RANGE || UNFINISHED_CLASS.test(part)) ?? part,
      )
    );
  }
}

function syntaxError(description: string, part: string): CelError {
  return new CelError(`error parsing regexp: ${description}: \`${part}\``);
}

/** Go does not take `(?<` and `(?P<` for the beginning of a name where nothing follows. */
function unfinishedName(description: string, part: string): CelError | undefined {
  if (description !== 'invalid named capture' || (part !== '(?<' && part !== '(?P<')) return undefined;
  return syntaxError('invalid or unsupported Perl syntax', part === '(?<' ? part : '(?P');
}

/** A pattern that is a plain text, with or without anchors. */
interface Literal {
  readonly text: string;
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** Anchors, and in between characters that mean themselves or are escaped ASCII that is no letter and no digit. */
// oxlint-disable-next-line no-control-regex -- Go takes an escaped control character for itself
const LITERAL = /^(\^?)((?:\\[\0-/:-@[-`{-\x7f]|[^\\.+*?()|[\]{}^$])*)(\$?)$/;

function readLiteral(source: string): Literal | undefined {
  const matched = LITERAL.exec(source);
  if (!matched) return undefined;
  const [, start, body = '', end] = matched;
  return { text: body.replaceAll(/\\([^])/g, '$1'), atStart: start === '^', atEnd: end === '$' };
}

class LiteralPattern implements Pattern {
  readonly #literal: Literal;

  constructor(literal: Literal) {
    this.#literal = literal;
  }

  test(input: string): boolean {
    const { text, atStart, atEnd } = this.#literal;
    if (atStart) return atEnd ? input === text : input.startsWith(text);
    return atEnd ? input.endsWith(text) : input.includes(text);
  }

  find(input: string): string {
    return this.test(input) ? this.#literal.text : '';
  }

  findAll(input: string, limit: number): readonly string[] {
    const { text, atStart, atEnd } = this.#literal;
    if (limit === 0 || !this.test(input)) return [];
    // Without text there is a match before each character, and one at the end.
    const count =
      atStart || atEnd ? 1 : text === '' ? codePointCount(input) + 1 : input.split(text).length - 1;
    return Array.from({ length: limit < 0 ? count : Math.min(limit, count) }, () => text);
  }
}

class CompiledPattern implements Pattern {
  readonly #compiled: RE2JS;
  readonly #automaton: AsciiAutomaton | undefined;

  constructor(compiled: RE2JS) {
    this.#compiled = compiled;
    this.#automaton = AsciiAutomaton.of(compiled);
  }

  test(input: string): boolean {
    return this.#automaton?.test(input) ?? this.#compiled.test(input);
  }

  find(input: string): string {
    if (this.#automaton?.test(input) === false) return '';
    const matcher = this.#compiled.matcher(input);
    return matcher.find() ? (matcher.group() ?? '') : '';
  }

  findAll(input: string, limit: number): readonly string[] {
    const matches: string[] = [];
    const matcher = this.#compiled.matcher(input);
    let lastEnd = -1;
    while (matches.length !== limit && matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()];
      // Go leaves out an empty match right behind another.
      if (start !== end || start !== lastEnd) matches.push(input.slice(start, end));
      lastEnd = end;
    }
    return matches;
  }
}

/** Patterns that are not constants, bounded; the one that came first makes room. */
export class Patterns {
  readonly #patterns = new Map<string, Pattern | CelError>();

  /** @returns as `compilePattern`. */
  get(source: string): Pattern | CelError {
    const known = this.#patterns.get(source);
    if (known !== undefined) return known;
    const pattern = compilePattern(source);
    if (this.#patterns.size >= MAX_PATTERNS) {
      for (const oldest of this.#patterns.keys()) {
        this.#patterns.delete(oldest);
        break;
      }
    }
    this.#patterns.set(source, pattern);
    return pattern;
  }
}
