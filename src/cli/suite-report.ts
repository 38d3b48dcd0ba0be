/** What became of suites: for people, for programs, and for what reads JUnit. */
import type { Difference } from './suite-expect.ts';
import type { CaseResult, SuiteResult } from './suite-run.ts';

export interface Totals {
  readonly passed: number;
  readonly failed: number;
}

export function totalsOf(suites: readonly SuiteResult[]): Totals {
  const cases = suites.flatMap((suite) => suite.cases);
  const failed = cases.filter((one) => one.differences.length > 0).length;
  return { passed: cases.length - failed, failed };
}

export function reportText(suites: readonly SuiteResult[]): string {
  const { passed, failed } = totalsOf(suites);
  const parts = suites.map(({ file, name, cases }) =>
    [`${file}: ${name}`, ...cases.flatMap(caseLines)].join('\n'),
  );
  return [...parts, `${String(passed)} passed, ${String(failed)} failed`].join('\n\n');
}

function caseLines({ name, differences }: CaseResult): readonly string[] {
  if (differences.length === 0) return [`  ok    ${name}`];
  return [
    `  FAIL  ${name}`,
    ...differences.flatMap((one) => differenceLines(one).map((line) => `        ${line}`)),
  ];
}

function differenceLines({ what, expected, found, note }: Difference): readonly string[] {
  const [wanted, came] = [shown(expected), shown(found)];
  const lines = [what, `  expected ${wanted}`, `  found    ${came}`];
  const both = typeof expected === 'string' && typeof found === 'string';
  // One column for each character, as far as the two are the same.
  if (both) lines.push(`${' '.repeat('  expected '.length + commonLength(wanted, came))}^`);
  if (note !== undefined) lines.push(...note.split('\n').map((line) => `  ${line}`));
  return lines;
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

export function reportValue(suites: readonly SuiteResult[]): object {
  return {
    ...totalsOf(suites),
    suites: suites.map(({ file, name, cases }) => ({
      file,
      name,
      cases: cases.map((one) => ({
        name: one.name,
        passed: one.differences.length === 0,
        differences: one.differences.map(({ what, expected, found, note }) => ({
          what,
          expected,
          // JSON leaves out what is undefined, and this is the point of it.
          found: found ?? null,
          ...(note === undefined ? {} : { note }),
        })),
      })),
    })),
  };
}

/** JUnit XML as CI systems read it. */
export function reportJunit(suites: readonly SuiteResult[]): string {
  const { passed, failed } = totalsOf(suites);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="pacto-gate" tests="${String(passed + failed)}" failures="${String(failed)}" errors="0">`,
    ...suites.flatMap(suiteElement),
    '</testsuites>',
  ].join('\n');
}

function suiteElement(suite: SuiteResult): readonly string[] {
  const { passed, failed } = totalsOf([suite]);
  const totalMs = suite.cases.reduce((sum, one) => sum + one.durationMs, 0);
  return [
    `  <testsuite name="${escape(suite.name)}" file="${escape(suite.file)}" tests="${String(passed + failed)}" failures="${String(failed)}" errors="0" time="${seconds(totalMs)}">`,
    ...suite.cases.flatMap((one) => caseElement(suite.name, one)),
    '  </testsuite>',
  ];
}

function caseElement(suite: string, { name, differences, durationMs }: CaseResult): readonly string[] {
  const open = `    <testcase classname="${escape(suite)}" name="${escape(name)}" time="${seconds(durationMs)}"`;
  if (differences.length === 0) return [`${open}/>`];
  const what = differences.map((one) => one.what).join(', ');
  const text = differences.flatMap(differenceLines).join('\n');
  return [
    `${open}>`,
    `      <failure type="difference" message="${escape(what)}">${escape(text)}</failure>`,
    '    </testcase>',
  ];
}

function seconds(durationMs: number): string {
  return (durationMs / 1_000).toFixed(3);
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escape(text: string): string {
  return (
    text
      .toWellFormed()
      // What XML 1.0 cannot hold in any spelling.
      // oxlint-disable-next-line no-control-regex -- those are looked for.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replace(/[&<>"]/g, (mark) => ESCAPES[mark] ?? mark)
  );
}
