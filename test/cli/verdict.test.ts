import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCommand, type Ran } from './run-command.ts';

const CART = 'examples/contracts/cart';
const AS_PROMISED = readFileSync('examples/evidence/cart-as-promised.json', 'utf8');

const STALE_WEB = JSON.stringify({
  kind: 'InterfaceObserved',
  subject: { kind: 'interface', name: 'web' },
  outcome: 'Stale',
  provenance: { collector: 'x', detectedAt: '2026-12-01T09:00:00Z' },
});

/** The evidence as text, changed. */
const changed = (from: string | RegExp, to: string): string => AS_PROMISED.replace(from, to);

const verdict = (stdin: string, ...flags: string[]): Promise<Ran> =>
  runCommand(['verdict', CART, '--evidence', '-', ...flags], { stdin });

const TAGGED = ['--set', 'dependencies[0].ref=oci://r.test/pay:2.1.0'];

describe('verdict', () => {
  it.each([
    ['Compliant', AS_PROMISED, [], 0, 'Compliant: 5 of 5 evaluated, no findings'],
    ['NonCompliant', changed('"reachable": true', '"reachable": false'), [], 1, '[DEPENDENCY_UNREACHABLE]'],
    [
      'Unknown',
      changed(/"outcome": "Observed",\s+"value": \{ "reachable": true \}/, '"outcome": "Stale"'),
      [],
      3,
      '[EVIDENCE_STALE]',
    ],
    ['Warning', AS_PROMISED, TAGGED, 0, '[TAG_NOT_DIGEST]'],
    ['Warning', AS_PROMISED, [...TAGGED, '--strict'], 1, '[TAG_NOT_DIGEST]'],
    ['Compliant', AS_PROMISED, [...TAGGED, '--runtime-only'], 0, 'no findings'],
    ['Invalid', AS_PROMISED, ['--set', 'service.version=x'], 1, '[INVALID_SEMVER]'],
    ['Invalid', AS_PROMISED, ['--set', 'pactoVersion=1.1'], 1, '[PARSE_ERROR]'],
  ])('is %s', async (status, evidence, flags, code, shown) => {
    const ran = await verdict(evidence, ...flags);
    expect(ran.out).toContain(shown);
    expect(ran.out).toContain(`: ${status}: `);
    expect(ran.code).toBe(code);
  });

  it('is NotEvaluated without evidence', async () => {
    const ran = await runCommand(['verdict', CART]);
    expect(ran).toMatchObject({ code: 3, out: expect.stringContaining(': NotEvaluated: ') as string });
  });

  it('is Reference without evidence and without a workload', async () => {
    const stdin = 'pactoVersion: "2.0"\nservice: {name: a, version: 1.0.0}\n';
    const ran = await runCommand(['verdict', '-'], { stdin });
    expect(ran).toMatchObject({ code: 0, out: 'a 1.0.0: Reference: no findings\n' });
  });

  it.each([
    ['JSON that is none', '{', 'it is not JSON'],
    ['an outcome that nobody knows', changed('"Observed"', '"Seen"'), 'outcome'],
    ['the same twice', changed('"observations": [', `"observations": [${STALE_WEB},`), 'observation[1]'],
  ])('takes no evidence from %s', async (_what, evidence, message) => {
    const ran = await verdict(evidence);
    expect(ran.err).toContain(message);
    expect(ran.err).toContain('GATE_INPUT_FILE');
    expect(ran.code).toBe(2);
  });

  it('reads one thing from standard input', async () => {
    const ran = await runCommand(['verdict', '-', '--evidence', '-']);
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('cannot both') as string });
  });

  it('shows the same as data', async () => {
    const ran = await verdict(changed('"reachable": true', '"reachable": false'), '--output', 'json');
    expect(JSON.parse(ran.out)).toMatchObject({
      bundle: CART,
      status: 'NonCompliant',
      coverage: { evaluated: 5, required: 5 },
      findings: [
        {
          code: 'DEPENDENCY_UNREACHABLE',
          severity: 'error',
          subject: { kind: 'dependency', name: 'payments' },
          contractPath: 'dependencies[name=payments]',
        },
      ],
      readiness: { score: 85, passing: true },
    });
  });
});
