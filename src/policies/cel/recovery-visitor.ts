/** What cel-go finds in the tree of a source with syntax errors, beside those: reserved words, literals, macros. */
import type { Expr, ListNode, MapNode, StructNode } from './ast.ts';
import { type AstBuilder, RESERVED } from './ast-builder.ts';
import { readLiteral } from './literals.ts';
import { MAX_DEPTH } from './parser-limits.ts';
import type { TreeNode } from './recovering-parser.ts';
import type { TreeToken } from './recovery-tokens.ts';
import type { SourceText } from './source-error.ts';

const RELATIONS = '_$_';

/** Too deep: nothing further is looked at. */
class DepthSignal extends Error {}

/** Adds what is found to the errors of the builder. */
export function visitBrokenTree(tree: TreeNode, source: SourceText, builder: AstBuilder): void {
  try {
    new Visitor(source, builder).visit(tree.nodes['e']?.[0]);
  } catch (signal) {
    if (!(signal instanceof DepthSignal)) throw signal;
    builder.errors.add(undefined, 'max recursion depth exceeded');
  }
}

class Visitor {
  readonly #source: SourceText;
  readonly #builder: AstBuilder;
  #depth = 0;

  constructor(source: SourceText, builder: AstBuilder) {
    this.#source = source;
    this.#builder = builder;
  }

  visit(tree: TreeNode | undefined): Expr {
    const node = unnest(tree);
    if (node === undefined) return this.#hole();
    switch (node.rule) {
      case 'expr':
        return this.#deeper(() => this.#ternary(node));
      case 'or':
      case 'and':
        return this.#logic(node);
      case 'relation':
      case 'calc':
        return this.#deeper(() => this.#binary(node));
      case 'unary':
        return this.#unary(node);
      case 'member':
        return this.#deeper(() => this.#suffix(node));
      case 'primary':
        return this.#primary(node);
      case 'literal':
        return this.#literal(node);
      default:
        return this.#hole();
    }
  }

  #deeper(run: () => Expr): Expr {
    if (++this.#depth > MAX_DEPTH) throw new DepthSignal();
    const expr = run();
    this.#depth--;
    return expr;
  }

