/** Source text to tokens, as the grammar of CEL in cel-go 0.26 has them: longest match, keywords before names. */

export type TokenKind =
  // Operators and keywords stand for themselves.
  | '=='
  | '!='
  | 'in'
  | '<'
  | '<='
  | '>='
  | '>'
  | '&&'
  | '||'
  | '['
  | ']'
  | '{'
  | '}'
  | '('
  | ')'
  | '.'
  | ','
  | '-'
  | '!'
  | '?'
  | ':'
  | '+'
  | '*'
  | '/'
  | '%'
  | 'true'
  | 'false'
  | 'null'
  // What cel-go's error texts call the others.
  | 'NUM_FLOAT'
  | 'NUM_INT'
  | 'NUM_UINT'
  | 'STRING'
  | 'BYTES'
  | 'IDENTIFIER'
  | 'ESC_IDENTIFIER'
  | '<EOF>';

/** Text that starts no token: skipped, `tokens` tokens had been read before it. */
export interface LexicalError {
  readonly start: number;
  readonly text: string;
  readonly tokens: number;
}

/** Parallel arrays, one entry a token, the last one `<EOF>`; places are UTF-16 indices, `end` excluded. */
export interface Tokens {
  readonly source: string;
  readonly kinds: readonly TokenKind[];
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly errors: readonly LexicalError[];
}

const QUOTE = 39;
const DOUBLE_QUOTE = 34;
const BACKSLASH = 92;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

const SINGLES: Readonly<Record<string, TokenKind>> = {
  '[': '[',
  ']': ']',
  '{': '{',
  '}': '}',
  '(': '(',
  ')': ')',
  '.': '.',
  ',': ',',
  '-': '-',
  '?': '?',
  ':': ':',
  '+': '+',
  '*': '*',
  '/': '/',
  '%': '%',
  '<': '<',
  '>': '>',
  '!': '!',
};

const DOUBLES: Readonly<Record<string, TokenKind>> = {
  '==': '==',
  '!=': '!=',
  '<=': '<=',
  '>=': '>=',
  '&&': '&&',
  '||': '||',
};

const KEYWORDS = new Map<string, TokenKind>([
  ['in', 'in'],
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
]);

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
}

/** @param source well formed: no lone surrogates. */
export function tokenize(source: string): Tokens {
  const lexer = new Lexer(source);
  lexer.run();
  return lexer;
}

class Lexer implements Tokens {
  readonly source: string;
  readonly kinds: TokenKind[] = [];
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly errors: LexicalError[] = [];
  /** Where the last attempt found a character that fits nowhere. */
  #failedAt = 0;

  constructor(source: string) {
    this.source = source;
  }

  run(): void {
    const { source } = this;
    let at = 0;
    for (;;) {
      at = this.#skipHidden(at);
      if (at >= source.length) break;
      this.#failedAt = at;
      const end = this.#token(at);
      if (end > at) {
        at = end;
        continue;
      }
      // The character that fits nowhere goes with the text before it.
      const failed = source.codePointAt(this.#failedAt);
      const next =
        this.#failedAt + (failed !== undefined && failed > 0xffff ? 2 : failed === undefined ? 0 : 1);
      this.errors.push({ start: at, text: source.slice(at, next), tokens: this.kinds.length });
      at = next;
    }
    this.#push('<EOF>', at, at);
  }

  #push(kind: TokenKind, start: number, end: number): number {
    this.kinds.push(kind);
    this.starts.push(start);
    this.ends.push(end);
    return end;
  }

