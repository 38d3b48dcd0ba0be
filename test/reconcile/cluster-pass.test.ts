import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as kinds from '../../src/cluster/kinds.ts';
import type { PactoStatus } from '../../src/reconcile/api/pacto.ts';
import type { PassResult } from '../../src/reconcile/pass.ts';
import { NAMESPACE } from './observe/survey.ts';
import { API, API_TARGET, CART, inline, PassWorld, saidBy, webWorld, type Written } from './pass-world.ts';

const VALID = 'ContractValid=True/Parsed';
const FOUND = 'RuntimeObserved=True/Found';
const NO_COUNTS = { errorCount: 0, warningCount: 0, infoCount: 0, unknownCount: 0 };

async function looked(spec: Written['spec'], more: Omit<Written, 'spec'> = {}): Promise<PassResult> {
  return await (await webWorld()).look({ spec, ...more });
}

describe('a reference', () => {
  it.each([
    ['without a target', {}],
    ['with an empty one', { target: {} }],
    ['with bindings only', { target: { interfaceBindings: API_TARGET.interfaceBindings } }],
  ])('is only read: %s', async (_name, spec) => {
    const result = await looked(inline(API, spec));
    expect(saidBy(result)).toEqual({
      status: 'Reference',
      findings: [],
      conditions: ['ContractValid=True/ReferenceOnly'],
      events: [],
    });
    expect(result.status).toMatchObject({
      contract: { serviceName: 'cart', version: '1.4.0' },
      summary: NO_COUNTS,
      validation: { valid: true },
      observedGeneration: 1,
      lastReconciledAt: '2026-01-01T00:00:00Z',
    });
    for (const field of [
      'resources',
      'observedRuntime',
      'evaluationCoverage',
      'findings',
      'resolutionPolicy',
    ])
      expect(result.status).not.toHaveProperty(field);
  });

  it('keeps the streaks of the time when it was none', async () => {
    const observationWindows = [
      { kind: 'interface', subject: 'gone', firstObservedNegativeAt: '2025-12-31T00:00:00Z' },
    ];
    const { status } = await looked(inline(), { status: { observationWindows } });
    expect(status.observationWindows).toEqual(observationWindows);
  });
});

describe('a contract that is kept', () => {
  it('is Compliant', async () => {
    const result = await looked(inline(API, { target: API_TARGET }));
    expect(saidBy(result)).toEqual({
      status: 'Compliant',
      findings: [],
      conditions: [VALID, FOUND],
      events: [],
    });
    expect(result.status).toMatchObject({
      summary: NO_COUNTS,
      evaluationCoverage: { evaluated: 1, required: 1 },
      resources: {
        service: { name: 'web', exists: true },
        workload: { name: 'web', kind: 'Deployment', exists: true },
      },
      observedRuntime: { workloadKind: 'Deployment', containerImages: ['r.test/web:1'] },
    });
  });

  it('has the revision of its own text, whatever overrides it', async () => {
    const text = `${CART}configurations: [{name: app, required: false, schema: c.json, values: {A: 1}}]\n`;
    const values = [
      { name: 'app', values: { A: '2' } },
      { name: 'app', values: { B: 'x' } },
    ];
    const spec = { contractRef: { inline: text }, overrides: { configurations: values } };
    const { revision, status } = await looked(spec);
    const hash = createHash('sha256').update(text).digest('hex');
    expect(revision?.object.metadata.name).toBe(`cart-1-4-0-${hash.slice(0, 7)}`);
    expect(revision?.object['status']).toMatchObject({ contractHash: hash });
    expect(status.currentRevision).toBe(revision?.object.metadata.name);
    expect(status.configurations).toMatchObject([
      {
        overriddenKeys: ['A', 'B'],
        properties: [
          { key: 'A', type: 'string', value: '2' },
          { key: 'B', type: 'string', value: 'x' },
        ],
      },
    ]);
  });

  it('has nothing new at the next look', async () => {
    const here = await webWorld();
    const spec = inline(`${API}metadata: {a: 1}`, { target: { ...API_TARGET, serviceName: 'gone' } });
    const first = await here.look({ spec });
    expect(first.changed).toBe(true);
    expect(saidBy(first).events).toEqual(['Warning ValidationFailed']);
    await here.clock.advance(60_000);
    const second = await here.look({ spec, status: here.stored(first) });
    expect(second.changed).toBe(false);
    expect(second.events).toEqual([]);
    expect(second.status.lastReconciledAt).toBe('2026-01-01T00:01:00Z');
    expect(second.status.conditions).toEqual(first.status.conditions);
  });

  it('is told to have recovered', async () => {
    const status = { contractStatus: 'NonCompliant' };
    expect(saidBy(await looked(inline(API, { target: API_TARGET }), { status })).events).toEqual([
      'Normal ContractRecovered',
    ]);
  });
});

