/** What is wrong with a source that is not in the grammar, in the words and at the places of cel-go's parser. */
import type { Tokens } from './lexer.ts';
import type { Syntax } from './macros.ts';
import type { SourceError, SourceText } from './source-error.ts';

export function syntaxErrors(tokens: Tokens, source: SourceText, _syntax: Syntax): readonly SourceError[] {
  return tokens.errors.map((error) => ({
    at: source.offset(error.start),
    message: `Syntax error: token recognition error at: '${error.text}'`,
  }));
}
