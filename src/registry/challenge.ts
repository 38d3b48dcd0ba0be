/**
 * WWW-Authenticate (RFC 9110 §11.6.1), read as leniently as registries write it: schemes and names in any case, values
 * with or without quotes, several challenges in one header or in several.
 */

export interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  /** By name in lower case; of two of one name the first. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** A challenge is some hundred bytes. */
const CHALLENGE_LENGTH = 8 * 1024;

const NAME = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const EQUALS = /[ \t]*=[ \t]*/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;
/** A realm without quotes has characters that no token may have. */
const BARE = /[^\s,"]*/y;

export function parseChallenges(header: string | readonly string[] | undefined): readonly Challenge[] {
  const texts = header === undefined ? [] : typeof header === 'string' ? [header] : header;
  return texts.filter((text) => text.length <= CHALLENGE_LENGTH).flatMap(parseOne);
}

/** The one to answer: a token is worth less than a password where it gets lost. */
export function preferred(challenges: readonly Challenge[]): Challenge | undefined {
  return (
    challenges.find(({ scheme, parameters }) => scheme === 'bearer' && parameters.has('realm')) ??
    challenges.find(({ scheme }) => scheme === 'basic')
  );
}

function parseOne(text: string): readonly Challenge[] {
  const found: { readonly scheme: string; readonly parameters: Map<string, string> }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  while (at < text.length) {
    const name = take(NAME)?.[0].toLowerCase();
    if (name === undefined) {
      // A separator, or something that belongs to no challenge.
      at += 1;
      continue;
    }
    if (take(EQUALS) === null) {
      found.push({ scheme: name, parameters: new Map() });
      continue;
    }
    const quoted = take(QUOTED);
    const value = quoted === null ? (take(BARE)?.[0] ?? '') : (quoted[1] ?? '').replace(/\\(.)/g, '$1');
    const parameters = found.at(-1)?.parameters;
    if (parameters !== undefined && !parameters.has(name)) parameters.set(name, value);
  }
  return found;
}
