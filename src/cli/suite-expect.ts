/** Compares what a suite expects with what the policies did. */
import type { Outcome } from '../policies/vap/answer.ts';
import { sentWarnings } from '../policies/vap/warnings.ts';
import type { Expectation, ExpectedText } from './suite-format.ts';

export interface Difference {
  /** `allowed`, `message`, `warnings[1]`, `auditAnnotations.team`. */
  readonly what: string;
  readonly expected: unknown;
  readonly found: unknown;
  /** What helps to see why. */
  readonly note?: string;
}

/** Whether anything is expected at all: a case that expects nothing cannot fail. */
export function expectsSomething(expect: Expectation): boolean {
  return Object.values(expect).some((value) => value !== undefined);
}

/** @returns nothing where all is as expected; what is not expected is not compared. */
export function differences(expect: Expectation, outcome: Outcome): readonly Difference[] {
  const allowed = expectedVerdict(expect);
  const found = refusalOf(outcome);
  if (allowed !== undefined && allowed !== found.allowed) {
    return [
      {
        what: 'allowed',
        expected: allowed,
        found: found.allowed,
        ...(found.whole === undefined ? {} : { note: found.whole }),
      },
    ];
  }
  return [
    ...textDifferences('message', expect.message, found.message, found.whole),
    ...(['reason', 'code', 'policy', 'binding'] as const).flatMap((what) =>
      expect[what] === undefined || expect[what] === found[what]
        ? []
        : [{ what, expected: expect[what], found: found[what] }],
    ),
    ...warningDifferences(expect.warnings, sentWarnings(outcome.warnings)),
    ...Object.entries(expect.auditAnnotations ?? {}).flatMap(([key, text]) =>
      annotationDifferences(key, text, outcome.auditAnnotations),
    ),
  ];
}

/** Whoever expects a message expects a refusal. */
function expectedVerdict({
  allowed,
  message,
  reason,
  code,
  policy,
  binding,
}: Expectation): boolean | undefined {
  if (allowed !== undefined) return allowed;
  return [message, reason, code, policy, binding].some((one) => one !== undefined) ? false : undefined;
}

interface Found {
  readonly allowed: boolean;
  /** What the policy says. */
  readonly message: string | undefined;
  /** What the API server says. */
  readonly whole: string | undefined;
  readonly reason: string | undefined;
  readonly code: number | undefined;
  readonly policy: string | undefined;
  readonly binding: string | undefined;
}

function refusalOf({ status, decisions }: Outcome): Found {
  // The first one decides (vap.md A02).
  const denial = status === undefined ? undefined : decisions.find(({ actions }) => actions.includes('Deny'));
  return {
    allowed: status === undefined,
    message: denial?.message ?? status?.message,
    whole: status?.message,
    reason: status?.reason,
    code: status?.code,
    policy: denial?.policy,
    binding: denial?.binding,
  };
}

/** @param whole where a part is looked for. */
function textDifferences(
  what: string,
  expected: ExpectedText | undefined,
  found: string | undefined,
  whole = found,
): readonly Difference[] {
  if (expected === undefined) return [];
  if (typeof expected === 'string') return expected === found ? [] : [{ what, expected, found }];
  return whole?.includes(expected.contains) === true ? [] : [{ what, expected, found: whole }];
}

function warningDifferences(
  expected: readonly ExpectedText[] | undefined,
  found: readonly string[],
): readonly Difference[] {
  if (expected === undefined) return [];
  if (expected.length !== found.length) return [{ what: 'warnings', expected, found }];
  return expected.flatMap((text, index) => textDifferences(`warnings[${String(index)}]`, text, found[index]));
}

/** Null: it is not there. */
function annotationDifferences(
  key: string,
  expected: ExpectedText | null,
  annotations: Readonly<Record<string, string>>,
): readonly Difference[] {
  const found = Object.hasOwn(annotations, key) ? annotations[key] : undefined;
  const what = `auditAnnotations.${key}`;
  if (expected === null) return found === undefined ? [] : [{ what, expected, found }];
  return textDifferences(what, expected, found);
}
