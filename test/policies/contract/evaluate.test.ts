import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../src/policies/contract/contract.ts';
import { evidenceProblems } from '../../../src/policies/contract/evidence.ts';
import { evaluate } from '../../../src/policies/contract/evaluate.ts';
import { CONTRACT_FINDINGS } from '../../../src/policies/contract/findings.ts';
import {
  EXPOSURES,
  OBSERVATION_KINDS,
  OUTCOMES,
  WIRE_PROTOCOLS,
  type Observation,
} from '../../../src/policies/observation.ts';
import { contract, D, evidence, F, G, gWith, I, judge, K } from './evaluate-cases.ts';

describe('a finding', () => {
  it('refers to the set, in seconds and in its own offset', () => {
    const refsOf = (observedAt: string): unknown =>
      evaluate(K, evidence([], { observedAt, source: 'docker-host' })).findings[0]?.evidenceRefs;
    const source = 'docker-host';
    expect(refsOf('2026-05-01T10:00:05.999Z')).toEqual([{ source, observedAt: '2026-05-01T10:00:05Z' }]);
    expect(refsOf('2026-05-01T9:00:05,5+02:30')).toEqual([
      { source, observedAt: '2026-05-01T09:00:05+02:30' },
    ]);
    expect(refsOf('2026-05-01T10:00:05-00:00')).toEqual([{ source, observedAt: '2026-05-01T10:00:05Z' }]);
    expect(refsOf('yesterday')).toEqual([{ source, observedAt: 'yesterday' }]);
  });

  it('has the category of its code', () => {
    const { findings } = evaluate(K, evidence([F('app', {}), D('pay', 'Failed')]));
    for (const { code, category } of findings) expect(category).toBe(CONTRACT_FINDINGS[code].category);
    expect(new Set(findings.map(({ category }) => category))).toEqual(
      new Set(['RuntimeDrift', 'Inconclusive']),
    );
  });

  it('names its subject, and of a mismatch both sides', () => {
    const messageOf = (declared: Contract, ...seen: readonly Observation[]): string =>
      evaluate(declared, evidence(seen)).findings[0]?.message ?? '';
    const web = contract({ interfaces: K.interfaces });
    expect(messageOf(web, I('web', 'Unsupported'))).toBe(
      'interface "web" cannot be observed in this environment (InterfaceObserved)',
    );
    expect(messageOf(web, I('web', { present: false }))).toMatch(/"web".*zero ready endpoints.*window/);
    expect(messageOf(contract({ workload: 'job' }), ...gWith())).toMatch(/"job".*"service"/);
  });

  it.each([
    ['nothing', undefined, ''],
    ['an empty text', '', ''],
    ['a reason', 'services may not be read', ': services may not be read'],
    ['what would forge a line', 'a\nb\u202e', String.raw`: a\u000ab\u202e`],
    ['a long one', 'x'.repeat(301), `: ${'x'.repeat(300)}…`],
    ['one that is cut within a character', `${'x'.repeat(299)}\u{1f600}`, `: ${'x'.repeat(299)}\ufffd…`],
  ])('says of a failure why it failed: %s', (_name, reason, said) => {
    const failed = { ...I('web', 'Failed'), ...(reason !== undefined && { reason }) };
    const { findings } = evaluate(contract({ interfaces: K.interfaces }), evidence([failed]));
    expect(findings.map(({ code, message }) => `${code} ${message}`)).toEqual([
      `COLLECTION_FAILED observing interface "web" failed (InterfaceObserved)${said}`,
    ]);
  });

  it.each([
    ['Stale', 'what was last seen of interface "web" is too old (InterfaceObserved): the agent is silent'],
    [
      'Insufficient',
      'what was seen of interface "web" neither confirms nor contradicts the contract (InterfaceObserved)',
    ],
    ['Unsupported', 'interface "web" cannot be observed in this environment (InterfaceObserved)'],
  ] as const)('says the reason of what is stale as well, and of no other outcome: %s', (outcome, said) => {
    const seen = { ...I('web', outcome), reason: 'the agent is silent' };
    const { findings } = evaluate(contract({ interfaces: K.interfaces }), evidence([seen]));
    expect(findings[0]?.message).toBe(said);
  });

  it('names the kind of observation that is missing', () => {
    const persistence = { scope: 'shared', durability: 'persistent' };
    const declared = contract({
      workload: 'job',
      state: { type: 'stateful', persistence, dataCriticality: 'low' },
    });
    const { findings } = evaluate(declared, evidence([]));
    const missing = (kind: string): string =>
      `there is no ${kind} of the required service "${declared.service.name}"`;
    expect(findings.map(({ message }) => message)).toEqual([
      missing('WorkloadObserved'),
      missing('PersistenceObserved'),
    ]);
  });

  it('quotes names that somebody chose, and cuts them', () => {
    const name = `\u202e"\n${'x'.repeat(10_000)}`;
    const { findings } = evaluate(contract({ interfaces: [{ name, type: 'grpc', ref: 'r' }] }), evidence([]));
    expect(findings[0]?.message).toMatch(/^.{20,200}$/);
    expect(findings[0]?.message).not.toContain('\u202e');
    expect(findings[0]?.subject?.name).toBe(name);
  });
});

