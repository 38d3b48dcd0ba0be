/**
 * Patterns of gitignore(5), as git's wildmatch reads them. No pattern becomes a regular expression: it is matched segment
 * by segment, and going back is only ever needed to the last star, so that the cost of a path is at most its length times
 * that of the patterns.
 */

/** `never`: what git gives up on, such as a class without end. */
type Token = number | 'any' | 'star' | 'never' | CharClass;

interface CharClass {
  readonly isNegated: boolean;
  /** Code points, both ends included. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

/** `**`: any number of segments. */
type Segment = readonly Token[] | 'globstar';

interface Pattern {
  readonly isNegated: boolean;
  readonly onlyDirectories: boolean;
  /** Without a slash inside it fits the last segment of a path, wherever that is. */
  readonly isAnchored: boolean;
  readonly segments: readonly Segment[];
}

/** git's own classes, of ASCII alone (wildmatch.c, sane-ctype.h). */
const POSIX: ReadonlyMap<string, CharClass['ranges']> = new Map([
  ['alnum', rangesOf('09AZaz')],
  ['alpha', rangesOf('AZaz')],
  ['blank', rangesOf('  \t\t')],
  ['cntrl', rangesOf('\0\x1f\x7f\x7f')],
  ['digit', rangesOf('09')],
  ['graph', rangesOf('!~')],
  ['lower', rangesOf('az')],
  ['print', rangesOf(' ~')],
  ['punct', rangesOf('!/:@[`{~')],
  ['space', rangesOf('  \t\n\r\r')],
  ['upper', rangesOf('AZ')],
  ['xdigit', rangesOf('09AFaf')],
]);

const BACKSLASH = 0x5c;
const SLASH = 0x2f;
const STAR = 0x2a;
const QUESTION = 0x3f;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const DASH = 0x2d;
const COLON = 0x3a;
const BANG = 0x21;
const CARET = 0x5e;

export class IgnorePatterns {
  readonly #patterns: readonly Pattern[];
  readonly #maxSteps: number;
  readonly #tooMany: () => Error;
  readonly #directories = new Map<string, boolean>();
  #steps = 0;

  /**
   * @param lines of an ignore file, the last one that fits decides.
   * @param maxSteps comparisons for all paths together.
   * @param tooMany what is thrown where they are not enough.
   */
  constructor(lines: readonly string[], maxSteps: number, tooMany: () => Error) {
    this.#patterns = lines
      .map(readPattern)
      .filter((pattern) => pattern !== undefined)
      .toReversed();
    this.#maxSteps = maxSteps;
    this.#tooMany = tooMany;
  }

  /**
   * Whether the path, or a directory above it, is ignored: nothing takes a path back out of a directory that is.
   * @param path with `/` inside, and at the end of a directory.
   */
  ignores(path: string): boolean {
    if (this.#patterns.length === 0) return false;
    const isDirectory = path.endsWith('/');
    const bare = isDirectory ? path.slice(0, -1) : path;
    for (let at = bare.indexOf('/'); at !== -1; at = bare.indexOf('/', at + 1))
      if (this.#isDirectoryIgnored(bare.slice(0, at))) return true;
    return isDirectory ? this.#isDirectoryIgnored(bare) : this.#isIgnored(bare, false);
  }

  #isDirectoryIgnored(path: string): boolean {
    let isIgnored = this.#directories.get(path);
    if (isIgnored === undefined) {
      isIgnored = this.#isIgnored(path, true);
      this.#directories.set(path, isIgnored);
    }
    return isIgnored;
  }

  #isIgnored(path: string, isDirectory: boolean): boolean {
    const segments = path.split('/').map(codesOf);
    const last = segments.slice(-1);
    const decisive = this.#patterns.find(
      (pattern) =>
        (isDirectory || !pattern.onlyDirectories) &&
        this.#fits(pattern.segments, pattern.isAnchored ? segments : last),
    );
    return decisive?.isNegated === false;
  }

  #fits(pattern: readonly Segment[], path: readonly (readonly number[])[]): boolean {
    return this.#fitsStarred(
      pattern,
      path,
      (part) => part === 'globstar',
      (part, segment) =>
        part !== 'globstar' && this.#fitsStarred(part, segment, (token) => token === 'star', fitsOne),
    );
  }

  /** One match of what stands between two stars is as good as any later one. */
  #fitsStarred<P, T>(
    pattern: readonly P[],
    text: readonly T[],
    isStar: (part: P) => boolean,
    fits: (part: P, one: T) => boolean,
  ): boolean {
    let inPattern = 0;
    let afterStar: number | undefined;
    let starEnd = 0;
    let inText = 0;
    while (inText < text.length) {
      this.#steps += 1;
      if (this.#steps > this.#maxSteps) throw this.#tooMany();
      const part = pattern[inPattern];
      const item = text[inText];
      if (part !== undefined && isStar(part)) {
        inPattern += 1;
        afterStar = inPattern;
        starEnd = inText;
      } else if (part !== undefined && item !== undefined && fits(part, item)) {
        inPattern += 1;
        inText += 1;
      } else if (afterStar === undefined) return false;
      else {
        inPattern = afterStar;
        starEnd += 1;
        inText = starEnd;
      }
    }
    return pattern.slice(inPattern).every(isStar);
  }
}

