/** The worked examples of contract.md §§18.2 and 18.3 by their numbers. */
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../src/policies/contract/contract.ts';
import { decodeEvidence, evidenceProblems } from '../../../src/policies/contract/evidence.ts';
import { evaluate } from '../../../src/policies/contract/evaluate.ts';
import { load } from '../../../src/policies/contract/load.ts';
import { assessReadiness } from '../../../src/policies/contract/readiness.ts';
import type { SchemaChecks } from '../../../src/policies/contract/schema-checks.ts';
import { contractStatus, deriveStatus } from '../../../src/policies/contract/status-ladder.ts';
import {
  structuralFindings,
  validate,
  type ValidateOptions,
} from '../../../src/policies/contract/validate.ts';
import type { Observation } from '../../../src/policies/observation.ts';
import { C, contract, D, evidence, F, G, gWith, gWithout, I, judge, K, P, W } from './evaluate-cases.ts';

const cache: Contract = contract({
  dependencies: [{ name: 'cache', ref: './cache', required: false, compatibility: '*' }],
});
const webOnly = K.interfaces;

interface Example {
  readonly name: string;
  readonly contract?: Contract;
  readonly evidence: readonly Observation[];
  readonly said?: readonly string[];
  readonly cov: string;
  readonly status: string;
}

const PAY = 'unknown dependency/pay dependencies[name=pay]';

