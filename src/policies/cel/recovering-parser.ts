/**
 * Reads a source that is not in the grammar as cel-go's generated parser does: what it reports, what it skips or makes
 * up, and where it gives up (antlr4 error_strategy, cel-go parser.go). Only errors and a tree with holes come of it.
 */
import type { TokenKind, Tokens } from './lexer.ts';
import { MAX_DEPTH } from './parser-limits.ts';
import type {
  Alternative,
  Decision,
  Element,
  Grammar,
  NextTokens,
  Place,
  RuleName,
} from './recovery-grammar.ts';
import { buildGrammar } from './recovery-grammar.ts';
import { TokenReader, TOKEN_ORDER, type TreeToken, displayExpected, quote } from './recovery-tokens.ts';
import type { ErrorLog, SourceText } from './source-error.ts';

/** Of cel-go parser/options.go. */
const MAX_RECOVERIES = 30;
const MAX_TOKENS_SKIPPED = 256;
const MAX_SYNTAX_ERRORS = 100;

export interface TreeNode {
  readonly rule: RuleName;
  /** Which alternative of its rule; empty where none could be chosen. */
  name: string;
  /** UTF-16 index of its first token. */
  readonly start: number;
  readonly tokens: Record<string, TreeToken[]>;
  readonly nodes: Record<string, TreeNode[]>;
  /** Left operand. */
  left?: TreeNode;
}

/** Nothing further is read, and the tree is not looked at. */
class AbortSignal extends Error {}

/** The rule being read cannot go on. */
class RecognitionError extends Error {
  readonly token: number;
  constructor(message: string, token: number) {
    super(message);
    this.token = token;
  }
}

/** @returns the tree; undefined where reading was given up. */
export function parseRecovering(tokens: Tokens, source: SourceText, errors: ErrorLog): TreeNode | undefined {
  const parser = new RecoveringParser(tokens, source, errors);
  try {
    return parser.rule('start', 0);
  } catch (signal) {
    if (signal instanceof AbortSignal) return undefined;
    throw signal;
  }
}

class RecoveringParser {
  readonly #reader: TokenReader;
  readonly #source: SourceText;
  readonly #errors: ErrorLog;
  readonly #grammar: Grammar = buildGrammar();
  #place: Place;
  /** Where each rule that is being read goes on in the one that called it. */
  readonly #callers: Place[] = [];
  readonly #depths = new Map<RuleName, number>();
  #recovering = false;
  #lastErrorIndex = -1;
  readonly #lastErrorPlaces = new Set<Place>();
  #recoveries = 0;
  #reported = 0;

  constructor(tokens: Tokens, source: SourceText, errors: ErrorLog) {
    this.#reader = new TokenReader(tokens, (start, message) => this.#syntaxError(start, message));
    this.#source = source;
    this.#errors = errors;
    this.#place = this.#grammar.start.start;
  }

