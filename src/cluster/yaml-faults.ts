/** What the YAML library finds wrong, in plain words. Its own messages may quote the file; its codes do not. */

const WORDS: Readonly<Record<string, string>> = {
  BAD_DQ_ESCAPE: 'a backslash within double quotes starts no known escape; use single quotes',
  BAD_INDENT: 'the indentation does not fit the lines above, or a bracket or brace is not closed',
  BAD_SCALAR_START: 'a text starts with a character that has a meaning of its own; put quotes around it',
  BLOCK_AS_IMPLICIT_KEY:
    'a second key stands on one line; put quotes around a text that holds ": ", or check the indentation',
  BLOCK_IN_FLOW: 'lines with a dash or an indentation stand within brackets or braces',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR: 'a quote, a bracket, a comma or a ":" is missing',
  MULTILINE_IMPLICIT_KEY: 'a key goes over several lines; look for a ":" or a quote that is missing',
  TAB_AS_INDENT: 'a tab indents the line; use spaces',
  UNEXPECTED_TOKEN: 'something stands here that does not belong here; look at the indentation and the quotes',
};

/** @param code of the library's YAMLParseError. */
export function yamlFaultInWords(code: string): string {
  return WORDS[code] ?? code.toLowerCase().replaceAll('_', ' ');
}
