import { describe, expect, it } from 'vitest';
import { COMMAND_FINDINGS } from '../../src/cli/contract-findings.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { PREFLIGHT_CODES } from '../../src/install/preflight/preflight-finding.ts';
import { CONTRACT_FINDINGS } from '../../src/policies/contract/findings.ts';
import { CONTRACT_STATUSES } from '../../src/policies/contract/status-ladder.ts';
import { FINDING_CODES } from '../../src/policies/finding.ts';
import { LINT_CODES } from '../../src/policies/vap/lint-finding.ts';
import { runCommand } from './run-command.ts';

interface Explained {
  readonly code: string;
  readonly summary: string;
  readonly text: string;
}

const CODES = [
  FINDING_CODES,
  ERROR_CODES,
  Object.fromEntries(CONTRACT_STATUSES.map((status) => [status, status])),
  CONTRACT_FINDINGS,
  COMMAND_FINDINGS,
  LINT_CODES,
  PREFLIGHT_CODES,
].flatMap((codes) => Object.keys(codes));

describe('explain', () => {
  it('lists every code there is, each with a sentence', async () => {
    const { code, out } = await runCommand(['explain', '-o', 'json']);
    expect(code).toBe(0);
    const all = JSON.parse(out) as readonly Explained[];
    expect(all.map((one) => one.code)).toEqual(CODES);
    const unsaid = all.filter(({ summary, text }) => summary.length < 10 || text.length < summary.length);
    expect(unsaid).toEqual([]);
  });

  it('lists them for a person below headings, in the same order', async () => {
    const { out } = await runCommand(['explain']);
    const listed = [...out.matchAll(/^ {2}(\w+) {2}/gm)].map(([, code]) => code);
    expect(listed).toEqual(CODES);
    expect(out.match(/^\S.*$/gm)).toEqual([
      'Denials of requests:',
      'Errors, and what is done with each:',
      'Statuses of contracts:',
      'Findings of contracts:',
      'Findings of commands about contracts:',
      'Findings of lint:',
      'Findings of preflight:',
    ]);
  });

  it.each(CODES)('explains %s', async (code) => {
    const ran = await runCommand(['explain', code]);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toMatch(new RegExp(`^${code} \\((?:error|denial|status|finding|lint|preflight)`));
    expect(ran.out).not.toContain('\n### ');
  });

  it('shows what is wrong and what is right, and takes a code as it is copied', async () => {
    const { out } = await runCommand(['explain', '[lint_field_unguarded]']);
    expect(out).toContain('LINT_FIELD_UNGUARDED (lint, warning)');
    expect(out).toContain('# bad');
    expect(out).toContain('# good');
  });

  it.each(['LINT_FIELD_UNGUARDED', 'LINT_KEY_UNGUARDED', 'LINT_PARAMS_UNGUARDED'])(
    'shows with %s what it refers to, once',
    async (code) => {
      const { out } = await runCommand(['explain', code]);
      expect(out).toContain('which fields may be absent (below)');
      expect(out.split('\nWhich fields may be absent:\n')).toHaveLength(2);
      expect(out).toContain('- the types of Kubernetes 1.36');
    },
  );

  it.each(CODES)('leaves no link in what it says of %s', async (code) => {
    const { out } = await runCommand(['explain', code]);
    expect(out).not.toMatch(/\]\([^)\s]+\)/);
    expect(out.includes('(below)')).toBe(/^[A-Z][\w ]+:$/m.test(out));
  });

  it('names the page of what is said elsewhere', async () => {
    const { out } = await runCommand(['explain', 'LINT_NOT_ENFORCED_HERE']);
    expect(out).toContain('(docs/webhooks.md)');
  });

  it('shows what to do about a denial, and about an error', async () => {
    expect((await runCommand(['explain', 'NODE_CLAIM_MISSING'])).out).toContain('- The operator: ');
    expect((await runCommand(['explain', 'GATE_UNSYNCED'])).out).toContain('(error, retry)');
  });

  it.each([
    ['INTERFACE_ABSENT', '(finding, error)', 'interfaceBindings'],
    ['TAG_NOT_DIGEST', '(finding, warning)', '@sha256:'],
    ['EVIDENCE_MISSING', '(finding, unknown)', 'service.name'],
    ['PARSE_ERROR', '(finding, error)', 'override'],
  ])('shows what to do about the finding %s of a contract', async (code, of, part) => {
    const { out } = await runCommand(['explain', code]);
    expect(out).toContain(`${code} ${of}\n`);
    expect(out).toContain(part);
  });

  it.each([
    ['LOCAL_REFERENCE', '(finding, warning)'],
    ['READINESS_GATE_UNMET', '(finding, error)'],
  ])('says how severe the finding %s of a command is', async (code, of) => {
    expect((await runCommand(['explain', code])).out).toContain(`${code} ${of}\n`);
  });

  it.each([
    ['Unknown', 'Unknown', 'registry is away'],
    ['unknown', 'Unknown', 'registry is away'],
    ['NonCompliant', 'NonCompliant', 'violation'],
    ['non-compliant', 'NonCompliant', 'violation'],
    ['[NotEvaluated]', 'NotEvaluated', 'without evidence'],
  ])('explains the status written %s', async (written, status, part) => {
    const { code, out } = await runCommand(['explain', written]);
    expect(code).toBe(0);
    expect(out).toContain(`${status} (status)\n`);
    expect(out).toContain(part);
  });

  it('sums a finding up without its category', async () => {
    const { out } = await runCommand(['explain', 'WORKLOAD_MISMATCH', '-o', 'json']);
    expect(JSON.parse(out)).toMatchObject({
      kind: 'error',
      summary:
        'The workload is of another type than declared: `job` is a Job, `scheduled` a CronJob, `service` everything else',
    });
  });

  it.each([
    ['one that nobody has', 'LINT_NOTHING', 'pacto-gate explain lists all'],
    ['one with a letter too few', 'LINT_FIELD_UNGARDED', '(did you mean "LINT_FIELD_UNGUARDED"?)'],
    ['what lint writes before one', 'Type check', 'did you mean LINT_TYPE_CHECK'],
    ['part of one', 'POD_UNKNOWN', 'did you mean NODE_POD_UNKNOWN'],
  ])('refuses %s with code 2', async (_what, code, hint) => {
    const ran = await runCommand(['explain', code]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(hint);
  });
});
