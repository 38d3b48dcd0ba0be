/** The health script for Argo CD (operator.md §15.2), run by a Lua interpreter without the string library, as there. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { healthBy, type Health } from './lua-health.ts';
import { recordedStatuses, type RecordedStatus } from './recorded-statuses.ts';

const KEY = 'resource.customizations.health.pacto.trianalab.io_Pacto';
const MANIFEST = parse(readFileSync('manifests/argocd/pacto-health.yaml', 'utf8')) as {
  readonly kind: string;
  readonly metadata: object;
  readonly data: Readonly<Record<string, string>>;
};
const SCRIPT = MANIFEST.data[KEY] ?? '';

const healthOf = (pacto: object, script = SCRIPT): Promise<Health> => healthBy(script, pacto);

const pactoWith = (status?: unknown, generation = 2): object => ({
  apiVersion: 'pacto.trianalab.io/v1alpha1',
  kind: 'Pacto',
  metadata: { name: 'cart', namespace: 'shop', generation },
  ...(status !== undefined && { status }),
});
const evaluated = (contractStatus: unknown, more: object = {}): object =>
  pactoWith({ contractStatus, observedGeneration: 2, ...more });
const finding = (severity: string, code: string, message: string): object => ({ severity, code, message });

const WAITING = 'waiting for the first contract evaluation';
const NOT_YET = 'contract not yet evaluated at this generation';

/** Rows of operator.md §15.2. */
const ROWS: readonly (readonly [title: string, pacto: object, health: Health])[] = [
  ['Progressing without a status', pactoWith(), { status: 'Progressing', message: WAITING }],
  ['Progressing with an empty status', pactoWith({}), { status: 'Progressing', message: WAITING }],
  ['Progressing with a status that is null', pactoWith(null), { status: 'Progressing', message: WAITING }],
  [
    'Progressing without a verdict',
    pactoWith({ observedGeneration: 2, findings: [] }),
    { status: 'Progressing', message: WAITING },
  ],
  [
    'Progressing at another generation',
    pactoWith({ contractStatus: 'Compliant', observedGeneration: 1 }),
    { status: 'Progressing', message: NOT_YET },
  ],
  [
    'Progressing at another generation, violated',
    pactoWith({ contractStatus: 'NonCompliant', observedGeneration: 1 }),
    { status: 'Progressing', message: NOT_YET },
  ],
  [
    'Progressing at no generation',
    pactoWith({ contractStatus: 'Compliant' }),
    { status: 'Progressing', message: NOT_YET },
  ],
  ['Healthy when Compliant', evaluated('Compliant'), { status: 'Healthy', message: 'contract satisfied' }],
  ['Healthy as Reference', evaluated('Reference'), { status: 'Healthy', message: 'contract satisfied' }],
  [
    'Healthy with warnings',
    evaluated('Warning', { findings: [finding('warning', 'A', 'b')] }),
    { status: 'Healthy', message: 'contract satisfied with warnings' },
  ],
  [
    'Degraded by the first finding that is an error',
    evaluated('NonCompliant', {
      findings: [
        finding('warning', 'EVIDENCE_STALE', 'old'),
        finding('error', 'WORKLOAD_MISMATCH', 'a Job, é "quoted"\nand more'),
        finding('error', 'INTERFACE_ABSENT', 'later'),
      ],
    }),
    { status: 'Degraded', message: 'contract violated: WORKLOAD_MISMATCH: a Job, é "quoted"\nand more' },
  ],
  [
    'Degraded without findings',
    evaluated('NonCompliant'),
    { status: 'Degraded', message: 'contract violated' },
  ],
  [
    'Degraded with no error among the findings',
    evaluated('NonCompliant', { findings: [finding('info', 'A', 'b')] }),
    { status: 'Degraded', message: 'contract violated' },
  ],
  [
    'Degraded with a finding without words',
    evaluated('NonCompliant', { findings: [{ severity: 'error', code: 'A' }] }),
    { status: 'Degraded', message: 'contract violated: A: nil' },
  ],
  [
    'Degraded when Invalid',
    evaluated('Invalid', { findings: [finding('error', 'A', 'b')] }),
    { status: 'Degraded', message: 'contract is invalid and could not be evaluated' },
  ],
  [
    'Progressing when Unknown',
    evaluated('Unknown'),
    { status: 'Progressing', message: 'contract verdict pending: Unknown' },
  ],
  [
    'Progressing when NotEvaluated',
    evaluated('NotEvaluated'),
    { status: 'Progressing', message: 'contract verdict pending: NotEvaluated' },
  ],
  [
    'Progressing with a verdict of tomorrow',
    evaluated('Superseded'),
    { status: 'Progressing', message: 'contract verdict pending: Superseded' },
  ],
  [
    'Progressing with a verdict that is a number',
    evaluated(7),
    { status: 'Progressing', message: 'contract verdict pending: 7' },
  ],
];

function wanted({ contractStatus = '', findings }: RecordedStatus['status']): Health {
  const first = ((findings ?? []) as readonly Record<string, string>[]).find(
    ({ severity }) => severity === 'error',
  );
  const byVerdict: Readonly<Record<string, Health>> = {
    Compliant: { status: 'Healthy', message: 'contract satisfied' },
    Reference: { status: 'Healthy', message: 'contract satisfied' },
    Warning: { status: 'Healthy', message: 'contract satisfied with warnings' },
    Invalid: { status: 'Degraded', message: 'contract is invalid and could not be evaluated' },
    NonCompliant: {
      status: 'Degraded',
      message: `contract violated: ${first?.['code'] ?? ''}: ${first?.['message'] ?? ''}`,
    },
  };
  return (
    byVerdict[contractStatus] ?? {
      status: 'Progressing',
      message: `contract verdict pending: ${contractStatus}`,
    }
  );
}

describe('the health script for Argo CD', () => {
  it('is the one key of a patch for argocd-cm, wherever Argo CD is', () => {
    expect(MANIFEST).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'argocd-cm' } });
    expect(MANIFEST.metadata).not.toHaveProperty('namespace');
    expect(Object.keys(MANIFEST.data)).toEqual([KEY]);
  });

  it('uses nothing that Argo CD leaves out', () => {
    const called = [...SCRIPT.matchAll(/([\w.:]+)\s*\(/g)].map(([, name]) => name);
    expect(new Set(called)).toEqual(new Set(['ipairs', 'tostring']));
  });

  it.each(ROWS)('says %s', async (_title, pacto, health) => {
    expect(await healthOf(pacto)).toEqual(health);
  });

  it('says of every recorded status what its verdict is', async () => {
    const recorded = recordedStatuses();
    expect(recorded.length).toBeGreaterThan(150);
    for (const { id, generation, status } of recorded) {
      expect([id, await healthOf(pactoWith(status, generation))]).toEqual([id, wanted(status)]);
    }
  });

  it('says Degraded of a warning where it is told so, and nothing else differently', async () => {
    const strict = SCRIPT.replace('local warning = "Healthy"', 'local warning = "Degraded"');
    expect(strict).not.toBe(SCRIPT);
    for (const [, pacto, health] of ROWS) {
      const isWarning = health.message === 'contract satisfied with warnings';
      expect(await healthOf(pacto, strict)).toEqual(isWarning ? { ...health, status: 'Degraded' } : health);
    }
  });

  it('never says Unknown, which ranks below Degraded', () => {
    expect(SCRIPT).not.toContain('status = "Unknown"');
  });
});