describe('there is no contract to look at', () => {
  const before: PactoStatus = {
    contractStatus: 'Compliant',
    currentRevision: 'cart-1-3-0-abcdef0',
    contractVersion: '1.3.0',
    contract: { serviceName: 'cart', version: '1.3.0' },
    metadata: { a: 'b' },
    findings: [],
    observationWindows: [
      { kind: 'interface', subject: 'api', firstObservedNegativeAt: '2025-12-31T00:00:00Z' },
    ],
    conditions: (['ContractValid', 'ReadinessSatisfied', 'RuntimeObserved'] as const).map((type) => ({
      type,
      status: 'True',
      reason: 'Before',
      message: 'm',
      observedGeneration: 1,
      lastTransitionTime: '2025-12-31T00:00:00Z',
    })),
  };

  it.each<[string, Written['spec'], string, string | undefined]>([
    ['no source', { contractRef: {} }, 'no contract source specified', undefined],
    ['no contract', { contractRef: { inline: '{' } }, 'failed to parse the contract', undefined],
    [
      'overrides that do not fit',
      inline('', { overrides: { configurations: [{ name: 'x', values: { A: '1' } }] } }),
      'override error: ',
      'spec.overrides',
    ],
    [
      'a contract that is not valid',
      inline('workload: nonsense'),
      'Contract validation failed: workload: ',
      'workload',
    ],
  ])('as it is Invalid: %s', async (_name, spec, message, path) => {
    const { status, events, revision } = await looked(spec, { status: before, generation: 2 });
    expect(status).toEqual({
      contractStatus: 'Invalid',
      currentRevision: 'cart-1-3-0-abcdef0',
      observedGeneration: 2,
      lastReconciledAt: '2026-01-01T00:00:00Z',
      validation: expect.objectContaining({ valid: false }) as unknown,
      summary: { ...NO_COUNTS, errorCount: 1 },
      observationWindows: before.observationWindows,
      conditions: [
        {
          type: 'ContractValid',
          status: 'False',
          reason: 'Invalid',
          message: expect.stringMatching(`^${message}`) as unknown,
          observedGeneration: 2,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
        before.conditions?.[1],
      ],
    });
    expect(status.validation?.errors?.[0]?.path).toBe(path);
    expect(revision).toBeUndefined();
    expect(events).toEqual([
      { type: 'Warning', reason: 'ContractInvalid', message: status.conditions?.[0]?.message },
    ]);
  });

  it('as it is out of reach: a pull secret that is not there', async () => {
    const spec = { contractRef: { oci: 'r.test/cart:1.4.0', pullSecretRef: 'pull' } };
    const { status, events } = await looked(spec, { status: before });
    expect(status).toMatchObject({
      contractStatus: 'Unknown',
      summary: { ...NO_COUNTS, unknownCount: 1 },
      conditions: [{ status: 'Unknown', reason: 'Unavailable' }, { type: 'ReadinessSatisfied' }],
    });
    expect(status.conditions?.[0]?.message).toMatch(/^failed to read pull secret "pull": /);
    expect(status).not.toHaveProperty('validation');
    expect(status).not.toHaveProperty('resolutionPolicy');
    expect(events.map(({ reason }) => reason)).toEqual(['ContractUnavailable']);
  });

  it('says how it is referred to all the same', async () => {
    const { status } = await looked({ contractRef: { oci: 'not a reference:1' } });
    expect(status).toMatchObject({ contractStatus: 'Invalid', resolutionPolicy: 'PinnedTag' });
  });

  it('is said once', async () => {
    const { events } = await looked({ contractRef: {} }, { status: { contractStatus: 'Invalid' } });
    expect(events).toEqual([]);
  });
});

describe('findings', () => {
  it('stand structural first, then as they were observed', async () => {
    const more = `${API}dependencies: [{name: pay, ref: "oci://r.test/pay:1.0.0", required: true, compatibility: ^1.0.0}]`;
    const { status } = await looked(inline(more, { target: { serviceName: 'gone', ...bindings() } }));
    expect(status.findings?.map(({ code, severity, subject }) => [code, severity, subject])).toEqual([
      ['TAG_NOT_DIGEST', 'warning', undefined],
      ['EVIDENCE_MISSING', 'unknown', 'interface/api'],
      ['OBSERVATION_UNSUPPORTED', 'unknown', 'dependency/pay'],
    ]);
    expect(status.summary).toEqual({ ...NO_COUNTS, warningCount: 1, unknownCount: 2 });
    expect(status.evaluationCoverage).toEqual({ evaluated: 0, required: 2 });
  });

  it('of a workload without a Service are Unsupported (T15)', async () => {
    const target = { workloadRef: { name: 'web', kind: 'Deployment' }, ...bindings() };
    expect(saidBy(await looked(inline(API, { target }))).findings).toEqual([
      'OBSERVATION_UNSUPPORTED interface/api',
    ]);
  });

  function bindings(): Written['spec'] {
    return { interfaceBindings: API_TARGET.interfaceBindings };
  }
});

describe('RuntimeObserved (T13)', () => {
  it.each([
    ['the Service', kinds.SERVICE, 'COLLECTION_FAILED interface/api'],
    ['the workload', kinds.DEPLOYMENT, 'COLLECTION_FAILED service/cart'],
  ])('is False where %s cannot be read, and the rest goes on', async (_name, kind, finding) => {
    const here = await webWorld();
    here.refusing.refuse(kind, 'GATE_CLUSTER_FORBIDDEN');
    const result = await here.look({ spec: inline(`${API}workload: service`, { target: API_TARGET }) });
    expect(saidBy(result)).toMatchObject({
      status: 'Unknown',
      findings: [finding],
      conditions: [VALID, 'RuntimeObserved=False/ObservationFailed'],
    });
    expect(result.status.conditions?.[1]?.message).toMatch(/^Runtime observation failed: ./);
    expect(result.status.findings?.[0]?.message).toMatch(/failed \(\w+\): ./);
    expect(result.status.evaluationCoverage).toEqual({ evaluated: 1, required: 2 });
  });

  it('is True where something else cannot be read', async () => {
    const here = await webWorld();
    here.refusing.refuse(kinds.ENDPOINT_SLICE, 'GATE_CLUSTER_FORBIDDEN');
    expect(saidBy(await here.look({ spec: inline(API, { target: API_TARGET }) }))).toMatchObject({
      findings: ['COLLECTION_FAILED interface/api'],
      conditions: [VALID, FOUND],
    });
  });

  it('is True where there is nothing', async () => {
    const here = new PassWorld();
    expect(saidBy(await here.look({ spec: inline(API, { target: API_TARGET }) })).conditions).toEqual([
      VALID,
      FOUND,
    ]);
  });

  it('is gone with the target (T5)', async () => {
    const here = await webWorld();
    const first = await here.look({ spec: inline(API, { target: API_TARGET }) });
    const second = await here.look({ spec: inline(API), status: here.stored(first), generation: 2 });
    expect(saidBy(second).conditions).toEqual(['ContractValid=True/ReferenceOnly']);
    expect(second.changed).toBe(true);
  });
});

describe('a look', () => {
  it('goes on where revisions cannot be read, with the revision before', async () => {
    const here = await webWorld();
    here.refusing.refuse(kinds.PACTO_REVISION, 'GATE_CLUSTER_FORBIDDEN');
    const { status, revision } = await here.look({ spec: inline(), status: { currentRevision: 'cart-1' } });
    expect(status).toMatchObject({ contractStatus: 'Reference', currentRevision: 'cart-1' });
    expect(revision).toBeUndefined();
    expect(here.logged.map(({ message, fields }) => [message, fields?.namespace, fields?.name])).toEqual([
      ['revisions not read', NAMESPACE, 'cart'],
    ]);
  });

  it('tells the log of a fault of ours, and goes on', async () => {
    const fault = new TypeError('x is not a function');
    const here = await webWorld(true, {
      settings: { probing: true },
      prober: { get: () => Promise.reject(fault) },
    });
    const health = 'capabilities: [{type: health, binding: {type: http, interface: api, path: /healthz}}]';
    const result = await here.look({ spec: inline(API + health, { target: API_TARGET }) });
    expect(saidBy(result)).toMatchObject({
      findings: ['COLLECTION_FAILED capability/health'],
      conditions: [VALID, FOUND],
    });
    expect(result.nextLookMs).toBe(here.clock.now() + 30_000);
    expect(here.logged).toEqual([
      {
        message: 'dimension failed',
        fields: { namespace: NAMESPACE, name: 'cart', dimension: 'health', err: fault },
      },
    ]);
  });

  it('finds the revision that is there', async () => {
    const here = new PassWorld();
    const { revision } = await here.look({ spec: inline() });
    if (revision === undefined) throw new Error('no revision was planned');
    await here.put(kinds.PACTO_REVISION, revision.object);
    const again = await here.look({ spec: inline() });
    expect(again.revision?.existing?.metadata.name).toBe(revision.object.metadata.name);
  });

  it('ends with its signal', async () => {
    const reason = new Error('stopping');
    const here = await webWorld();
    const looking = here.look({ spec: inline(API, { target: API_TARGET }) }, AbortSignal.abort(reason));
    await expect(looking).rejects.toBe(reason);
  });

  it('takes over what upstream wrote, without an event and with every time kept', async () => {
    const here = await webWorld();
    const more = `${API}dependencies: [{name: pay, ref: "oci://r.test/pay:1.0.0", required: true, compatibility: ^1.0.0}]`;
    const spec = inline(more, { target: API_TARGET });
    const ours = here.stored(await here.look({ spec }));
    const upstream = {
      ...ours,
      lastReconciledAt: '2025-12-01T00:00:00Z',
      capabilities: [],
      configurations: [],
      policies: [],
      findings: ours.findings?.map((finding) => ({ subject: '/', ...finding })),
      conditions: ours.conditions?.map((one) => ({ ...one, lastTransitionTime: '2025-12-01T00:00:00Z' })),
    };
    const result = await here.look({ spec, status: upstream });
    expect(result.events).toEqual([]);
    expect(result.status.conditions).toEqual(upstream.conditions);
    expect(result.status).toEqual({
      ...ours,
      conditions: upstream.conditions,
      lastReconciledAt: '2026-01-01T00:00:00Z',
    });
  });

  it.each([[null], ['x'], [{ conditions: 7, observationWindows: {}, contractStatus: [], findings: 'x' }]])(
    'makes sense of a status that makes none: %j',
    async (status) => {
      expect((await looked(inline(), { status })).status.contractStatus).toBe('Reference');
    },
  );

  it('says what may be written of a contract that is very large', async () => {
    const entries = Array.from({ length: 150 }, (_, index) => `k${String(index)}: ${'x'.repeat(2_500)}`);
    const { status } = await looked(
      inline(
        `${API}metadata: {${entries.join(', ')}}\nconfigurations: [{name: app, required: true, schema: c, values: {${entries.join(', ')}}}]`,
        {
          target: API_TARGET,
        },
      ),
    );
    expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThan(256 * 1024);
    expect(status).toMatchObject({ contractStatus: 'Unknown', summary: { unknownCount: 1 } });
  });
});