function fitsOne(token: Token, code: number): boolean {
  if (typeof token === 'number') return token === code;
  if (token === 'any') return true;
  if (typeof token === 'string') return false;
  return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.isNegated;
}

/** @returns undefined where the line is a comment, or empty. */
function readPattern(line: string): Pattern | undefined {
  if (line.startsWith('#')) return undefined;
  const trimmed = withoutTrailingBlanks(line);
  const isNegated = trimmed.startsWith('!');
  const whole = isNegated ? trimmed.slice(1) : trimmed;
  const onlyDirectories = whole.endsWith('/');
  const body = onlyDirectories ? whole.slice(0, -1) : whole;
  if (body === '') return undefined;
  const tokens = tokensOf(codesOf(body.startsWith('/') ? body.slice(1) : body));
  const segments = segmentsOf(tokens);
  // What is inside a directory, and not the directory itself.
  if (segments.at(-1) === 'globstar') segments.push(['star']);
  return { isNegated, onlyDirectories, isAnchored: body.includes('/'), segments };
}

/** Blanks at the end count only behind a backslash. */
function withoutTrailingBlanks(line: string): string {
  let end = 0;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '\\') at += 1;
    else if (line[at] === ' ') continue;
    end = at + 1;
  }
  return line.slice(0, end);
}

function segmentsOf(tokens: readonly (Token | 'slash')[]): Segment[] {
  const segments: Token[][] = [[]];
  for (const token of tokens)
    if (token === 'slash') segments.push([]);
    else segments.at(-1)?.push(token);
  return segments.map((segment) => {
    // No path has an empty segment.
    if (segment.length === 0) return ['never'];
    return segment.length > 1 && segment.every((token) => token === 'star') ? 'globstar' : segment;
  });
}

function tokensOf(codes: readonly number[]): readonly (Token | 'slash')[] {
  const tokens: (Token | 'slash')[] = [];
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
    if (code === OPEN) {
      const found = readClass(codes, at);
      if (found === undefined) return [...tokens, 'never'];
      tokens.push(found.charClass);
      at = found.end;
    } else if (code === BACKSLASH) {
      at += 1;
      const escaped = codes[at];
      tokens.push(escaped === undefined ? 'never' : escaped === SLASH ? 'slash' : escaped);
    } else if (code === STAR) tokens.push('star');
    else if (code === QUESTION) tokens.push('any');
    else if (code === SLASH) tokens.push('slash');
    else if (code !== undefined) tokens.push(code);
  }
  return tokens;
}

/**
 * A `]` in the first place is a member; a range that runs backwards has its first member alone, as git tests that before
 * it sees the dash.
 * @param start of its `[`.
 * @returns undefined where it has no end, or names a class that is none.
 */
function readClass(
  codes: readonly number[],
  start: number,
): { readonly charClass: CharClass; readonly end: number } | undefined {
  const isNegated = codes[start + 1] === BANG || codes[start + 1] === CARET;
  const ranges: (readonly [number, number])[] = [];
  const first = start + (isNegated ? 2 : 1);
  /** What a dash may begin a range with. */
  let previous: number | undefined;
  for (let at = first; ; at += 1) {
    let code = codes[at];
    if (code === undefined) return undefined;
    if (code === CLOSE && at > first) return { charClass: { isNegated, ranges }, end: at };
    const named = code === OPEN && codes[at + 1] === COLON ? readName(codes, at + 2) : undefined;
    if (named !== undefined) {
      const known = POSIX.get(named.name);
      if (known === undefined) return undefined;
      ranges.push(...known);
      previous = undefined;
      at = named.end;
      continue;
    }
    const next = codes[at + 1];
    const isRange = code === DASH && previous !== undefined && next !== undefined && next !== CLOSE;
    if (isRange) code = codes[(at += 1)];
    if (code === BACKSLASH) code = codes[(at += 1)];
    if (code === undefined) return undefined;
    ranges.push([isRange && previous !== undefined ? previous : code, code]);
    previous = isRange ? undefined : code;
  }
}

/** @returns undefined where no `:]` ends the name, and the bracket is a member like others. */
function readName(
  codes: readonly number[],
  start: number,
): { readonly name: string; readonly end: number } | undefined {
  const end = codes.indexOf(CLOSE, start);
  return end > start && codes[end - 1] === COLON
    ? { name: String.fromCodePoint(...codes.slice(start, Math.min(end - 1, start + 16))), end }
    : undefined;
}

function rangesOf(ends: string): CharClass['ranges'] {
  const codes = codesOf(ends);
  return codes.flatMap((from, at) => (at % 2 === 0 ? [[from, codes[at + 1] ?? from] as const] : []));
}

function codesOf(text: string): number[] {
  return Array.from(text, (char) => char.codePointAt(0) ?? 0);
}
