/**
 * Source to tree, by recursive descent. A source that does not fit the grammar is read again by syntax-errors.ts,
 * which knows how cel-go's parser generator words and recovers from what it finds; good sources never pay for that.
 */
import type { Ast, Expr, ListNode, MapNode, StructNode } from './ast.ts';
import { AstBuilder, RESERVED } from './ast-builder.ts';
import type { TokenKind, Tokens } from './lexer.ts';
import { tokenize } from './lexer.ts';
import { readLiteral } from './literals.ts';
import type { Syntax } from './macros.ts';
import { ErrorLog, SourceText } from './source-error.ts';
import { MAX_DEPTH, MAX_SOURCE_LENGTH } from './parser-limits.ts';
import { syntaxErrors } from './syntax-errors.ts';

const RELATIONS: Partial<Record<TokenKind, string>> = {
  '<': '_<_',
  '<=': '_<=_',
  '>=': '_>=_',
  '>': '_>_',
  '==': '_==_',
  '!=': '_!=_',
  in: '@in',
};

export interface ParseFailure {
  readonly source: SourceText;
  /** `check` where the source is in the grammar, and a name, a literal or a macro in it is not right. */
  readonly phase: 'syntax' | 'check';
  /** At least one, in the order they were found. */
  readonly errors: ErrorLog;
}

export type ParseResult = { readonly ast: Ast; readonly source: SourceText } | ParseFailure;

/** @param text lone surrogates count as U+FFFD. */
export function parse(text: string, syntax: Syntax): ParseResult {
  const wellFormed = text.toWellFormed();
  const source = new SourceText(wellFormed);
  if (source.length > MAX_SOURCE_LENGTH) {
    const message = `expression code point size exceeds limit: size: ${source.length}, limit ${MAX_SOURCE_LENGTH}`;
    return { source, phase: 'syntax', errors: withError(new ErrorLog(), message) };
  }
  const tokens = tokenize(wellFormed);
  const builder = new AstBuilder(syntax);
  if (tokens.errors.length === 0) {
    try {
      const expr = new Parser(tokens, source, builder).run();
      if (builder.errors.total > 0) return { source, phase: 'check', errors: builder.errors };
      return { ast: { expr, source: wellFormed }, source };
    } catch (signal) {
      if (signal instanceof DepthSignal) {
        return { source, phase: 'syntax', errors: withError(builder.errors, signal.message) };
      }
      if (!(signal instanceof MismatchSignal)) throw signal;
    }
  }
  return { source, phase: 'syntax', errors: syntaxErrors(tokens, source, syntax) };
}

function withError(errors: ErrorLog, message: string): ErrorLog {
  errors.add(undefined, message);
  return errors;
}

/** Too deep: nothing but this is said of the source. */
class DepthSignal extends Error {}

/** The source is not in the grammar. */
class MismatchSignal extends Error {}

class Parser {
  readonly #kinds: readonly TokenKind[];
  readonly #tokens: Tokens;
  readonly #source: SourceText;
  readonly #builder: AstBuilder;
  #at = 0;
  /** Rules of each recursive kind that are being read. */
  #exprs = 0;
  #relations = 0;
  #calcs = 0;
  #members = 0;
  /** Of the expression read last: operators, selections and calls on its longest way down. */
  #height = 0;

  constructor(tokens: Tokens, source: SourceText, builder: AstBuilder) {
    this.#tokens = tokens;
    this.#kinds = tokens.kinds;
    this.#source = source;
    this.#builder = builder;
  }

  run(): Expr {
    const expr = this.#expr();
    this.#expect('<EOF>');
    if (this.#height > MAX_DEPTH) throw new DepthSignal('max recursion depth exceeded');
    return expr;
  }

  /** @returns the offset of the token consumed. */
  #next(): number {
    return this.#source.offset(this.#tokens.starts[this.#at++] ?? 0);
  }