const EXAMPLES: readonly Example[] = [
  { name: '24: everything satisfied is Compliant', evidence: G, cov: '6/6', status: 'Compliant' },
  {
    name: '25: a contradiction is NonCompliant and counts as evaluated',
    evidence: gWith(I('web', { type: 'openapi', present: false })),
    said: ['INTERFACE_ABSENT error interface/web interfaces[name=web]'],
    cov: '6/6',
    status: 'NonCompliant',
  },
  {
    name: '26: a gap is Unknown',
    evidence: gWithout('PersistenceObserved'),
    said: ['EVIDENCE_MISSING unknown service/cart state.persistence.durability'],
    cov: '5/6',
    status: 'Unknown',
  },
  ...(
    [
      ['Failed', 'COLLECTION_FAILED'],
      ['Unsupported', 'OBSERVATION_UNSUPPORTED'],
      ['Stale', 'EVIDENCE_STALE'],
      ['Insufficient', 'EVIDENCE_INSUFFICIENT'],
    ] as const
  ).map(([outcome, code]) => ({
    name: `27: the outcome ${outcome} is Unknown and no violation`,
    evidence: gWith(D('pay', outcome)),
    said: [`${code} ${PAY}`],
    cov: '5/6',
    status: 'Unknown',
  })),
  {
    name: '28: a violation outranks what is uncertain',
    evidence: [F('app', { present: false, conformant: true })],
    said: [
      'EVIDENCE_MISSING unknown interface/web interfaces[name=web]',
      'EVIDENCE_MISSING unknown capability/health capabilities[type=health]',
      `EVIDENCE_MISSING ${PAY}`,
      'CONFIGURATION_ABSENT error configuration/app configurations[name=app]',
      'EVIDENCE_MISSING unknown service/cart workload',
      'EVIDENCE_MISSING unknown service/cart state.persistence.durability',
    ],
    cov: '1/6',
    status: 'NonCompliant',
  },
  {
    name: '29: the workload is looked for by the name of the contract’s service',
    evidence: gWith(W('prod/cart', { type: 'service' })),
    said: ['EVIDENCE_MISSING unknown service/cart workload'],
    cov: '5/6',
    status: 'Unknown',
  },
  {
    name: '30: a missing field is a negative: conformant',
    evidence: gWith(F('app', { present: true })),
    said: ['CONFIGURATION_MISMATCH error configuration/app configurations[name=app]'],
    cov: '6/6',
    status: 'NonCompliant',
  },
  {
    name: '30: a missing field is a negative: present',
    evidence: gWith(C('health', {})),
    said: ['CAPABILITY_ABSENT error capability/health capabilities[type=health]'],
    cov: '6/6',
    status: 'NonCompliant',
  },
  {
    name: '30: a missing field is a negative: type',
    evidence: gWith(W('cart', {})),
    said: ['WORKLOAD_MISMATCH error service/cart workload'],
    cov: '6/6',
    status: 'NonCompliant',
  },
  {
    name: '31: the type of an interface is not compared',
    evidence: gWith(I('web', { type: 'grpc', present: true })),
    cov: '6/6',
    status: 'Compliant',
  },
  {
    name: '32: another workload is NonCompliant',
    contract: contract({ workload: 'scheduled' }),
    evidence: [W('cart', { type: 'job' })],
    said: ['WORKLOAD_MISMATCH error service/cart workload'],
    cov: '1/1',
    status: 'NonCompliant',
  },
  {
    name: '32: a workload that is not declared is not judged',
    contract: contract(),
    evidence: [W('cart', { type: 'job' })],
    cov: '0/0',
    status: 'Compliant',
  },
  {
    name: '33: ephemeral state is never checked',
    contract: contract({
      state: {
        type: 'stateless',
        persistence: { scope: 'local', durability: 'ephemeral' },
        dataCriticality: 'low',
      },
    }),
    evidence: [P('cart', { durable: true })],
    cov: '0/0',
    status: 'Compliant',
  },
  {
    name: '34: an optional dependency without evidence says nothing',
    contract: cache,
    evidence: [],
    cov: '0/0',
    status: 'Compliant',
  },
  {
    name: '34: an optional dependency that could not be observed says nothing',
    contract: cache,
    evidence: [D('cache', 'Failed')],
    cov: '0/0',
    status: 'Compliant',
  },
  {
    name: '34: an optional dependency that is unreachable is a warning',
    contract: cache,
    evidence: [D('cache', { reachable: false })],
    said: ['DEPENDENCY_UNREACHABLE warning dependency/cache dependencies[name=cache]'],
    cov: '0/0',
    status: 'Warning',
  },
  {
    name: '35: an optional configuration of the wrong shape is a warning',
    contract: contract({ configurations: [{ name: 'app', required: false, schema: 'cfg.json' }] }),
    evidence: [F('app', { present: true, conformant: false })],
    said: ['CONFIGURATION_MISMATCH warning configuration/app configurations[name=app]'],
    cov: '0/0',
    status: 'Warning',
  },
  {
    name: '36: a warning beside what is unknown is Unknown',
    contract: { ...cache, interfaces: webOnly },
    evidence: [D('cache', { reachable: false })],
    said: [
      'EVIDENCE_MISSING unknown interface/web interfaces[name=web]',
      'DEPENDENCY_UNREACHABLE warning dependency/cache dependencies[name=cache]',
    ],
    cov: '0/1',
    status: 'Unknown',
  },
  {
    name: '36: and NonCompliant once a required configuration is absent',
    contract: { ...cache, interfaces: webOnly, configurations: K.configurations },
    evidence: [D('cache', { reachable: false }), F('app', { present: false })],
    said: [
      'EVIDENCE_MISSING unknown interface/web interfaces[name=web]',
      'DEPENDENCY_UNREACHABLE warning dependency/cache dependencies[name=cache]',
      'CONFIGURATION_ABSENT error configuration/app configurations[name=app]',
    ],
    cov: '1/2',
    status: 'NonCompliant',
  },
  {
    name: '37: an extension can never pass, whatever was observed',
    contract: contract({ capabilities: [{ type: 'extension', ref: 'acme.test/backup' }] }),
    evidence: [C('acme.test/backup', { present: true })],
    said: [
      'EXTENSION_EVALUATOR_UNAVAILABLE unknown capability/acme.test/backup capabilities[ref=acme.test/backup]',
    ],
    cov: '0/1',
    status: 'Unknown',
  },
  {
    name: '37: two extensions are two findings',
    contract: contract({
      capabilities: [
        { type: 'extension', ref: 'acme.test/a' },
        { type: 'extension', ref: 'acme.test/b' },
      ],
    }),
    evidence: [],
    said: [
      'EXTENSION_EVALUATOR_UNAVAILABLE unknown capability/acme.test/a capabilities[ref=acme.test/a]',
      'EXTENSION_EVALUATOR_UNAVAILABLE unknown capability/acme.test/b capabilities[ref=acme.test/b]',
    ],
    cov: '0/2',
    status: 'Unknown',
  },
  {
    name: '38: an interface of the same name does not satisfy a capability',
    contract: contract({
      interfaces: [{ name: 'health', type: 'openapi', ref: 'i.yaml' }],
      capabilities: [{ type: 'health' }],
    }),
    evidence: [I('health', { present: true })],
    said: ['EVIDENCE_MISSING unknown capability/health capabilities[type=health]'],
    cov: '1/2',
    status: 'Unknown',
  },
  {
    name: '39: evidence of what is not declared is ignored',
    evidence: [...G, D('unknown-dep', { reachable: false })],
    cov: '6/6',
    status: 'Compliant',
  },
  {
    name: '40: of two contradicting observations the first counts',
    evidence: [I('web', { present: true }), I('web', { present: false }), ...gWithout('InterfaceObserved')],
    cov: '6/6',
    status: 'Compliant',
  },
  {
    name: '41: an old observation that says Observed is current',
    evidence: G.map((one) => ({
      ...one,
      provenance: { ...one.provenance, detectedAt: '2024-05-01T10:00:00Z' },
    })),
    cov: '6/6',
    status: 'Compliant',
  },
];