  /** @param at left out where cel-go has no place for it: it stands before the source then. */
  #hole(at = -1): Expr {
    return this.#builder.error(at);
  }

  #at(token: TreeToken | TreeNode): number {
    return this.#source.offset(token.start);
  }

  #ternary(node: TreeNode): Expr {
    const [condition] = node.nodes['e'] ?? [];
    const [op] = node.tokens['op'] ?? [];
    const parts = [condition, node.nodes['e1']?.[0], node.nodes['e2']?.[0]].map((part) => this.visit(part));
    return op === undefined ? this.#hole() : this.#builder.operator(this.#at(op), '_?_:_', parts);
  }

  #logic(node: TreeNode): Expr {
    const operator = node.rule === 'or' ? '||' : '&&';
    const terms = [this.visit(node.nodes['e']?.[0])];
    const operatorsAt: number[] = [];
    for (const [i, op] of (node.tokens['ops'] ?? []).entries()) {
      const next = node.nodes['e1']?.[i];
      if (next === undefined) {
        return this.#builder.error(this.#at(node), `unexpected character, wanted '${operator}'`);
      }
      terms.push(this.visit(next));
      operatorsAt.push(this.#at(op));
    }
    return this.#builder.balanced(`_${operator}_`, terms, operatorsAt);
  }

  #binary(node: TreeNode): Expr {
    const [op] = node.tokens['op'] ?? [];
    const operands = [this.visit(node.left), this.visit(node.nodes['right']?.[0])];
    return op === undefined ? this.#hole() : this.#builder.operator(this.#at(op), RELATIONS, operands);
  }

  #unary(node: TreeNode): Expr {
    const ops = node.tokens['ops'] ?? [];
    const [first] = ops;
    if (first === undefined) return this.#hole(this.#at(node));
    const operand = this.visit(node.nodes['member']?.[0]);
    return ops.length % 2 === 0 ? operand : this.#builder.operator(this.#at(first), '!_', [operand]);
  }

  #suffix(node: TreeNode): Expr {
    const operand = this.visit(node.left);
    const [op] = node.tokens['op'] ?? [];
    if (op === undefined) return this.#hole(this.#at(node));
    const optional = node.tokens['opt'] !== undefined;
    if (node.name === 'select') return this.#select(node, op, operand, optional);
    if (node.name === 'index') {
      return this.#builder.index(this.#at(op), operand, this.visit(node.nodes['index']?.[0]), optional);
    }
    const [id] = node.tokens['id'] ?? [];
    const [open] = node.tokens['open'] ?? [];
    if (id === undefined || open === undefined) return this.#hole(this.#at(node));
    return this.#builder.memberCall(this.#at(open), id.text, operand, this.#args(node));
  }

  #select(node: TreeNode, op: TreeToken, operand: Expr, optional: boolean): Expr {
    const [name] = node.nodes['id'] ?? [];
    if (name === undefined) return this.#hole(this.#at(node));
    return this.#builder.select(this.#at(op), operand, this.#fieldName(name, this.#at(name)) ?? '', optional);
  }

  /** @returns undefined where there is none that may be used, which is reported. */
  #fieldName(name: TreeNode | undefined, at: number): string | undefined {
    if (name?.name === 'simple') return name.tokens['id']?.[0]?.text ?? '';
    if (name?.name === 'escaped') this.#builder.escapedName(at);
    else this.#builder.errors.add(at, 'unsupported ident kind');
    return undefined;
  }

  #args(node: TreeNode): Expr[] {
    return (node.nodes['args']?.[0]?.nodes['es'] ?? []).map((arg) => this.visit(arg));
  }

  #primary(node: TreeNode): Expr {
    const leadingDot = node.tokens['leadingDot'] !== undefined;
    const [id] = node.tokens['id'] ?? [];
    const [op] = node.tokens['op'] ?? [];
    switch (node.name) {
      case 'ident':
        if (id === undefined) return this.#hole(this.#at(node));
        return this.#builder.ident(this.#at(id), id.text, leadingDot, this.#at(node));
      case 'globalCall': {
        const [open] = node.tokens['open'] ?? [];
        if (id === undefined || open === undefined) return this.#hole(this.#at(node));
        const args = RESERVED.has(id.text) ? [] : this.#args(node);
        return this.#builder.globalCall(this.#at(open), id.text, leadingDot, this.#at(node), args);
      }
      case 'list':
        return this.#list(node, op);
      case 'map':
        return this.#map(node, op);
      case 'message':
        return this.#message(node, op, leadingDot);
      default:
        return this.#hole();
    }
  }

  #list(node: TreeNode, op: TreeToken | undefined): Expr {
    const elements: ListNode['elements'][number][] = [];
    for (const element of node.nodes['elems']?.[0]?.nodes['elems'] ?? []) {
      const value = this.visit(element.nodes['e']?.[0]);
      elements.push({ value, optional: this.#isOptional(element) });
    }
    return this.#builder.list(this.#at(op ?? node), elements);
  }

  #isOptional(node: TreeNode): boolean {
    const [mark] = node.tokens['opt'] ?? [];
    return mark !== undefined && this.#builder.allowsOptional(this.#at(mark));
  }

  /** Whether there is a mark where none may be: what it stands before is not looked at. */
  #isMisplaced(node: TreeNode, optional: boolean): boolean {
    return !optional && node.tokens['opt'] !== undefined;
  }

  #map(node: TreeNode, op: TreeToken | undefined): Expr {
    const entries: MapNode['entries'][number][] = [];
    const list = node.nodes['entries']?.[0];
    for (const [i, colon] of (list?.tokens['cols'] ?? []).entries()) {
      const key = list?.nodes['keys']?.[i];
      const value = list?.nodes['values']?.[i];
      if (key === undefined || value === undefined) break;
      const optional = this.#isOptional(key);
      if (this.#isMisplaced(key, optional)) continue;
      entries.push({
        id: this.#builder.id(),
        at: this.#at(colon),
        key: this.visit(key.nodes['e']?.[0]),
        value: this.visit(value),
        optional,
      });
    }
    return this.#builder.map(this.#at(op ?? node), entries);
  }

  #message(node: TreeNode, op: TreeToken | undefined, leadingDot: boolean): Expr {
    const fields: StructNode['fields'][number][] = [];
    const list = node.nodes['entries']?.[0];
    for (const [i, field] of (list?.nodes['fields'] ?? []).entries()) {
      const colon = list?.tokens['cols']?.[i];
      const value = list?.nodes['values']?.[i];
      if (list === undefined || colon === undefined || value === undefined) break;
      const optional = this.#isOptional(field);
      if (this.#isMisplaced(field, optional)) continue;
      const name = this.#fieldName(field.nodes['id']?.[0], this.#at(list));
      // What such a field is set to is not looked at.
      if (name === undefined) continue;
      fields.push({ id: this.#builder.id(), at: this.#at(colon), name, value: this.visit(value), optional });
    }
    const typeName = (node.tokens['ids'] ?? []).map(({ text }) => text).join('.');
    return this.#builder.struct(this.#at(op ?? node), leadingDot ? `.${typeName}` : typeName, fields);
  }

  #literal(node: TreeNode): Expr {
    const [token] = node.tokens['tok'] ?? [];
    const at = this.#at(node);
    if (token === undefined) return this.#hole();
    const reading = readLiteral(token.kind, (node.tokens['sign']?.[0]?.text ?? '') + token.text);
    return reading === undefined ? this.#hole() : this.#builder.literal(at, reading);
  }
}

/** Where a rule has nothing but one operand, and where that is. */
const PASSAGES: Readonly<Record<string, (node: TreeNode) => TreeNode | undefined>> = {
  expr: ({ tokens, nodes }) => (tokens['op'] === undefined ? nodes['e']?.[0] : undefined),
  or: ({ tokens, nodes }) => (tokens['ops'] === undefined ? nodes['e']?.[0] : undefined),
  and: ({ tokens, nodes }) => (tokens['ops'] === undefined ? nodes['e']?.[0] : undefined),
  relation: ({ left, nodes }) => (left === undefined ? nodes['calc']?.[0] : undefined),
  calc: ({ left, nodes }) => (left === undefined ? nodes['unary']?.[0] : undefined),
  unary: ({ name, nodes }) => (name === 'member' ? nodes['member']?.[0] : undefined),
  member: ({ left, nodes }) => (left === undefined ? nodes['primary']?.[0] : undefined),
  primary: ({ name, nodes }) => (name === 'nested' ? nodes['e']?.[0] : nodes['literal']?.[0]),
};

/** Down to what is more than a passage to one operand. */
function unnest(tree: TreeNode | undefined): TreeNode | undefined {
  let node = tree;
  for (;;) {
    const inner = node === undefined ? undefined : PASSAGES[node.rule]?.(node);
    if (inner === undefined) return node;
    node = inner;
  }
}
