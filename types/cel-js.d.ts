/** What the benchmark uses of cel-js: the package's own declarations name a file that it does not ship. */
export type Ast = object;

export function parse(
  source: string,
):
  | { readonly isSuccess: true; readonly cst: Ast }
  | { readonly isSuccess: false; readonly errors: readonly string[] };

export function evaluate(expression: string | Ast, context?: Readonly<Record<string, unknown>>): unknown;
