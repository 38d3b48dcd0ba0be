/** The report of `preflight` for a person. */
import type { PreflightReport, ReportedStep } from '../install/preflight/preflight.ts';
import type { Finding } from '../install/preflight/preflight-finding.ts';
import { table } from './output.ts';

const MARKS = { problem: 'PROBLEM', warning: 'Warning', note: 'Note' } as const;

export function reportText(report: PreflightReport): string {
  const { namespace, findings, steps, unknown, rights } = report;
  const blocks = [
    `gate: ${namespace === undefined ? 'outside the cluster, or in a namespace that nothing names (installer.namespace)' : `namespace ${namespace}`}`,
    ...findings.map(findingText),
    ...(unknown.length === 0 ? [] : [unknownText(unknown)]),
    ...(rights.length === 0 ? [] : [rightsText(rights)]),
    ...(steps.length === 0 ? [] : [stepsText(steps)]),
    lastLine(report),
  ];
  return blocks.join('\n\n');
}

function findingText({ code, level, where, what, consequence, next }: Finding): string {
  return [
    `${MARKS[level]}: ${where} [${code}]`,
    `  ${what}`,
    `  so that: ${consequence}`,
    `  next step: ${next}`,
  ].join('\n');
}

function unknownText(unknown: PreflightReport['unknown']): string {
  return ['Not known:', ...unknown.map(({ what, why }) => `  ${what}: ${why}`)].join('\n');
}

/** As a ClusterRole has them; one of a namespace does for what lies in the gate's. */
function rightsText(rights: PreflightReport['rights']): string {
  return [
    'Whoever runs preflight needs these rights:',
    ...rights.map(
      ({ apiGroups, resources, verbs }) =>
        `  - {apiGroups: ${JSON.stringify(apiGroups)}, resources: ${JSON.stringify(resources)}, verbs: ${JSON.stringify(verbs)}}`,
    ),
  ].join('\n');
}

const OUTCOMES = {
  blocked: 'BLOCKED',
  delayed: 'possible, later',
  unknown: 'not known',
  possible: 'possible',
};

/** What is possible is only counted: `--output json` has all of it. */
function stepsText(steps: readonly ReportedStep[]): string {
  const possible = steps.filter(({ outcome }) => outcome === 'possible').length;
  const rows = steps
    .filter(({ outcome }) => outcome !== 'possible')
    .map(({ id, need, title, outcome, by }) => [
      `  ${OUTCOMES[outcome]}`,
      need,
      id,
      title,
      `by ${by.map(({ entry }) => entry).join(', ')}`,
    ]);
  const head = `While no process of the gate runs, ${String(possible)} of ${String(steps.length)} steps of recovery are possible at once`;
  return rows.length === 0 ? `${head}.` : `${head}; the others:\n${table(rows)}`;
}

function lastLine({ findings, unknown }: PreflightReport): string {
  const count = (level: Finding['level']): number => findings.filter((one) => one.level === level).length;
  const said = (number: number, one: string): string => `${String(number)} ${one}${number === 1 ? '' : 's'}`;
  return `${said(count('problem'), 'problem')}, ${said(count('warning'), 'warning')}, ${said(count('note'), 'note')}, ${String(unknown.length)} not known`;
}
