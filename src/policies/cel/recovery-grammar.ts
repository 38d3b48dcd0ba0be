/**
 * The grammar of CEL as data, for reading a source that is not in it (recovering-parser.ts). Each place in a rule knows
 * which tokens may come next: that is what error texts list, and what recovery goes by.
 */
import type { TokenKind } from './lexer.ts';

/** A place in a rule. `epsilon` edges lead on without a token. */
export class Place {
  readonly edges: {
    readonly to: Place;
    readonly tokens?: ReadonlySet<TokenKind>;
    readonly rule?: RuleName;
  }[] = [];
  /** The end of its rule. */
  end = false;
  #next: NextTokens | undefined;

  /** Tokens that may come here within the rule, and whether it may end here. */
  nextTokens(grammar: Grammar): NextTokens {
    this.#next ??= nextTokens(grammar, this);
    return this.#next;
  }
}

export interface NextTokens {
  readonly tokens: ReadonlySet<TokenKind>;
  readonly end: boolean;
}

function nextTokens(grammar: Grammar, from: Place): NextTokens {
  const tokens = new Set<TokenKind>();
  const seen = new Set<Place>();
  const walk = (place: Place): boolean => {
    if (seen.has(place)) return false;
    seen.add(place);
    if (place.end) return true;
    let end = false;
    for (const edge of place.edges) {
      if (edge.tokens !== undefined) for (const token of edge.tokens) tokens.add(token);
      else if (edge.rule === undefined) end = walk(edge.to) || end;
      // No rule is empty: what follows it does not matter.
      else for (const token of grammar[edge.rule].start.nextTokens(grammar).tokens) tokens.add(token);
    }
    return end;
  };
  const end = walk(from);
  return { tokens, end };
}

export type RuleName =
  | 'start'
  | 'expr'
  | 'or'
  | 'and'
  | 'relation'
  | 'calc'
  | 'unary'
  | 'member'
  | 'primary'
  | 'exprList'
  | 'listInit'
  | 'fieldInitializerList'
  | 'optField'
  | 'mapInitializerList'
  | 'escapeIdent'
  | 'optExpr'
  | 'literal';

/** How a choice between several ways on is made: by the next token alone, or as written in recovering-parser.ts. */
export type Decision = 'token' | 'list' | 'minus' | 'unary' | 'suffix' | 'primary' | 'literal';

export type Element =
  | {
      readonly type: 'token';
      readonly kinds: ReadonlySet<TokenKind>;
      readonly label: string;
      readonly at: Place;
    }
  | {
      readonly type: 'rule';
      readonly rule: RuleName;
      readonly strength: number;
      readonly label: string;
      readonly at: Place;
      readonly follow: Place;
    }
  | {
      readonly type: 'optional';
      readonly body: readonly Element[];
      readonly at: Place;
      readonly first: Place;
    }
  | {
      readonly type: 'repeat';
      readonly atLeastOnce: boolean;
      readonly decision: Decision;
      readonly body: readonly Element[];
      readonly at: Place;
      readonly back: Place;
      readonly first: Place;
    }
  | {
      readonly type: 'choice';
      readonly decision: Decision;
      readonly alternatives: readonly Alternative[];
      readonly at: Place;
    };

export interface Alternative {
  /** Of the node that it makes. */
  readonly name: string;
  readonly body: readonly Element[];
  readonly first: Place;
  /** Of a suffix in a rule with operators: how strong it binds. */
  readonly strength: number;
}

export interface Rule {
  readonly start: Place;
  readonly body: readonly Element[];
  /** What may follow again and again, with the node so far as its left operand. */
  readonly suffixes?: Element & { readonly type: 'repeat' };
}

export type Grammar = Readonly<Record<RuleName, Rule>>;

/** Before the places are known. */
type Sketch = (from: Place) => { readonly element: Element; readonly to: Place };

function token(kinds: readonly TokenKind[], label = ''): Sketch {
  return (from) => {
    const to = new Place();
    const set = new Set(kinds);
    from.edges.push({ to, tokens: set });
    return { element: { type: 'token', kinds: set, label, at: from }, to };
  };
}

function rule(name: RuleName, label: string, strength = 0): Sketch {
  return (from) => {
    const to = new Place();
    from.edges.push({ to, rule: name });
    return { element: { type: 'rule', rule: name, strength, label, at: from, follow: to }, to };
  };
}

function sequence(parts: readonly Sketch[], from: Place): { readonly body: Element[]; readonly to: Place } {
  let at = from;
  const body: Element[] = [];
  for (const part of parts) {
    const { element, to } = part(at);
    body.push(element);
    at = to;
  }
  return { body, to: at };
}

function optional(...parts: readonly Sketch[]): Sketch {
  return (from) => {
    const first = new Place();
    const to = new Place();
    from.edges.push({ to: first }, { to });
    const { body, to: end } = sequence(parts, first);
    end.edges.push({ to });
    return { element: { type: 'optional', body, at: from, first }, to };
  };
}

function repeat(decision: Decision, atLeastOnce: boolean, ...parts: readonly Sketch[]): Sketch {
  return (from) => {
    const first = new Place();
    const back = new Place();
    const to = new Place();
    from.edges.push({ to: first });
    if (!atLeastOnce) from.edges.push({ to });
    const { body, to: end } = sequence(parts, first);
    end.edges.push({ to: back });
    back.edges.push({ to: first }, { to });
    return { element: { type: 'repeat', atLeastOnce, decision, body, at: from, back, first }, to };
  };
}

