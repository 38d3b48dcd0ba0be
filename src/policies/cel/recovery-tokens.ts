/** Tokens as the recovering parser reads them: one after the other, reporting on the way what is none. */
import type { TokenKind, Tokens } from './lexer.ts';

/** A token of the source, or one that was missing and is made up: it has no text of its own. */
export interface TreeToken {
  readonly kind: TokenKind;
  readonly text: string;
  /** UTF-16 index. */
  readonly start: number;
}

/** In the order of their numbers, in which texts list them. */
export const TOKEN_ORDER: readonly TokenKind[] = (
  '<EOF> == != in < <= >= > && || [ ] { } ( ) . , - ! ? : + * / % true false null ' +
  'NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER ESC_IDENTIFIER'
).split(' ') as TokenKind[];

export class TokenReader {
  readonly #tokens: Tokens;
  readonly #report: (start: number, message: string) => void;
  #index = 0;
  #fetched = -1;
  #nextError = 0;

  /** @param report of text that is no token, by its UTF-16 index. */
  constructor(tokens: Tokens, report: (start: number, message: string) => void) {
    this.#tokens = tokens;
    this.#report = report;
  }

  /** Of the token that comes next. */
  get index(): number {
    return this.#index;
  }

  consume(): void {
    if (this.kind(0) === '<EOF>') return;
    this.#index++;
    this.#fetch(this.#index);
  }

  /** @param ahead 0 for the token that comes next. */
  kind(ahead: number): TokenKind {
    this.#fetch(this.#index + ahead);
    return this.#tokens.kinds[this.#index + ahead] ?? '<EOF>';
  }

  start(index: number): number {
    const { starts } = this.#tokens;
    return starts[Math.min(index, starts.length - 1)] ?? 0;
  }

  token(index: number): TreeToken {
    const { kinds, source, starts, ends } = this.#tokens;
    const at = Math.min(index, kinds.length - 1);
    return { kind: kinds[at] ?? '<EOF>', text: source.slice(starts[at], ends[at]), start: starts[at] ?? 0 };
  }

  display(index: number): string {
    const { kind, text } = this.token(index);
    return quote(kind === '<EOF>' ? kind : text);
  }

  /** With white space and comments between, and without what the lexer skipped. */
  textBetween(from: number, to: number): string {
    const { source, starts, ends, errors } = this.#tokens;
    let text = '';
    let at = starts[from] ?? 0;
    const end = ends[Math.min(to, ends.length - 1)] ?? source.length;
    for (const error of errors) {
      if (error.start < at || error.start >= end) continue;
      text += source.slice(at, error.start);
      at = error.start + error.text.length;
    }
    return text + source.slice(at, end);
  }

  /** Reports what the lexer found on the way to a token. */
  #fetch(index: number): void {
    if (index <= this.#fetched) return;
    this.#fetched = index;
    const { errors } = this.#tokens;
    for (let error = errors[this.#nextError]; error !== undefined; error = errors[this.#nextError]) {
      if (error.tokens > index) return;
      this.#nextError++;
      this.#report(error.start, `token recognition error at: '${error.text}'`);
    }
  }
}

export function quote(text: string): string {
  return `'${text.replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
}

/** One token as it is, several in braces. */
export function displayExpected(expected: ReadonlySet<TokenKind>): string {
  const names = TOKEN_ORDER.filter((kind) => expected.has(kind)).map((kind) =>
    /^[A-Z<]{3}/.test(kind) ? kind : `'${kind}'`,
  );
  return names.length === 1 ? (names[0] ?? '') : `{${names.join(', ')}}`;
}
