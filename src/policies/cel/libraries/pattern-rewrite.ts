/**
 * What Go reads in a regular expression and re2js does not: names of Unicode classes in any case, with blanks,
 * hyphens and underscores, also their aliases; and names of groups that repeat. Everything else is left as it is.
 */

/** Aliases of Unicode's general categories as Go spells its names: without separators, in small letters but the first. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Casedletter: 'LC',
    Closepunctuation: 'Pe',
    Combiningmark: 'M',
    Connectorpunctuation: 'Pc',
    Control: 'Cc',
    Cntrl: 'Cc',
    Currencysymbol: 'Sc',
    Dashpunctuation: 'Pd',
    Decimalnumber: 'Nd',
    Digit: 'Nd',
    Enclosingmark: 'Me',
    Finalpunctuation: 'Pf',
    Format: 'Cf',
    Initialpunctuation: 'Pi',
    Letter: 'L',
    Letternumber: 'Nl',
    Lineseparator: 'Zl',
    Lowercaseletter: 'Ll',
    Mark: 'M',
    Mathsymbol: 'Sm',
    Modifierletter: 'Lm',
    Modifiersymbol: 'Sk',
    Nonspacingmark: 'Mn',
    Number: 'N',
    Openpunctuation: 'Ps',
    Other: 'C',
    Otherletter: 'Lo',
    Othernumber: 'No',
    Otherpunctuation: 'Po',
    Othersymbol: 'So',
    Paragraphseparator: 'Zp',
    Privateuse: 'Co',
    Punctuation: 'P',
    Punct: 'P',
    Separator: 'Z',
    Spaceseparator: 'Zs',
    Spacingmark: 'Mc',
    Surrogate: 'Cs',
    Symbol: 'S',
    Titlecaseletter: 'Lt',
    Unassigned: 'Cn',
    Uppercaseletter: 'Lu',
  }),
);

/** A piece that was replaced: offsets of its text in the result and in the source. */
interface Replacement {
  readonly to: number;
  readonly text: string;
  readonly from: number;
  readonly original: string;
}

export class RewrittenPattern {
  readonly text: string;
  readonly #source: string;
  readonly #replacements: readonly Replacement[];

  constructor(text: string, source: string, replacements: readonly Replacement[]) {
    this.text = text;
    this.#source = source;
    this.#replacements = replacements;
  }

  /**
   * The part of the source that a part of the rewritten pattern, taken from an error, stands for.
   *
   * @param isTail whether it may reach to the end: the last place counts then, else the first
   */
  originalOf(part: string, isTail: boolean): string {
    const tail = isTail && this.text.endsWith(part);
    const start = tail ? this.text.length - part.length : this.text.indexOf(part);
    if (start < 0) return part;
    return this.#source.slice(this.#offset(start), this.#offset(start + part.length));
  }

  #offset(place: number): number {
    let offset = place;
    for (const { to, text, from, original } of this.#replacements) {
      if (place <= to) break;
      // What an error cuts off within a class are its first characters, which stay.
      offset =
        place < to + text.length ? from + place - to : from + original.length + place - to - text.length;
    }
    return offset;
  }
}

/** @param withNames whether names of groups stay */
export function rewritePattern(source: string, withNames: boolean): RewrittenPattern {
  const replacements: Replacement[] = [];
  let text = '';
  let inClass = false;
  for (let at = 0; at < source.length;) {
    const end = tokenEnd(source, at, inClass);
    const token = source.slice(at, end);
    const replaced: string =
      (withNames || inClass ? undefined : withoutName(token)) ?? canonicalClass(token) ?? token;
    if (replaced !== token) replacements.push({ to: text.length, text: replaced, from: at, original: token });
    // A bracket right behind the one that opens is a member, and part of that token.
    inClass = inClass ? token !== ']' : token.startsWith('[');
    text += replaced;
    at = end;
  }
  return new RewrittenPattern(text, source, replacements);
}

function tokenEnd(source: string, at: number, inClass: boolean): number {
  const rest = source.slice(at, at + 2);
  if (rest === '\\Q' && !inClass) {
    const end = source.indexOf('\\E', at + 2);
    return end < 0 ? source.length : end + 2;
  }
  if (/^\\[pP]/.test(rest)) return classEnd(source, at);
  if (rest.startsWith('\\')) return Math.min(at + 2, source.length);
  if (inClass) {
    const named = rest === '[:' ? source.indexOf(':]', at) : -1;
    return named < 0 ? at + 1 : named + 2;
  }
  if (rest.startsWith('[')) {
    const first = at + (rest === '[^' ? 2 : 1);
    return source[first] === ']' ? first + 1 : first;
  }
  if (rest !== '(?') return at + 1;
  const name = GROUP_NAME.exec(source.slice(at, source.indexOf('>', at) + 1));
  return at + (name ? name[0].length : 1);
}

/** Names that are none stay, so that they fail. */
const GROUP_NAME = /^\(\?P?<\w+>$/;

function classEnd(source: string, at: number): number {
  if (source[at + 2] !== '{') return at + 2 + String.fromCodePoint(source.codePointAt(at + 2) ?? 0).length;
  const end = source.indexOf('}', at);
  return end < 0 ? source.length : end + 1;
}

function withoutName(token: string): string | undefined {
  return GROUP_NAME.test(token) ? '(' : undefined;
}

/** Scripts of re2js that Go's Unicode tables (15.0) do not have, so far as they are one word. */
const NEWER_SCRIPTS: ReadonlySet<string> = new Set(['Garay', 'Sidetic', 'Sunuwar', 'Todhri', 'Unknown']);

function canonicalClass(token: string): string | undefined {
  const matched = /^(\\[pP])(?:\{(\^?)([^}]*)\}|(.))$/su.exec(token);
  if (!matched) return undefined;
  const [, start = '', negated = '', braced, single] = matched;
  const written = braced ?? single ?? '';
  const name = canonicalName(written);
  const known = ALIASES.get(name) ?? (NEWER_SCRIPTS.has(name) ? `${name}#` : name);
  return known === written ? undefined : `${start}{${negated}${known}}`;
}

function canonicalName(name: string): string {
  const letters = name.replaceAll(/[_ -]/g, '');
  const lower = letters.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return lower.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}
