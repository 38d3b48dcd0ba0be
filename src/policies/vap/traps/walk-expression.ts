/** Going through the nodes of an expression. */
import type { Expr } from '../../cel/ast.ts';

/** What is directly below a node, in the order of the source. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements.map(({ value }) => value);
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expr.fields.map(({ value }) => value);
    default:
      return expr.filter === undefined ? [expr.range, expr.body] : [expr.range, expr.filter, expr.body];
  }
}

/** The node and everything below it. */
export function* nodesOf(expr: Expr): Generator<Expr> {
  // A stack of its own: sums and chains of calls may be deep.
  const open = [expr];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    open.push(...childrenOf(node).toReversed());
  }
}

/** The operands of a chain of one binary operator. */
export function operandsOf(expr: Expr, operator: string): readonly Expr[] {
  const operands: Expr[] = [];
  const open = [expr];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === 'call' && node.function === operator && node.target === undefined)
      open.push(...node.args.toReversed());
    else operands.push(node);
  }
  return operands;
}

/** The name of a variable, without a leading dot. */
export function identName(expr: Expr): string | undefined {
  return expr.kind === 'ident' ? expr.name.replace(/^\./, '') : undefined;
}

/** `x` of `variables.x`. */
export function variableName(expr: Expr): string | undefined {
  if (expr.kind !== 'select' || expr.test || expr.optional) return undefined;
  return identName(expr.operand) === 'variables' ? expr.field : undefined;
}
