import { describe, expect, it } from 'vitest';
import type { ObservationWindow, PactoStatus } from '../../src/reconcile/api/pacto.ts';
import { bounded, boundedWindows, STATUS_BYTES } from '../../src/reconcile/status-size.ts';

/** Six bytes as JSON has it. */
const WORST = '\u0001';

function many<T>(count: number, each: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => each(index));
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** All that the rest of the program lets through, at its longest. */
function longest(text: string): PactoStatus {
  const property = { key: text, type: text, value: text };
  return {
    contractStatus: 'NonCompliant',
    resolutionPolicy: 'Latest',
    currentRevision: 'r'.repeat(253),
    observedGeneration: 1,
    lastReconciledAt: '2026-01-01T00:00:00Z',
    contractVersion: text,
    summary: { errorCount: 1_000, warningCount: 0, infoCount: 0, unknownCount: 0 },
    evaluationCoverage: { evaluated: 1, required: 1_000 },
    metadata: Object.fromEntries(many(200, (index) => [`${String(index)}${text}`, text])),
    contract: {
      serviceName: text,
      version: text,
      resolvedRef: text,
      owner: {
        team: text,
        dri: text,
        contacts: many(200, () => ({ type: 'url', value: text, purpose: text })),
      },
      ownerDisplay: text,
    },
    interfaces: many(200, () => ({ name: text, type: 'openapi', ref: text })),
    capabilities: many(200, () => ({ type: 'extension', ref: text })),
    configurations: many(200, (index) => ({
      name: text,
      hasSchema: true,
      ...(index < 2 && {
        valueKeys: many(200, () => text),
        secretKeys: many(200, () => text),
        overriddenKeys: many(200, () => text),
        properties: many(100, () => property),
      }),
    })),
    dependencies: many(200, () => ({ name: text, ref: text, required: true, compatibility: text })),
    policies: many(200, () => ({
      name: text,
      hasSchema: true,
      title: text,
      properties: [property],
    })),
    validation: {
      valid: true,
      warnings: many(200, () => ({ code: 'TAG_NOT_DIGEST', path: text, message: text })),
    },
    findings: many(200, () => ({
      code: 'INTERFACE_ABSENT',
      severity: 'error' as const,
      category: 'RuntimeDrift',
      subject: text,
      contractPath: text,
      message: text,
    })),
    observationWindows: boundedWindows(
      many(200, () => ({
        kind: 'interface' as const,
        subject: text,
        firstObservedNegativeAt: '2026-01-01T00:00:00Z',
      })),
    ),
    observedRuntime: { hasPVC: false, hasEmptyDir: false, containerImages: many(1_000, () => text) },
    readiness: {
      score: 1,
      claims: many(200, () => ({ id: text, evidence: text, description: text })),
      revisions: many(200, () => ({ version: text, author: text, description: text })),
    },
    conditions: (['ContractValid', 'ReadinessSatisfied', 'RuntimeObserved'] as const).map((type) => ({
      type,
      status: 'False' as const,
      reason: 'Invalid',
      message: text.repeat(4).slice(0, 4_097),
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
  };
}

describe('a status', () => {
  it('stays as it is where it is short', () => {
    const status = { contractStatus: 'Compliant', metadata: { a: 'b' } } as const;
    expect(bounded(status)).toBe(status);
  });

  it.each([
    ['of ordinary letters', 'x'.repeat(1_025)],
    ['of letters with three bytes', '€'.repeat(1_025)],
    ['of what JSON escapes', WORST.repeat(1_025)],
  ])('is never longer than its bound: %s', (_name, text) => {
    const status = longest(text);
    expect(bytesOf(status)).toBeGreaterThan(STATUS_BYTES);
    const short = bounded(status);
    expect(bytesOf(short)).toBeLessThanOrEqual(STATUS_BYTES);
    const { summary, evaluationCoverage, observationWindows, conditions, currentRevision, contractStatus } =
      status;
    expect(short).toMatchObject({
      summary,
      evaluationCoverage,
      observationWindows,
      conditions,
      currentRevision,
      contractStatus,
      contract: { serviceName: text, version: text, resolvedRef: text },
    });
    expect(short.findings?.[0]?.code).toBe('INTERFACE_ABSENT');
  });

  it('loses metadata and properties first', () => {
    const metadata = Object.fromEntries(many(300, (index) => [String(index), 'x'.repeat(1_024)]));
    const properties = [{ key: 'a', type: 'string', value: 'b' }];
    const rest = {
      contractStatus: 'Compliant',
      interfaces: many(60, () => ({ name: 'a', type: 'grpc' })),
    } as const;
    const configuration = { name: 'app', hasSchema: true, valueKeys: ['a'] };
    const policy = { name: 'p', hasSchema: true };
    expect(
      bounded({
        ...rest,
        metadata,
        configurations: [{ ...configuration, properties }],
        policies: [{ ...policy, properties }],
      }),
    ).toEqual({ ...rest, configurations: [configuration], policies: [policy] });
  });

  it('loses the ends of its lists then, and keeps every number', () => {
    const findings = many(200, (index) => ({
      code: `C${String(index)}`,
      severity: 'error' as const,
      category: 'RuntimeDrift',
      message: 'x'.repeat(2_048),
    }));
    const readiness = { score: 60, doneCount: 200, claims: many(200, (id) => ({ id, weight: 1 })) };
    const short = bounded({ findings, readiness });
    expect(short.findings?.map(({ code }) => code)).toEqual(many(50, (index) => `C${String(index)}`));
    expect(short.readiness).toEqual({ ...readiness, claims: readiness.claims.slice(0, 50) });
  });
});

describe('streaks', () => {
  const window = (subject: string): ObservationWindow => ({
    kind: 'interface',
    subject,
    firstObservedNegativeAt: '2026-01-01T00:00:00Z',
  });

  it('are all kept where they have room', () => {
    const windows = many(400, (index) => window(`api-${String(index)}`));
    expect(boundedWindows(windows)).toEqual(windows);
  });

  it('are kept from the first on where they have not', () => {
    const windows = many(10_000, (index) => window(`api-${String(index)}`));
    const kept = boundedWindows(windows);
    expect(kept.length).toBeGreaterThan(400);
    expect(bytesOf(kept)).toBeLessThan(70 * 1024);
    expect(kept).toEqual(windows.slice(0, kept.length));
  });

  it('of a subject without an end leave room for the others', () => {
    expect(boundedWindows([window('x'.repeat(100_000)), window('api')])).toEqual([window('api')]);
  });
});