  /** White space and comments. */
  #skipHidden(start: number): number {
    const { source } = this;
    let at = start;
    for (;;) {
      const code = source.charCodeAt(at);
      if (code === 32 || code === 9 || code === LINE_FEED || code === CARRIAGE_RETURN || code === 12) at++;
      else if (code === 47 && source.charCodeAt(at + 1) === 47) {
        const line = source.indexOf('\n', at);
        at = line < 0 ? source.length : line;
      } else return at;
    }
  }

  /** @returns where the token ends; `start` where there is none, with `#failedAt` set. */
  #token(start: number): number {
    const { source } = this;
    const code = source.charCodeAt(start);
    if (isLetter(code)) return this.#word(start, code);
    if (isDigit(code)) return this.#number(start);
    if (code === QUOTE || code === DOUBLE_QUOTE) return this.#string(start, start, false, 'STRING');
    if (code === 46 && isDigit(source.charCodeAt(start + 1))) return this.#number(start);
    if (code === 96) return this.#escapedIdentifier(start);
    const double = DOUBLES[source.slice(start, start + 2)];
    if (double !== undefined) return this.#push(double, start, start + 2);
    const single = SINGLES[source.charAt(start)];
    if (single !== undefined) return this.#push(single, start, start + 1);
    // `=`, `&` and `|` want a second one: that is where they fail.
    this.#failedAt = code === 61 || code === 38 || code === 124 ? start + 1 : start;
    return start;
  }

  #word(start: number, code: number): number {
    const { source } = this;
    const quoted = this.#prefixedString(start, code);
    if (quoted > start) return quoted;
    let end = start + 1;
    for (;;) {
      const next = source.charCodeAt(end);
      if (!isLetter(next) && !isDigit(next)) break;
      end++;
    }
    const keyword = end - start <= 5 ? KEYWORDS.get(source.slice(start, end)) : undefined;
    return this.#push(keyword ?? 'IDENTIFIER', start, end);
  }

  /** `r'…'`, `b'…'`, `br'…'` in either case. */
  #prefixedString(start: number, code: number): number {
    let at = start;
    let bytes = false;
    let raw = false;
    let next = code;
    if (next === 98 || next === 66) {
      bytes = true;
      next = this.source.charCodeAt(++at);
    }
    if (next === 114 || next === 82) {
      raw = true;
      next = this.source.charCodeAt(++at);
    }
    if (at === start || (next !== QUOTE && next !== DOUBLE_QUOTE)) return start;
    return this.#string(start, at, raw, bytes ? 'BYTES' : 'STRING');
  }

  #number(start: number): number {
    const { source } = this;
    let at = start;
    if (
      source.charCodeAt(at) === 48 &&
      source.charCodeAt(at + 1) === 120 &&
      isHexDigit(source.charCodeAt(at + 2))
    ) {
      at += 3;
      while (isHexDigit(source.charCodeAt(at))) at++;
      return this.#integer(start, at);
    }
    while (isDigit(source.charCodeAt(at))) at++;
    let float = false;
    if (source.charCodeAt(at) === 46 && isDigit(source.charCodeAt(at + 1))) {
      float = true;
      at += 2;
      while (isDigit(source.charCodeAt(at))) at++;
    }
    const exponent = this.#exponent(at);
    if (exponent > at || float) return this.#push('NUM_FLOAT', start, exponent);
    return this.#integer(start, at);
  }

  #exponent(start: number): number {
    const { source } = this;
    let at = start;
    const letter = source.charCodeAt(at);
    if (letter !== 101 && letter !== 69) return start;
    at++;
    const sign = source.charCodeAt(at);
    if (sign === 43 || sign === 45) at++;
    if (!isDigit(source.charCodeAt(at))) return start;
    while (isDigit(source.charCodeAt(at))) at++;
    return at;
  }

  #integer(start: number, end: number): number {
    const suffix = this.source.charCodeAt(end);
    if (suffix === 117 || suffix === 85) return this.#push('NUM_UINT', start, end + 1);
    return this.#push('NUM_INT', start, end);
  }

  /** @param quoteAt where the quotes begin, behind the prefix. */
  #string(start: number, quoteAt: number, raw: boolean, kind: TokenKind): number {
    const { source } = this;
    const quote = source.charCodeAt(quoteAt);
    let end = 0;
    if (source.charCodeAt(quoteAt + 1) === quote && source.charCodeAt(quoteAt + 2) === quote) {
      end = this.#quotedByThree(quoteAt + 3, quote, raw);
      // An empty string, where three quotes are not closed.
      if (end === 0) end = quoteAt + 2;
    } else {
      end = this.#quotedByOne(quoteAt + 1, quote, raw);
    }
    return end === 0 ? start : this.#push(kind, start, end);
  }

  #quotedByOne(start: number, quote: number, raw: boolean): number {
    const { source } = this;
    for (let at = start; at < source.length;) {
      const code = source.charCodeAt(at);
      if (code === quote) return at + 1;
      if (code === LINE_FEED || code === CARRIAGE_RETURN) {
        this.#failedAt = at;
        return 0;
      }
      if (code === BACKSLASH && !raw) {
        at = this.#escape(at);
        if (at === 0) return 0;
      } else at++;
    }
    this.#failedAt = source.length;
    return 0;
  }

  #quotedByThree(start: number, quote: number, raw: boolean): number {
    const { source } = this;
    for (let at = start; at < source.length;) {
      const code = source.charCodeAt(at);
      if (code === quote && source.charCodeAt(at + 1) === quote && source.charCodeAt(at + 2) === quote)
        return at + 3;
      if (code === BACKSLASH && !raw) {
        at = this.#escape(at);
        if (at === 0) return 0;
      } else at++;
    }
    this.#failedAt = source.length;
    return 0;
  }

  /** @returns what follows the escape sequence; 0 where it is none, with `#failedAt` set. */
  #escape(start: number): number {
    const { source } = this;
    const letter = source.charAt(start + 1);
    let digits = 0;
    if (letter !== '' && 'abfnrtv"\'\\?`'.includes(letter)) return start + 2;
    if (letter === 'x' || letter === 'X') digits = 2;
    else if (letter === 'u') digits = 4;
    else if (letter === 'U') digits = 8;
    if (digits > 0) return this.#escapeDigits(start + 2, digits, isHexDigit);
    if (letter >= '0' && letter <= '3')
      return this.#escapeDigits(start + 2, 2, (code) => code >= 48 && code <= 55);
    this.#failedAt = start + 1;
    return 0;
  }

  #escapeDigits(start: number, count: number, isOne: (code: number) => boolean): number {
    for (let at = start; at < start + count; at++) {
      if (isOne(this.source.charCodeAt(at))) continue;
      this.#failedAt = at;
      return 0;
    }
    return start + count;
  }

  #escapedIdentifier(start: number): number {
    const { source } = this;
    let at = start + 1;
    for (;;) {
      const code = source.charCodeAt(at);
      // `.`, `-`, `/` and blank are allowed between the back quotes.
      if (!isLetter(code) && !isDigit(code) && code !== 46 && code !== 45 && code !== 47 && code !== 32)
        break;
      at++;
    }
    if (source.charCodeAt(at) === 96 && at > start + 1) return this.#push('ESC_IDENTIFIER', start, at + 1);
    this.#failedAt = at;
    return start;
  }
}
