/** What is wrong with a source that is not in the grammar, in the words and at the places of cel-go's parser. */
import type { Tokens } from './lexer.ts';
import type { Syntax } from './macros.ts';
import { ErrorLog, type SourceText } from './source-error.ts';

export function syntaxErrors(tokens: Tokens, source: SourceText, _syntax: Syntax): ErrorLog {
  const log = new ErrorLog();
  for (const error of tokens.errors) {
    log.add(source.offset(error.start), `Syntax error: token recognition error at: '${error.text}'`);
  }
  return log;
}
