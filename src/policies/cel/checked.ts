/** What the checker found out about an expression: what the evaluator is built from. */
import type { Ast } from './ast.ts';
import type { CelType } from './cel-type.ts';
import type { Value } from './values.ts';

export type Reference =
  /** An identifier, or a select that is a name as a whole: `authorizer.requestResource`. Without a leading dot. */
  | { readonly kind: 'variable'; readonly name: string }
  /** The name of a type. */
  | { readonly kind: 'constant'; readonly value: Value }
  /** `name` as it is declared: `size`, `sets.contains`, `_+_`. */
  | {
      readonly kind: 'call';
      readonly name: string;
      /** Ids of the overloads that fit the static types; at run time they count as resolved where there is one. */
      readonly overloads: readonly string[];
      /** Whether the target is an argument; else it is a part of the name, as in `sets.contains(…)`. */
      readonly member: boolean;
    };

export interface Checked {
  readonly ast: Ast;
  readonly type: CelType;
  /** By the id of the node. A variable of a macro may be in here or not: its name is enough to find it. */
  readonly references: ReadonlyMap<number, Reference>;
  /** Static type by the id of the node. */
  readonly types: ReadonlyMap<number, CelType>;
}
