/** Whether both sides made the same of a case: compile verdict and text, type, value, error text, cost. */
import { withoutExpectations } from '../conformance/cel-differences.ts';
import { canonicalText } from '../conformance/typed-values.ts';
import type { Answer, Outcome, PeerAnswer } from './sides.ts';

/** @returns the first difference; undefined: there is none. */
export function difference(ours: Answer, peer: PeerAnswer): string | undefined {
  // What the API server's code does not survive must only be known as such here.
  if (peer.panic !== undefined) {
    return ours.panics ? undefined : `the API server panics (${peer.panic}), we do not know of it`;
  }
  return compileDifference(ours, peer) ?? outcomeDifference(ours, peer);
}

function compileDifference({ compile }: Answer, peer: PeerAnswer): string | undefined {
  const theirs = peer.compile;
  if (theirs === undefined) return 'the API server does not say whether it compiles';
  if (compile.ok !== theirs.ok) {
    return compile.ok
      ? `compiles here as ${compile.type}, there: ${theirs.error ?? ''}`
      : `compiles there as ${theirs.type ?? ''}, here (${compile.phase}): ${compile.error}`;
  }
  if (compile.ok) {
    return compile.type === theirs.type ? undefined : `type here ${compile.type}, there ${theirs.type ?? ''}`;
  }
  const said = withoutNumbers(theirs.error ?? '');
  const same =
    compile.phase === 'syntax'
      ? withoutExpectations(compile.error) === withoutExpectations(said)
      : withoutNumbers(compile.error) === said;
  return same ? undefined : `refused here (${compile.phase}):\n${compile.error}\nthere:\n${said}`;
}

function outcomeDifference({ outcome }: Answer, { outcomes = [] }: PeerAnswer): string | undefined {
  if (outcome === undefined) return undefined;
  const ours =
    outcome.value === undefined
      ? outcome
      : { ...outcome, value: canonicalText(sorted(JSON.parse(outcome.value))) };
  const theirs = outcomes.map((one): Outcome => ({
    ...(one.error === undefined ? {} : { error: withoutKinds(one.error) }),
    ...(one.fatal === undefined ? { cost: one.cost } : { fatal: one.fatal }),
    ...(one.value === undefined ? {} : { value: canonicalText(sorted(one.value)) }),
  }));
  if (theirs.some((one) => isSame(one, ours))) return undefined;
  if (ours.error?.startsWith(UNKNOWN_ZONE) === true && ODD_PATH.test(ours.error)) return undefined;
  if (theirs.some(({ error = '' }) => SAME_PLACE.test(error))) return undefined;
  return `here:  ${JSON.stringify(ours)}\nthere: ${theirs.map((one) => JSON.stringify(one)).join('\n   or: ')}`;
}

/** cel-go numbers the type parameters of an overload in random order. */
function withoutNumbers(error: string): string {
  return error.replaceAll(/\b_var\d+\b/g, '_var');
}

/** Go has several ways to keep a list; which of them it was is not imitated. */
function withoutKinds(error: string): string {
  return error.replaceAll('*types.concatList', '*types.baseList');
}

function isSame(theirs: Outcome, ours: Outcome): boolean {
  return (
    theirs.value === ours.value &&
    (theirs.error === ours.error || isLostZone(theirs.error, ours.error)) &&
    theirs.fatal === ours.fatal &&
    theirs.cost === ours.cost
  );
}

/** Go looks for time zones among the files of its host, whose errors depend on that host. */
function isLostZone(theirs = '', ours = ''): boolean {
  return FILE_ERRORS.has(theirs) && ours.startsWith(UNKNOWN_ZONE);
}

const UNKNOWN_ZONE = 'unknown time zone ';
/** Names of zones that are other names of the same file. */
const ODD_PATH = /\/\/|\/\.|\/$/;

/**
 * A list or map as the key of a map: Go compares where the two lie in memory, so that one key is another or the same
 * by how it came to be, and not by anything that an expression says.
 */
const SAME_PLACE = /^insert failed: key [[{]/;

const FILE_ERRORS: ReadonlySet<string> = new Set([
  'file name too long',
  'invalid argument',
  'is a directory',
  'not a directory',
]);

const NOT_A_NUMBER = '{"double":"NaN"}';

/** Typed JSON whose maps are in the order of the texts of their keys, as `typedText` has them. */
function sorted(typed: unknown): unknown {
  if (typed === null || typeof typed !== 'object') return typed;
  const [kind, content] = Object.entries(typed)[0] ?? ['', null];
  if (kind === 'list') return { list: (content as readonly unknown[]).map(sorted) };
  if (kind === 'optional') return { optional: sorted(content) };
  if (kind !== 'map') return typed;
  const pairs = (content as readonly (readonly [unknown, unknown])[]).map(
    ([key, value]): [string, unknown] => [canonicalText(sorted(key)), [sorted(key), sorted(value)]],
  );
  // Go does not find again what it has under a key that is not a number, so it cannot tell.
  const known = pairs.filter(([key]) => key !== NOT_A_NUMBER);
  known.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return { map: known.map(([, pair]) => pair) };
}