  rule(name: RuleName, strength: number): TreeNode {
    const depth = (this.#depths.get(name) ?? 0) + 1;
    this.#depths.set(name, depth);
    if (depth > MAX_DEPTH) this.#abort(`expression recursion limit exceeded: ${MAX_DEPTH}`);
    const rule = this.#grammar[name];
    let node = this.#node(name, this.#reader.start(this.#reader.index));
    try {
      this.#run(rule.body, node);
      const { suffixes } = rule;
      if (suffixes !== undefined) {
        this.#enter(suffixes.at);
        while (this.#goesOn(suffixes, strength)) {
          node = this.#suffix(suffixes, node, (longer) => {
            node = longer;
          });
          this.#enter(suffixes.back);
        }
      }
    } catch (error) {
      if (!(error instanceof RecognitionError)) throw error;
      this.#report(error);
      this.#recover();
    }
    this.#depths.set(name, depth - 1);
    return node;
  }

  #node(rule: RuleName, start: number): TreeNode {
    return { rule, name: '', start, tokens: {}, nodes: {} };
  }

  /** One operator, selection, call or index behind what was read; `set` hears of the longer node at once. */
  #suffix(
    loop: Element & { readonly type: 'repeat' },
    left: TreeNode,
    set: (node: TreeNode) => void,
  ): TreeNode {
    const [element] = loop.body;
    if (element?.type !== 'choice') return left;
    this.#enter(element.at);
    const alternative = this.#chooseSuffix(element.alternatives);
    const node = this.#node(left.rule, left.start);
    node.name = alternative.name;
    node.left = left;
    set(node);
    this.#run(alternative.body, node);
    return node;
  }

  #run(elements: readonly Element[], node: TreeNode): void {
    for (const element of elements) this.#element(element, node);
  }

  #element(element: Element, node: TreeNode): void {
    switch (element.type) {
      case 'token': {
        this.#place = element.at;
        const token = this.#match(element.kinds);
        if (element.label !== '') (node.tokens[element.label] ??= []).push(token);
        break;
      }
      case 'rule': {
        this.#place = element.at;
        this.#callers.push(element.follow);
        const child = this.rule(element.rule, element.strength);
        this.#callers.pop();
        this.#place = element.at;
        (node.nodes[element.label] ??= []).push(child);
        break;
      }
      case 'optional':
        this.#enter(element.at);
        if (element.first.nextTokens(this.#grammar).tokens.has(this.#reader.kind(0)))
          this.#run(element.body, node);
        break;
      case 'choice': {
        this.#enter(element.at);
        const alternative = this.#choose(element.decision, element.alternatives);
        node.name = alternative.name;
        this.#run(alternative.body, node);
        break;
      }
      default:
        this.#repeat(element, node);
    }
  }

  #repeat(element: Element & { readonly type: 'repeat' }, node: TreeNode): void {
    this.#enter(element.at);
    let more = element.atLeastOnce || this.#goesOn(element, 0);
    while (more) {
      this.#run(element.body, node);
      this.#place = element.back;
      this.#syncBehind();
      more = this.#goesOn(element, 0);
    }
  }

  #goesOn(element: Element & { readonly type: 'repeat' }, strength: number): boolean {
    const kind = this.#reader.kind(0);
    const first = element.first.nextTokens(this.#grammar).tokens;
    switch (element.decision) {
      case 'suffix': {
        const [choice] = element.body;
        if (choice?.type !== 'choice') return false;
        return choice.alternatives.some(
          (alternative) =>
            alternative.strength >= strength && alternative.first.nextTokens(this.#grammar).tokens.has(kind),
        );
      }
      case 'list':
        // A comma before the closing bracket belongs to what is around the list.
        return kind === ',' && this.#isBehindComma(element);
      case 'minus':
        return this.#goesOnNegating(kind, element);
      default:
        return first.has(kind);
    }
  }

  #isBehindComma(element: Element & { readonly type: 'repeat' }): boolean {
    const [, item] = element.body;
    return item?.type === 'rule' && item.at.nextTokens(this.#grammar).tokens.has(this.#reader.kind(1));
  }

  #goesOnNegating(kind: TokenKind, element: Element & { readonly type: 'repeat' }): boolean {
    const expected = element.back.nextTokens(this.#grammar).tokens;
    if (!expected.has(kind)) throw this.#noViable(0);
    if (kind !== '-') return false;
    if (!expected.has(this.#reader.kind(1))) throw this.#noViable(1);
    return true;
  }

  #choose(decision: Decision, alternatives: readonly Alternative[]): Alternative {
    const kind = this.#reader.kind(0);
    const fitting = alternatives.filter(({ first }) => first.nextTokens(this.#grammar).tokens.has(kind));
    const [only] = fitting;
    if (only === undefined) throw this.#noViable(0);
    if (fitting.length === 1) return only;
    const name = this.#decide(decision, kind);
    return fitting.find((alternative) => alternative.name === name) ?? only;
  }

  #decide(decision: Decision, kind: TokenKind): string {
    if (decision === 'primary') return this.#decidePrimary(kind);
    // A minus: that of a number, or an operator before something else.
    const next = this.#reader.kind(1);
    if (next === 'NUM_INT') return decision === 'unary' ? 'member' : 'int';
    if (next === 'NUM_FLOAT') return decision === 'unary' ? 'member' : 'double';
    const { tokens } = this.#grammar.member.start.nextTokens(this.#grammar);
    if (decision === 'unary' && tokens.has(next)) return 'negate';
    throw this.#noViable(1);
  }

  #decidePrimary(kind: TokenKind): string {
    let ahead = kind === '.' ? 1 : 0;
    if (this.#reader.kind(ahead) !== 'IDENTIFIER') throw this.#noViable(ahead);
    ahead++;
    if (this.#reader.kind(ahead) === '(') return 'globalCall';
    while (this.#reader.kind(ahead) === '.' && this.#reader.kind(ahead + 1) === 'IDENTIFIER') ahead += 2;
    return this.#reader.kind(ahead) === '{' ? 'message' : 'ident';
  }

  #chooseSuffix(alternatives: readonly Alternative[]): Alternative {
    const kind = this.#reader.kind(0);
    const fitting = alternatives.filter(({ first }) => first.nextTokens(this.#grammar).tokens.has(kind));
    const [only, call] = fitting;
    if (only === undefined) throw this.#noViable(0);
    if (call === undefined) return only;
    // A selection, or a call where a name and a parenthesis follow.
    const next = this.#reader.kind(1);
    if (next !== 'IDENTIFIER' && next !== '?' && next !== 'ESC_IDENTIFIER') throw this.#noViable(1);
    return next === 'IDENTIFIER' && this.#reader.kind(2) === '(' ? call : only;
  }

  #match(kinds: ReadonlySet<TokenKind>): TreeToken {
    if (!kinds.has(this.#reader.kind(0))) return this.#recoverInline();
    this.#matched();
    const token = this.#reader.token(this.#reader.index);
    this.#reader.consume();
    return token;
  }

  #matched(): void {
    this.#recovering = false;
    this.#lastErrorPlaces.clear();
    this.#lastErrorIndex = -1;
  }

  /** Before a decision: a token that fits nowhere may be dropped. */
  #enter(place: Place): void {
    this.#place = place;
    if (this.#recovering) return;
    const { tokens, end } = place.nextTokens(this.#grammar);
    if (end || tokens.has(this.#reader.kind(0))) return;
    if (!this.#dropToken()) throw this.#mismatch();
  }

  /** Behind a round of a loop. */
  #syncBehind(): void {
    if (this.#recovering) return;
    const { tokens, end } = this.#place.nextTokens(this.#grammar);
    if (end || tokens.has(this.#reader.kind(0))) return;
    this.#reportUnwanted();
    this.#consumeUntil(new Set([...this.#expected(), ...this.#recoverySet()]), 0);
  }

  #recoverInline(): TreeToken {
    this.#countRecovery();
    if (this.#dropToken()) {
      const token = this.#reader.token(this.#reader.index);
      this.#reader.consume();
      return token;
    }
    const behind = this.#place.edges[0]?.to;
    if (behind === undefined || !this.#followsWithContext(behind).has(this.#reader.kind(0)))
      throw this.#mismatch();
    const expected = this.#expected();
    this.#reportOnce(`missing ${displayExpected(expected)} at ${this.#reader.display(this.#reader.index)}`);
    return this.#missing(expected);
  }

  /** A token that cel-go makes up: it stands where the one stands that was found, at the end where the last one is. */
  #missing(expected: ReadonlySet<TokenKind>): TreeToken {
    const kind = TOKEN_ORDER.find((one) => expected.has(one)) ?? '<EOF>';
    const at =
      this.#reader.kind(0) === '<EOF>' && this.#reader.index > 0
        ? this.#reader.index - 1
        : this.#reader.index;
    return { kind, text: '<missing undefined>', start: this.#reader.start(at) };
  }

  #dropToken(): boolean {
    if (!this.#expected().has(this.#reader.kind(1))) return false;
    this.#reportUnwanted();
    this.#reader.consume();
    this.#matched();
    return true;
  }

  #recover(): void {
    this.#countRecovery();
    let skipped = 0;
    if (this.#lastErrorIndex === this.#reader.index && this.#lastErrorPlaces.has(this.#place)) {
      this.#reader.consume();
      skipped++;
    }
    this.#lastErrorIndex = this.#reader.index;
    this.#lastErrorPlaces.add(this.#place);
    this.#consumeUntil(this.#recoverySet(), skipped);
  }

  #consumeUntil(wanted: ReadonlySet<TokenKind>, alreadySkipped: number): void {
    let skipped = alreadySkipped;
    for (
      let kind = this.#reader.kind(0);
      kind !== '<EOF>' && !wanted.has(kind);
      kind = this.#reader.kind(0)
    ) {
      if (skipped >= MAX_TOKENS_SKIPPED) {
        this.#abort(`error recovery token lookahead limit exceeded: ${MAX_TOKENS_SKIPPED}`);
      }
      skipped++;
      this.#reader.consume();
    }
  }

  #countRecovery(): void {
    if (this.#recoveries >= MAX_RECOVERIES) {
      this.#syntaxError(
        this.#reader.start(this.#reader.index),
        `error recovery attempt limit exceeded: ${MAX_RECOVERIES}`,
      );
      throw new AbortSignal();
    }
    this.#recoveries++;
  }

  /** What may come here, with what is around the rule where it may end. */
  #expected(): Set<TokenKind> {
    return this.#withCallers(this.#place.nextTokens(this.#grammar));
  }

  #followsWithContext(place: Place): Set<TokenKind> {
    return this.#withCallers(place.nextTokens(this.#grammar));
  }

  #withCallers(next: NextTokens): Set<TokenKind> {
    const expected = new Set(next.tokens);
    let { end } = next;
    for (let i = this.#callers.length - 1; end && i >= 0; i--) {
      const following = this.#callers[i]?.nextTokens(this.#grammar);
      for (const token of following?.tokens ?? []) expected.add(token);
      end = following?.end === true;
    }
    if (end) expected.add('<EOF>');
    return expected;
  }

  /** Everything that some rule around waits for. */
  #recoverySet(): Set<TokenKind> {
    const set = new Set<TokenKind>();
    for (const caller of this.#callers)
      for (const token of caller.nextTokens(this.#grammar).tokens) set.add(token);
    return set;
  }

  #mismatch(): RecognitionError {
    const expecting = displayExpected(this.#expected());
    const message = `mismatched input ${this.#reader.display(this.#reader.index)} expecting ${expecting}`;
    return new RecognitionError(message, this.#reader.index);
  }

  /** @param ahead how many tokens fit before the one that does not. */
  #noViable(ahead: number): RecognitionError {
    const offending = this.#reader.index + ahead;
    const text =
      this.#reader.kind(0) === '<EOF>' ? '<EOF>' : this.#reader.textBetween(this.#reader.index, offending);
    const reserved = ahead > 0 && /^.(true|false|null)$/.exec(text);
    const message = reserved
      ? `mismatched input '${reserved[1] ?? ''}' expecting IDENTIFIER`
      : `no viable alternative at input ${quote(text)}`;
    return new RecognitionError(message, offending);
  }

  #report(error: RecognitionError): void {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#syntaxError(this.#reader.start(error.token), error.message);
  }

  #reportUnwanted(): void {
    const expecting = displayExpected(this.#expected());
    this.#reportOnce(`extraneous input ${this.#reader.display(this.#reader.index)} expecting ${expecting}`);
  }

  #reportOnce(message: string): void {
    if (this.#recovering) return;
    this.#recovering = true;
    this.#syntaxError(this.#reader.start(this.#reader.index), message);
  }

  #syntaxError(start: number, message: string): void {
    // The end of an empty source has no column.
    const at = this.#source.text === '' ? -1 : this.#source.offset(start);
    if (this.#reported < MAX_SYNTAX_ERRORS) {
      this.#reported++;
      this.#errors.add(at, `Syntax error: ${message}`);
      return;
    }
    this.#errors.add(at, `Syntax error: More than ${MAX_SYNTAX_ERRORS} syntax errors`);
    throw new AbortSignal();
  }

  #abort(message: string): never {
    this.#errors.add(undefined, message);
    throw new AbortSignal();
  }
}
