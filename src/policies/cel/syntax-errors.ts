/** What is wrong with a source that is not in the grammar, in the words and at the places of cel-go's parser. */
import { AstBuilder } from './ast-builder.ts';
import type { Tokens } from './lexer.ts';
import type { Syntax } from './macros.ts';
import { parseRecovering } from './recovering-parser.ts';
import { visitBrokenTree } from './recovery-visitor.ts';
import type { ErrorLog, SourceText } from './source-error.ts';

export function syntaxErrors(tokens: Tokens, source: SourceText, syntax: Syntax): ErrorLog {
  const builder = new AstBuilder(syntax);
  const tree = parseRecovering(tokens, source, builder.errors);
  if (tree !== undefined) visitBrokenTree(tree, source, builder);
  return builder.errors;
}
