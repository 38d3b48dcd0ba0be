/** What operator 6.4 checks beside the recorded assertions (operator.md §§5.2 to 5.4). */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dependency, Interface } from '../../../src/policies/contract/contract.ts';
import { evaluate } from '../../../src/policies/contract/evaluate.ts';
import { EXPOSURES, OUTCOMES, WIRE_PROTOCOLS, type Observation } from '../../../src/policies/observation.ts';
import { contract, D, evidence, exposure, G, I, judge, K, protocol, versions } from './evaluate-cases.ts';

const web = (declared: Partial<Interface>, ...seen: readonly Observation[]) =>
  judge(contract({ interfaces: [{ name: 'web', type: 'openapi', ref: 'r', ...declared }] }), [
    I('web', { present: true }),
    ...seen,
  ]);
const pay = (declared: Partial<Dependency>, ...seen: readonly Observation[]) =>
  judge(
    contract({
      dependencies: [{ name: 'pay', ref: './pay', required: true, compatibility: '^1.0.0', ...declared }],
    }),
    [D('pay', { reachable: true }), ...seen],
  );

const CLEAN = { said: [], cov: '1/1', status: 'Compliant' };
const PROTOCOL = 'INTERFACE_PROTOCOL_MISMATCH error interface/web interfaces[name=web].type';
const VISIBILITY = 'INTERFACE_VISIBILITY_MISMATCH error interface/web interfaces[name=web].visibility';
const VERSION = 'DEPENDENCY_VERSION_MISMATCH error dependency/pay dependencies[name=pay].compatibility';
const broken = (said: string) => ({ said: [said], cov: '1/1', status: 'NonCompliant' });

describe('the protocol of an interface', () => {
  it.each([
    ['openapi', 'http', CLEAN],
    ['openapi', 'grpc', broken(PROTOCOL)],
    ['openapi', 'other', broken(PROTOCOL)],
    ['grpc', 'grpc', CLEAN],
    ['grpc', 'http', broken(PROTOCOL)],
    ['grpc', 'other', broken(PROTOCOL)],
    ['asyncapi', 'http', CLEAN],
    ['asyncapi', 'other', CLEAN],
    ['constructor', 'other', CLEAN],
  ] as const)('declared as %s and seen as %s', (type, spoken, judged) => {
    expect(web({ type }, protocol('web', { protocol: spoken }))).toEqual(judged);
  });
});

describe('the visibility of an interface', () => {
  it.each([
    [undefined, 'external', broken(VISIBILITY)],
    ['', 'external', broken(VISIBILITY)],
    ['internal', 'external', broken(VISIBILITY)],
    ['public', 'external', CLEAN],
    [undefined, 'internal', CLEAN],
    ['internal', 'internal', CLEAN],
    ['public', 'internal', CLEAN],
  ] as const)('declared as %s and seen as %s', (visibility, seen, judged) => {
    const declared = visibility === undefined ? {} : { visibility };
    expect(web(declared, exposure('web', { exposure: seen }))).toEqual(judged);
  });
});

describe('the version of a dependency', () => {
  it.each<[string, Partial<Dependency>, string[], object]>([
    ['inside', {}, ['1.9.0'], CLEAN],
    ['outside', {}, ['2.0.0'], broken(VERSION)],
    ['a prerelease that the range does not admit', {}, ['1.5.0-rc.1'], broken(VERSION)],
    ['none', {}, [], CLEAN],
    ['not known', {}, [''], CLEAN],
    ['no version', {}, ['latest'], CLEAN],
    ['several, one of them inside', {}, ['2.0.0', '1.0.0', '3.0.0'], CLEAN],
    ['several, all outside', {}, ['2.0.0', '3.0.0', '4.0.0', '5.0.0'], broken(VERSION)],
    ['several outside and one not known', {}, ['2.0.0', ''], CLEAN],
    ['outside of a range that is none', { compatibility: 'latest' }, ['2.0.0'], CLEAN],
    ['outside of an empty range', { compatibility: '' }, ['2.0.0'], CLEAN],
    [
      'outside, of an optional dependency',
      { required: false },
      ['2.0.0'],
      { said: [VERSION.replace('error', 'warning')], cov: '0/0', status: 'Warning' },
    ],
  ])('%s', (_what, declared, seen, judged) => {
    expect(pay(declared, versions('pay', { versions: seen }))).toEqual(judged);
  });

  it('is named with at most two others', () => {
    const seen = { versions: ['2.0.0', '3.0.0', '4.0.0', '5.0.0'] };
    const { findings } = evaluate(K, evidence([...G, versions('pay', seen)]));
    expect(findings[0]?.message).toContain('"2.0.0", "3.0.0", "4.0.0" and 1 more');
  });
});

describe('all three', () => {
  const beside = [protocol, exposure, versions];

  it.each(OUTCOMES.filter((outcome) => outcome !== 'Observed'))(
    'say nothing of the outcome %s',
    (outcome) => {
      expect(judge(K, [...G, ...beside.map((of) => of('web', outcome)), versions('pay', outcome)])).toEqual(
        judge(K, G),
      );
    },
  );

  it('say nothing of a payload that is empty', () => {
    expect(judge(K, [...G, protocol('web', {}), exposure('web', {}), versions('pay', {})])).toEqual(
      judge(K, G),
    );
  });

  it('stand behind the assertion of their subject, and count nothing', () => {
    const seen = [
      I('web', { present: false }),
      protocol('web', { protocol: 'other' }),
      exposure('web', { exposure: 'external' }),
      D('pay', { reachable: false }),
      versions('pay', { versions: ['2.0.0'] }),
    ];
    expect(judge(K, seen)).toMatchObject({
      said: [
        'INTERFACE_ABSENT error interface/web interfaces[name=web]',
        PROTOCOL,
        VISIBILITY,
        'EVIDENCE_MISSING unknown capability/health capabilities[type=health]',
        'DEPENDENCY_UNREACHABLE error dependency/pay dependencies[name=pay]',
        VERSION,
        'EVIDENCE_MISSING unknown configuration/app configurations[name=app]',
        'EVIDENCE_MISSING unknown service/cart workload',
        'EVIDENCE_MISSING unknown service/cart state.persistence.durability',
      ],
      cov: '2/6',
    });
  });

  it('never change coverage', () => {
    const anOpinion = fc.oneof(
      fc.constantFrom(...WIRE_PROTOCOLS).map((spoken) => protocol('web', { protocol: spoken })),
      fc.constantFrom(...EXPOSURES).map((seen) => exposure('web', { exposure: seen })),
      fc.array(fc.constantFrom('1.0.0', '2.0.0', '')).map((seen) => versions('pay', { versions: seen })),
    );
    fc.assert(
      fc.property(fc.subarray([...G]), fc.array(anOpinion), (seen, opinions) => {
        expect(judge(K, [...seen, ...opinions]).cov).toBe(judge(K, seen).cov);
      }),
    );
  });
});