describe('worked examples of evaluate', () => {
  it.each(EXAMPLES)('$name', ({ contract: declared = K, evidence: observations, said = [], cov, status }) => {
    expect(judge(declared, observations)).toEqual({ said, cov, status });
  });

  it('40: and a set that has both is refused before', () => {
    const both = [I('web', { present: true }), I('web', { present: false })];
    expect(evidenceProblems(evidence(both))).toEqual([expect.stringContaining('observation[1]: ')]);
  });

  it('42: a null payload reads as all negative, and is refused where nothing was observed', () => {
    const ofPay = (outcome: string): unknown => ({
      observations: [
        {
          kind: 'DependencyReachable',
          subject: { kind: 'dependency', name: 'pay' },
          outcome,
          value: null,
        },
      ],
    });
    const observed = decodeEvidence(ofPay('Observed'));
    if (!observed.ok) throw new Error(observed.reason);
    const codes = evaluate(K, observed.evidence).findings.map(({ code }) => code);
    expect(codes).toContain('DEPENDENCY_UNREACHABLE');
    expect(decodeEvidence(ofPay('Stale'))).toMatchObject({ ok: false });
  });

  it('43: coverage alone can make it Unknown, and info alone nothing', () => {
    expect(deriveStatus([], { evaluated: 1, required: 3 })).toBe('Unknown');
    expect(deriveStatus([{ severity: 'info' }], { evaluated: 3, required: 3 })).toBe('Compliant');
  });
});

describe('worked examples of a status in context', () => {
  /** Neither example has a schema to check. */
  const schemas: SchemaChecks = {
    compile: () => Promise.reject(new Error('nothing to compile')),
    validate: () => Promise.reject(new Error('nothing to validate')),
  };
  const head = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.4.0}\n';

  async function judged(text: string, options: Partial<ValidateOptions>, seen: readonly Observation[]) {
    const loaded = load(head + text);
    if (!loaded.ok) throw new Error(loaded.reason);
    const structural = structuralFindings(await validate(loaded, { schemas, ...options }));
    const { findings, coverage } = evaluate(loaded.contract, evidence(seen));
    return {
      structural: structural.map(({ code }) => code),
      operator: contractStatus({ structural, reference: false, findings, coverage }),
      ingestion: deriveStatus(findings, coverage),
    };
  }

  it('44: a tag instead of a digest is a Warning in the operator and Compliant in ingestion', async () => {
    const text = `
interfaces: [{name: web, type: openapi, ref: interfaces/web.yaml}]
capabilities: [{type: health}]
dependencies: [{name: pay, ref: "oci://r.test/pay:1.0.0", required: true, compatibility: ^1.0.0}]
configurations: [{name: app, required: true, schema: cfg.json}]
workload: service
state: {type: stateful, persistence: {scope: shared, durability: persistent}, dataCriticality: high}`;
    expect(await judged(text, {}, G)).toEqual({
      structural: ['TAG_NOT_DIGEST'],
      operator: 'Warning',
      ingestion: 'Compliant',
    });
  });

  it('45: a policy that is not fetched is a Warning in the operator, and one that passes nothing', async () => {
    const text = 'policies: [{name: p, ref: "oci://r.test/policy:1.0.0"}]';
    expect(await judged(text, { files: new Map() }, [])).toMatchObject({
      structural: ['POLICY_REF_NOT_ENFORCED'],
      operator: 'Warning',
    });
    const passes: SchemaChecks = {
      compile: () => Promise.resolve({ outcome: 'valid' }),
      validate: () => Promise.resolve({ outcome: 'valid' }),
    };
    const bundle = {
      contract: contract(),
      files: new Map([['policy/schema.json', new TextEncoder().encode('{}')]]),
      base: undefined,
    };
    const resolver = { resolve: () => Promise.resolve({ ok: true as const, bundle }) };
    expect(await judged(text, { files: new Map(), resolver, schemas: passes }, [])).toEqual({
      structural: [],
      operator: 'Compliant',
      ingestion: 'Compliant',
    });
  });

  it('46: what could not be obtained is Unknown, and what is broken Invalid', () => {
    const nothing = {
      reference: false,
      findings: [],
      coverage: { evaluated: 0, required: 0 },
      structural: [],
    };
    expect(contractStatus({ ...nothing, failure: 'unavailable' })).toBe('Unknown');
    expect(contractStatus({ ...nothing, failure: 'broken' })).toBe('Invalid');
  });

  it('47: expired readiness leaves the status as it is', () => {
    const claims = [{ id: 'a', type: 'url', status: 'done', evidence: 'x', weight: 1 }];
    const readiness = { expires: '2026-01-01', claims, history: [] };
    expect(assessReadiness(readiness, new Date('2026-05-01T00:00:00Z'))).toMatchObject({
      state: 'Expired',
      passing: false,
    });
    const { findings, coverage } = evaluate({ ...K, readiness }, evidence(G));
    expect(contractStatus({ structural: [], reference: false, findings, coverage })).toBe('Compliant');
  });
});
