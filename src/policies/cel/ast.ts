/** What the parser makes of an expression. Macros stay nodes of their own: they are never expanded. */

/** Where a node stands: an offset into the source, in code points, as cel-go counts. */
export type Offset = number;

/** Value of a literal, before it is a value of an evaluation: the kind is known, the representation is values.ts's. */
export type Literal =
  | { readonly type: 'null' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'uint'; readonly value: bigint }
  | { readonly type: 'double'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Uint8Array };

interface Node {
  /** Unique within one expression, from 1 in the order of parsing: what the checker keeps its findings under. */
  readonly id: number;
  readonly at: Offset;
}

export interface LiteralNode extends Node {
  readonly kind: 'literal';
  readonly literal: Literal;
}

export interface IdentNode extends Node {
  readonly kind: 'ident';
  /** With a leading dot where the source has one. */
  readonly name: string;
}

export interface SelectNode extends Node {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)`. */
  readonly test: boolean;
  /** `operand.?field`. */
  readonly optional: boolean;
}

/** Operators are calls too, under cel-go's names: `_+_`, `_?_:_`, `_[_]`, `_[?_]`, `!_`, `-_`, `@in`. */
export interface CallNode extends Node {
  readonly kind: 'call';
  readonly function: string;
  /** Left out for a global call. */
  readonly target?: Expr;
  readonly args: readonly Expr[];
}

export interface ListNode extends Node {
  readonly kind: 'list';
  readonly elements: readonly { readonly value: Expr; readonly optional: boolean }[];
}

export interface MapNode extends Node {
  readonly kind: 'map';
  readonly entries: readonly {
    readonly id: number;
    readonly at: Offset;
    readonly key: Expr;
    readonly value: Expr;
    readonly optional: boolean;
  }[];
}

/** `Type{field: value}`. */
export interface StructNode extends Node {
  readonly kind: 'struct';
  readonly typeName: string;
  readonly fields: readonly {
    readonly id: number;
    readonly at: Offset;
    readonly name: string;
    readonly value: Expr;
    readonly optional: boolean;
  }[];
}

export type MacroName =
  | 'all'
  | 'exists'
  | 'exists_one'
  /** Two variables only. */
  | 'existsOne'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry'
  | 'sortBy'
  | 'optMap'
  | 'optFlatMap';

/** `range.macro(v, …)` or `range.macro(k, v, …)`; of `optMap`, `optFlatMap` the range is the optional. */
export interface MacroNode extends Node {
  readonly kind: 'macro';
  readonly macro: MacroName;
  readonly range: Expr;
  /** One name, or two. */
  readonly variables: readonly string[];
  /** The condition of `map`, `transform…` with a filter. */
  readonly filter?: Expr;
  /** Predicate, or what each element becomes. */
  readonly body: Expr;
}

export type Expr =
  LiteralNode | IdentNode | SelectNode | CallNode | ListNode | MapNode | StructNode | MacroNode;

/** A parsed source. */
export interface Ast {
  readonly expr: Expr;
  readonly source: string;
}