function choice(
  decision: Decision,
  alternatives: Readonly<Record<string, readonly [number, ...Sketch[]]>>,
): Sketch {
  return (from) => {
    const to = new Place();
    const made: Alternative[] = [];
    for (const [name, [strength, ...parts]] of Object.entries(alternatives)) {
      const first = new Place();
      from.edges.push({ to: first });
      const { body, to: end } = sequence(parts, first);
      end.edges.push({ to });
      made.push({ name, body, first, strength });
    }
    return { element: { type: 'choice', decision, alternatives: made, at: from }, to };
  };
}

function plain(...parts: readonly Sketch[]): Rule {
  const start = new Place();
  const { body, to } = sequence(parts, start);
  to.end = true;
  return { start, body };
}

function withSuffixes(operand: Sketch, suffixes: Sketch): Rule {
  const start = new Place();
  const { body, to } = sequence([operand], start);
  const { element, to: end } = repeat('suffix', false, suffixes)(to);
  end.end = true;
  if (element.type !== 'repeat') throw new Error('a loop is a loop');
  return { start, body, suffixes: element };
}

const RELATION_OPERATORS: readonly TokenKind[] = ['<', '<=', '>=', '>', '==', '!=', 'in'];
const ARGUMENTS = [token(['('], 'open'), optional(rule('exprList', 'args')), token([')'])] as const;

/** @returns the grammar; its places remember what may follow them. */
export function buildGrammar(): Grammar {
  return { ...operatorRules(), ...memberRules(), ...listRules() };
}

const comma = token([',']);
const dot = token(['.'], 'leadingDot');
const name = token(['IDENTIFIER'], 'id');

function operatorRules() {
  return {
    start: plain(rule('expr', 'e'), token(['<EOF>'])),
    expr: plain(
      rule('or', 'e'),
      optional(token(['?'], 'op'), rule('or', 'e1'), token([':']), rule('expr', 'e2')),
    ),
    or: plain(rule('and', 'e'), repeat('token', false, token(['||'], 'ops'), rule('and', 'e1'))),
    and: plain(rule('relation', 'e'), repeat('token', false, token(['&&'], 'ops'), rule('relation', 'e1'))),
    relation: withSuffixes(
      rule('calc', 'calc'),
      choice('suffix', { relation: [1, token(RELATION_OPERATORS, 'op'), rule('relation', 'right', 2)] }),
    ),
    calc: withSuffixes(
      rule('unary', 'unary'),
      choice('suffix', {
        product: [2, token(['*', '/', '%'], 'op'), rule('calc', 'right', 3)],
        sum: [1, token(['+', '-'], 'op'), rule('calc', 'right', 2)],
      }),
    ),
    unary: plain(
      choice('unary', {
        member: [0, rule('member', 'member')],
        not: [0, repeat('token', true, token(['!'], 'ops')), rule('member', 'member')],
        negate: [0, repeat('minus', true, token(['-'], 'ops')), rule('member', 'member')],
      }),
    ),
  };
}

function memberRules() {
  return {
    member: withSuffixes(
      rule('primary', 'primary'),
      choice('suffix', {
        select: [3, token(['.'], 'op'), optional(token(['?'], 'opt')), rule('escapeIdent', 'id')],
        call: [2, token(['.'], 'op'), name, ...ARGUMENTS],
        index: [1, token(['['], 'op'), optional(token(['?'], 'opt')), rule('expr', 'index'), token([']'])],
      }),
    ),
    primary: plain(
      choice('primary', {
        ident: [0, optional(dot), name],
        globalCall: [0, optional(dot), name, ...ARGUMENTS],
        nested: [0, token(['(']), rule('expr', 'e'), token([')'])],
        list: [0, token(['['], 'op'), optional(rule('listInit', 'elems')), optional(comma), token([']'])],
        map: [
          0,
          token(['{'], 'op'),
          optional(rule('mapInitializerList', 'entries')),
          optional(comma),
          token(['}']),
        ],
        message: [
          0,
          optional(dot),
          token(['IDENTIFIER'], 'ids'),
          repeat('token', false, token(['.']), token(['IDENTIFIER'], 'ids')),
          token(['{'], 'op'),
          optional(rule('fieldInitializerList', 'entries')),
          optional(comma),
          token(['}']),
        ],
        literal: [0, rule('literal', 'literal')],
      }),
    ),
    escapeIdent: plain(choice('token', { simple: [0, name], escaped: [0, token(['ESC_IDENTIFIER'], 'id')] })),
    literal: plain(
      choice('literal', {
        int: [0, optional(token(['-'], 'sign')), token(['NUM_INT'], 'tok')],
        uint: [0, token(['NUM_UINT'], 'tok')],
        double: [0, optional(token(['-'], 'sign')), token(['NUM_FLOAT'], 'tok')],
        string: [0, token(['STRING'], 'tok')],
        bytes: [0, token(['BYTES'], 'tok')],
        true: [0, token(['true'], 'tok')],
        false: [0, token(['false'], 'tok')],
        null: [0, token(['null'], 'tok')],
      }),
    ),
  };
}

function listRules() {
  const fieldEntry = [rule('optField', 'fields'), token([':'], 'cols'), rule('expr', 'values')];
  const mapEntry = [rule('optExpr', 'keys'), token([':'], 'cols'), rule('expr', 'values')];
  return {
    exprList: plain(rule('expr', 'es'), repeat('token', false, comma, rule('expr', 'es'))),
    listInit: plain(rule('optExpr', 'elems'), repeat('list', false, comma, rule('optExpr', 'elems'))),
    fieldInitializerList: plain(...fieldEntry, repeat('list', false, comma, ...fieldEntry)),
    mapInitializerList: plain(...mapEntry, repeat('list', false, comma, ...mapEntry)),
    optField: plain(optional(token(['?'], 'opt')), rule('escapeIdent', 'id')),
    optExpr: plain(optional(token(['?'], 'opt')), rule('expr', 'e')),
  };
}