  #expect(kind: TokenKind): number {
    if (this.#kinds[this.#at] !== kind) throw new MismatchSignal();
    return this.#next();
  }

  #text(): string {
    return this.#tokens.source.slice(this.#tokens.starts[this.#at], this.#tokens.ends[this.#at]);
  }

  #name(): string {
    if (this.#kinds[this.#at] !== 'IDENTIFIER') throw new MismatchSignal();
    const text = this.#text();
    this.#at++;
    return text;
  }

  #deeper(depth: number): number {
    if (depth >= MAX_DEPTH) throw new DepthSignal(`expression recursion limit exceeded: ${MAX_DEPTH}`);
    return depth + 1;
  }

  #expr(): Expr {
    this.#exprs = this.#deeper(this.#exprs);
    const condition = this.#or();
    if (this.#kinds[this.#at] !== '?') {
      this.#exprs--;
      return condition;
    }
    let height = this.#height;
    const at = this.#next();
    const whenTrue = this.#or();
    height = Math.max(height, this.#height);
    this.#expect(':');
    const whenFalse = this.#expr();
    this.#height = Math.max(height, this.#height) + 1;
    this.#exprs--;
    return this.#builder.operator(at, '_?_:_', [condition, whenTrue, whenFalse]);
  }

  #or(): Expr {
    const first = this.#and();
    return this.#kinds[this.#at] === '||' ? this.#chain('||', '_||_', first) : first;
  }

  #and(): Expr {
    const first = this.#relation();
    return this.#kinds[this.#at] === '&&' ? this.#chain('&&', '_&&_', first) : first;
  }

  #chain(kind: '&&' | '||', name: string, first: Expr): Expr {
    const terms = [first];
    const operatorsAt: number[] = [];
    let height = this.#height;
    while (this.#kinds[this.#at] === kind) {
      operatorsAt.push(this.#next());
      terms.push(kind === '||' ? this.#and() : this.#relation());
      height = Math.max(height, this.#height);
    }
    this.#height = height;
    return this.#builder.balanced(name, terms, operatorsAt);
  }

  #relation(): Expr {
    const outer = this.#relations;
    this.#relations = this.#deeper(outer);
    let left = this.#calc(0);
    for (;;) {
      const name = RELATIONS[this.#kinds[this.#at] ?? '<EOF>'];
      if (name === undefined) break;
      const height = this.#height;
      const at = this.#next();
      // What follows the operator is a relation below this one.
      this.#relations = this.#deeper(this.#relations);
      const right = this.#calc(0);
      this.#relations--;
      this.#height = Math.max(height, this.#height) + 1;
      left = this.#builder.operator(at, name, [left, right]);
    }
    this.#relations = outer;
    return left;
  }

  /** @param least binding strength of the operators that this level takes: 1 for `+ -`, 2 for `* / %`. */
  #calc(least: number): Expr {
    const outer = this.#calcs;
    this.#calcs = this.#deeper(outer);
    let left = this.#unary();
    for (;;) {
      const kind = this.#kinds[this.#at];
      const strength =
        kind === '+' || kind === '-' ? 1 : kind === '*' || kind === '/' || kind === '%' ? 2 : 0;
      if (strength === 0 || strength < least) break;
      const height = this.#height;
      const at = this.#next();
      const right = this.#calc(strength + 1);
      this.#height = Math.max(height, this.#height) + 1;
      left = this.#builder.operator(at, `_${kind}_`, [left, right]);
    }
    this.#calcs = outer;
    return left;
  }

  #unary(): Expr {
    const kind = this.#kinds[this.#at];
    if (kind === '!') return this.#signs('!', '!_');
    if (kind === '-' && !this.#isNumber(this.#at + 1)) return this.#signs('-', '-_');
    return this.#member();
  }

  /** A sign before a number belongs to the literal. */
  #isNumber(index: number): boolean {
    const kind = this.#kinds[index];
    return kind === 'NUM_INT' || kind === 'NUM_FLOAT';
  }

  /** A run of signs is one operator, or none where their number is even. */
  #signs(kind: '!' | '-', name: string): Expr {
    const at = this.#next();
    let count = 1;
    while (this.#kinds[this.#at] === kind) {
      this.#at++;
      count++;
    }
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#builder.operator(at, name, [operand]);
  }

  #member(): Expr {
    const outer = this.#members;
    this.#members = this.#deeper(outer);
    let operand = this.#primary();
    for (;;) {
      const kind = this.#kinds[this.#at];
      if (kind !== '.' && kind !== '[') break;
      operand = kind === '.' ? this.#selection(operand) : this.#index(operand);
    }
    this.#members = outer;
    return operand;
  }

  #selection(operand: Expr): Expr {
    const operandHeight = this.#height;
    const at = this.#next();
    const optional = this.#kinds[this.#at] === '?';
    if (optional) this.#at++;
    if (this.#kinds[this.#at] === 'ESC_IDENTIFIER') this.#builder.escapedName(this.#next());
    else {
      const name = this.#name();
      if (!optional && this.#kinds[this.#at] === '(') {
        const openAt = this.#next();
        const args = this.#arguments();
        this.#height = Math.max(operandHeight, this.#height) + 1;
        return this.#builder.memberCall(openAt, name, operand, args);
      }
      this.#height++;
      return this.#builder.select(at, operand, name, optional);
    }
    this.#height++;
    return this.#builder.select(at, operand, '', optional);
  }

  #index(operand: Expr): Expr {
    const height = this.#height;
    const at = this.#next();
    const optional = this.#kinds[this.#at] === '?';
    if (optional) this.#at++;
    const index = this.#expr();
    this.#expect(']');
    this.#height = Math.max(height, this.#height) + 1;
    return this.#builder.index(at, operand, index, optional);
  }

  /** Up to the closing parenthesis, which is consumed. Leaves the greatest height in `#height`. */
  #arguments(): Expr[] {
    const args: Expr[] = [];
    let height = 0;
    if (this.#kinds[this.#at] !== ')') {
      for (;;) {
        args.push(this.#expr());
        height = Math.max(height, this.#height);
        if (this.#kinds[this.#at] !== ',') break;
        this.#at++;
      }
    }
    this.#expect(')');
    this.#height = height;
    return args;
  }

  #primary(): Expr {
    switch (this.#kinds[this.#at]) {
      case '.':
      case 'IDENTIFIER':
        return this.#named();
      case '(': {
        this.#at++;
        const expr = this.#expr();
        this.#expect(')');
        return expr;
      }
      case '[':
        return this.#list();
      case '{':
        return this.#map();
      default:
        this.#height = 0;
        return this.#literal();
    }
  }

  #named(): Expr {
    const start = this.#source.offset(this.#tokens.starts[this.#at] ?? 0);
    const leadingDot = this.#kinds[this.#at] === '.';
    if (leadingDot) this.#at++;
    if (this.#kinds[this.#at] !== 'IDENTIFIER') throw new MismatchSignal();
    if (this.#typeNameFollows()) return this.#struct(leadingDot);
    const at = this.#source.offset(this.#tokens.starts[this.#at] ?? 0);
    const name = this.#name();
    if (this.#kinds[this.#at] === '(') {
      const openAt = this.#next();
      const { errors } = this.#builder;
      const before = errors.total;
      const args = this.#arguments();
      // What a reserved word is called with is not looked at.
      if (RESERVED.has(name)) errors.takeBack(before);
      return this.#builder.globalCall(openAt, name, leadingDot, start, args);
    }
    this.#height = 0;
    return this.#builder.ident(at, name, leadingDot, start);
  }

  /** `a.b.c{`: one look ahead for a chain of names. */
  #typeNameFollows(): boolean {
    let at = this.#at + 1;
    while (this.#kinds[at] === '.' && this.#kinds[at + 1] === 'IDENTIFIER') at += 2;
    return this.#kinds[at] === '{';
  }

  #list(): Expr {
    const at = this.#next();
    const elements: ListNode['elements'][number][] = [];
    let height = 0;
    while (this.#kinds[this.#at] !== ']' && !(elements.length === 0 && this.#kinds[this.#at] === ',')) {
      const optional = this.#optionalMark();
      elements.push({ value: this.#expr(), optional });
      height = Math.max(height, this.#height);
      if (this.#kinds[this.#at] !== ',') break;
      this.#at++;
    }
    // A lone comma is in the grammar: `[,]`.
    if (elements.length === 0 && this.#kinds[this.#at] === ',') this.#at++;
    this.#expect(']');
    this.#height = height;
    return this.#builder.list(at, elements);
  }

  #optionalMark(): boolean {
    return this.#kinds[this.#at] === '?' && this.#builder.allowsOptional(this.#next());
  }

  #map(): Expr {
    const at = this.#next();
    const entries: MapNode['entries'][number][] = [];
    let height = 0;
    while (this.#kinds[this.#at] !== '}') {
      if (entries.length === 0 && this.#kinds[this.#at] === ',') break;
      const { errors } = this.#builder;
      const before = errors.total;
      const optional = this.#optionalMark();
      const found = errors.total;
      const key = this.#expr();
      height = Math.max(height, this.#height);
      const colonAt = this.#expect(':');
      const value = this.#expr();
      height = Math.max(height, this.#height);
      if (found > before) errors.takeBack(found);
      entries.push({ id: this.#builder.id(), at: colonAt, key, value, optional });
      if (this.#kinds[this.#at] !== ',') break;
      this.#at++;
    }
    if (entries.length === 0 && this.#kinds[this.#at] === ',') this.#at++;
    this.#expect('}');
    this.#height = height;
    return this.#builder.map(at, entries);
  }

  #struct(leadingDot: boolean): Expr {
    let typeName = (leadingDot ? '.' : '') + this.#name();
    while (this.#kinds[this.#at] === '.') {
      this.#at++;
      typeName += `.${this.#name()}`;
    }
    const at = this.#expect('{');
    const fieldsAt = this.#source.offset(this.#tokens.starts[this.#at] ?? 0);
    const fields: StructNode['fields'][number][] = [];
    let height = 0;
    while (this.#kinds[this.#at] !== '}') {
      if (fields.length === 0 && this.#kinds[this.#at] === ',') break;
      const { errors } = this.#builder;
      const before = errors.total;
      const optional = this.#optionalMark();
      const escaped = this.#kinds[this.#at] === 'ESC_IDENTIFIER';
      if (escaped) {
        this.#at++;
        this.#builder.escapedName(fieldsAt);
      }
      const found = errors.total;
      const name = escaped ? '' : this.#name();
      const colonAt = this.#expect(':');
      const value = this.#expr();
      height = Math.max(height, this.#height);
      if (found > before) errors.takeBack(found);
      fields.push({ id: this.#builder.id(), at: colonAt, name, value, optional });
      if (this.#kinds[this.#at] !== ',') break;
      this.#at++;
    }
    if (fields.length === 0 && this.#kinds[this.#at] === ',') this.#at++;
    this.#expect('}');
    this.#height = height;
    return this.#builder.struct(at, typeName, fields);
  }

  #literal(): Expr {
    let text = this.#text();
    const negative = this.#kinds[this.#at] === '-';
    const at = this.#next();
    // A sign, only where a number follows: see #unary.
    if (negative && !this.#isNumber(this.#at)) throw new MismatchSignal();
    if (negative) text += this.#text();
    const reading = readLiteral(this.#kinds[negative ? this.#at++ : this.#at - 1] ?? '<EOF>', text);
    if (reading === undefined) throw new MismatchSignal();
    return this.#builder.literal(at, reading);
  }
}