describe('an assertion', () => {
  it('is judged by name, whatever kind of subject the observation has', () => {
    const [web = I('web', {})] = G;
    expect(
      judge(contract({ interfaces: K.interfaces }), [{ ...web, subject: { kind: 'x', name: 'web' } }]),
    ).toEqual({ said: [], cov: '1/1', status: 'Compliant' });
  });

  it('is uncertain of an outcome that nobody knows', () => {
    const odd = { ...I('web', 'Failed'), outcome: 'constructor' } as unknown as Observation;
    expect(judge(contract({ interfaces: K.interfaces }), [odd])).toEqual({
      said: ['EVIDENCE_INSUFFICIENT unknown interface/web interfaces[name=web]'],
      cov: '0/1',
      status: 'Unknown',
    });
  });

  it('of the workload is not made where it is empty', () => {
    expect(judge(contract({ workload: '' }), []).cov).toBe('0/0');
  });

  it('is made in the order of the contract, kind after kind', () => {
    const two = contract({
      ...K,
      interfaces: [...K.interfaces, { name: 'api', type: 'grpc', ref: 'r' }],
      capabilities: [{ type: 'extension', ref: 'a.test/x' }, { type: 'metrics' }],
    });
    expect(evaluate(two, evidence([])).findings.map(({ contractPath }) => contractPath)).toEqual([
      'interfaces[name=web]',
      'interfaces[name=api]',
      'capabilities[ref=a.test/x]',
      'capabilities[type=metrics]',
      'dependencies[name=pay]',
      'configurations[name=app]',
      'workload',
      'state.persistence.durability',
    ]);
  });
});

const aName = fc.constantFrom('web', 'pay', 'app', 'health', 'cart', '__proto__', '');
const aVersion = fc.constantFrom('1.2.0', '2.0.0', '', 'latest', '1.0.0-rc.1');

const aContract: fc.Arbitrary<Contract> = fc.record({
  pactoVersion: fc.constant('2.0'),
  service: fc.constant({ name: 'cart', version: '1.4.0' }),
  interfaces: fc.array(
    fc.record(
      {
        name: aName,
        type: fc.constantFrom('openapi', 'asyncapi', 'grpc', 'constructor'),
        ref: fc.constant('r'),
        visibility: fc.constantFrom('public', 'internal', ''),
      },
      { requiredKeys: ['name', 'type', 'ref'] },
    ),
  ),
  capabilities: fc.array(
    fc.record(
      { type: fc.constantFrom('health', 'metrics', 'extension'), ref: aName },
      { requiredKeys: ['type'] },
    ),
  ),
  dependencies: fc.array(
    fc.record({
      name: aName,
      ref: fc.constant('r'),
      required: fc.boolean(),
      compatibility: fc.constantFrom('^1.0.0', '*', '', 'nonsense'),
    }),
  ),
  configurations: fc.array(fc.record({ name: aName, required: fc.boolean() })),
  policies: fc.constant([]),
});

const anObservation: fc.Arbitrary<Observation> = fc.record({
  kind: fc.constantFrom(...OBSERVATION_KINDS),
  subject: fc.record({ kind: aName, name: aName }),
  outcome: fc.constantFrom(...OUTCOMES),
  value: fc.record(
    {
      type: fc.string(),
      present: fc.boolean(),
      reachable: fc.boolean(),
      conformant: fc.boolean(),
      durable: fc.boolean(),
      protocol: fc.constantFrom(...WIRE_PROTOCOLS),
      exposure: fc.constantFrom(...EXPOSURES),
      versions: fc.array(aVersion),
    },
    { requiredKeys: [] },
  ),
  provenance: fc.constant({ collector: 'c', detectedAt: '' }),
});

describe('evaluate', () => {
  it('keeps the laws of coverage, and never throws', () => {
    fc.assert(
      fc.property(aContract, fc.array(anObservation), (declared, observations) => {
        const { findings, coverage } = evaluate(declared, evidence(observations));
        const { evaluated, required } = coverage;
        const unknown = findings.filter(({ severity }) => severity === 'unknown').length;
        expect(required - evaluated).toBe(unknown);
        expect(required).toBe(
          declared.interfaces.length +
            declared.capabilities.length +
            [...declared.dependencies, ...declared.configurations].filter((one) => one.required).length,
        );
        evidenceProblems(evidence(observations));
      }),
    );
  });

  it('says no violation without an observation that says Observed', () => {
    fc.assert(
      fc.property(aContract, fc.array(anObservation), (declared, observations) => {
        const inconclusive = observations.filter(({ outcome }) => outcome !== 'Observed');
        const { findings, coverage } = evaluate(declared, evidence(inconclusive));
        expect(findings.filter(({ severity }) => severity !== 'unknown')).toEqual([]);
        expect(coverage.evaluated).toBe(0);
      }),
    );
  });

  it('looks at no time and no source', () => {
    fc.assert(
      fc.property(aContract, fc.array(anObservation), fc.string(), (declared, observations, text) => {
        const plain = evaluate(declared, evidence(observations));
        const other = evaluate(declared, evidence(observations, { source: text, observedAt: text }));
        const bare = ({ findings }: typeof plain): unknown =>
          findings.map(({ evidenceRefs: _refs, ...rest }) => rest);
        expect(bare(other)).toEqual(bare(plain));
      }),
    );
  });
});
