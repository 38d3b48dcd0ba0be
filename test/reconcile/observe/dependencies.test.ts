import { describe, expect, it } from 'vitest';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import type { Observation } from '../../../src/policies/observation.ts';
import { observeDependencies } from '../../../src/reconcile/observe/dependencies.ts';
import { look, WINDOW_MS, type Scene } from './survey.ts';
import { pacto, service, slice } from './survey-objects.ts';

const REF = 'oci://r.test/shop/pay';
const STREAK = 'dependency/pay';
const REACHABLE = { reachable: true };
const UNREACHABLE = { reachable: false };

function scene(
  objects: readonly KubeObject[],
  { compatibility = '^1.0.0', ref = REF, ...more }: Scene & { compatibility?: string; ref?: string } = {},
): Scene {
  return {
    objects,
    contract: { dependencies: [{ name: 'pay', ref, required: true, compatibility }] },
    ...more,
  };
}

/** What is said of reachability, and of versions. */
async function said(given: Scene): Promise<readonly [unknown, unknown]> {
  const { observations } = await look(observeDependencies, given);
  const of = (kind: Observation['kind']): unknown => {
    const found = observations.filter((one) => one.kind === kind);
    expect(found.length).toBeLessThanOrEqual(1);
    return found[0]?.value ?? found[0]?.outcome;
  };
  return [of('DependencyReachable'), of('DependencyVersionObserved')];
}

const sibling = pacto('pay', { resolvedRef: 'r.test/shop/pay:1.2.0' });
const up = [service({ name: 'pay' }), slice('pay', [{ ready: true }])];
const known = { versions: ['1.2.0'] };

describe('whether a dependency can be reached (operator.md §5.4)', () => {
  it.each<[string, Scene, unknown]>([
    ['a ready endpoint: reachable', scene([sibling, ...up]), REACHABLE],
    [
      'a ready endpoint on any port: reachable',
      scene([sibling, service({ name: 'pay' }), slice('pay', [{ ready: true }], { ports: [{ port: 9 }] })]),
      REACHABLE,
    ],
    [
      'a Service without a selector: reachable',
      scene([sibling, service({ name: 'pay', spec: { selector: {} } }), slice('pay', [{ ready: true }])]),
      REACHABLE,
    ],
    ['Pactos cannot be read: Failed', scene([sibling, ...up], { forbidden: [kinds.PACTO] }), 'Failed'],
    ['nobody has its repository: Unsupported', scene([...up]), 'Unsupported'],
    [
      'one without a contract in its status is nobody: Unsupported',
      scene([pacto('pay'), ...up]),
      'Unsupported',
    ],
    [
      'two Services: Insufficient',
      scene([sibling, ...up, pacto('blue', { resolvedRef: 'r.test/shop/pay:1.2.0' })]),
      'Insufficient',
    ],
    [
      'the same Service in two namespaces: Insufficient',
      scene([sibling, ...up, pacto('pay', { namespace: 'other', resolvedRef: 'r.test/shop/pay:1.2.0' })]),
      'Insufficient',
    ],
    [
      'two Pactos of one Service: reachable',
      scene([sibling, ...up, pacto('pay-2', { service: 'pay', resolvedRef: 'r.test/shop/pay:1.2.0' })]),
      REACHABLE,
    ],
    [
      'in another namespace: reachable',
      scene([
        pacto('pay', { namespace: 'other', resolvedRef: 'r.test/shop/pay:1.2.0' }),
        service({ name: 'pay', namespace: 'other' }),
        slice('pay', [{ ready: true }], { namespace: 'other' }),
      ]),
      REACHABLE,
    ],
    [
      'it names no Service: Insufficient',
      scene([pacto('pay', { service: null, resolvedRef: 'r.test/shop/pay:1.2.0' }), ...up]),
      'Insufficient',
    ],
    [
      'its Service is an alias for a name: Unsupported',
      scene([sibling, service({ name: 'pay', spec: { type: 'ExternalName' } })]),
      'Unsupported',
    ],
    ['Services cannot be read: Failed', scene([sibling, ...up], { forbidden: [kinds.SERVICE] }), 'Failed'],
    [
      'slices cannot be read: Failed',
      scene([sibling, ...up], { forbidden: [kinds.ENDPOINT_SLICE] }),
      'Failed',
    ],
  ])('%s', async (_what, given, expected) => {
    expect((await said(given))[0]).toEqual(expected);
    const { streaks } = await look(observeDependencies, { ...given, streaks: { [STREAK]: 5_000 } });
    // Only what is positive ends a streak; nothing else moves it.
    expect(streaks).toEqual(expected === REACHABLE ? {} : { [STREAK]: 5_000 });
  });

  it.each<[string, readonly KubeObject[]]>([
    ['its Service is not there', [sibling]],
    ['there is no slice', [sibling, service({ name: 'pay' })]],
    ['nothing is ready', [sibling, service({ name: 'pay' }), slice('pay', [{ ready: false }])]],
  ])('%s: unreachable once it has lasted', async (_what, objects) => {
    const first = await look(observeDependencies, scene(objects));
    expect(first.observations[0]?.outcome).toBe('Insufficient');
    expect(first.streaks).toEqual({ [STREAK]: 0 });
    const over = await look(observeDependencies, scene(objects, { streaks: { [STREAK]: WINDOW_MS } }));
    expect(over.observations[0]?.value).toEqual(UNREACHABLE);
    expect(over.streaks).toEqual({ [STREAK]: WINDOW_MS });
  });

  it.each([
    ['oci://r.test/shop/pay', 'r.test/shop/pay:1.2.0'],
    ['oci://r.test/shop/pay:9.9.9', 'r.test/shop/pay:1.2.0'],
    ['oci://r.test/shop/pay@sha256:00', 'r.test/shop/pay:1.2.0@sha256:11'],
    ['r.test/shop/pay', 'oci://r.test/shop/pay:1.2.0'],
    ['oci://docker.io/shop/pay', 'shop/pay:1.2.0'],
  ])('%s is served by %s', async (ref, resolvedRef) => {
    expect((await said(scene([pacto('pay', { resolvedRef }), ...up], { ref })))[0]).toEqual(REACHABLE);
  });

  it.each([
    ['oci://r.test/shop/pay', 'r.test/shop/payments:1.2.0'],
    ['oci://r.test/shop/pay', 'r.test:5000/shop/pay:1.2.0'],
    ['', 'r.test/shop/pay:1.2.0'],
  ])('%s is not served by %s', async (ref, resolvedRef) => {
    expect((await said(scene([pacto('pay', { resolvedRef }), ...up], { ref })))[0]).toBe('Unsupported');
  });
});

describe('in which version a dependency runs (operator.md §5.4)', () => {
  const old = pacto('pay-old', { version: '0.9.0', resolvedRef: 'r.test/shop/pay:0.9.0' });

  it.each<[string, Scene, unknown, unknown]>([
    ['one that fits', scene([sibling, ...up]), REACHABLE, known],
    ['one that does not fit', scene([sibling, ...up], { compatibility: '^2.0.0' }), REACHABLE, known],
    ['only those that fit, where some do', scene([sibling, old, ...up]), REACHABLE, known],
    [
      'all of them, where none does',
      scene([sibling, old, ...up], { compatibility: '^2.0.0' }),
      'Insufficient',
      { versions: ['0.9.0', '1.2.0'] },
    ],
    [
      'each version once',
      scene([sibling, ...up, pacto('pay-2', { service: 'pay', resolvedRef: 'r.test/shop/pay:1.2.0' })]),
      REACHABLE,
      known,
    ],
    [
      'none that is known',
      scene([pacto('pay', { version: null, resolvedRef: 'r.test/shop/pay' }), ...up]),
      REACHABLE,
      { versions: [''] },
    ],
    [
      'none that is a text',
      scene([pacto('pay', { version: 7, resolvedRef: 'r.test/shop/pay' }), ...up]),
      REACHABLE,
      { versions: [''] },
    ],
    ['a range that cannot be read', scene([sibling, ...up], { compatibility: 'soon' }), REACHABLE, known],
    ['nothing where nobody serves it', scene([...up]), 'Unsupported', undefined],
    [
      'nothing where Pactos cannot be read',
      scene([sibling], { forbidden: [kinds.PACTO] }),
      'Failed',
      undefined,
    ],
    [
      'also where it cannot be reached for certain',
      scene([sibling], { forbidden: [kinds.SERVICE] }),
      'Failed',
      known,
    ],
  ])('%s', async (_what, given, reachable, versions) => {
    expect(await said(given)).toEqual([reachable, versions]);
  });
});

it('looks at each dependency for itself, in the order of the contract', async () => {
  const dependencies = ['pay', 'mail'].map((name) => ({
    name,
    ref: `oci://r.test/shop/${name}`,
    required: name === 'pay',
    compatibility: '^1.0.0',
  }));
  const { observations } = await look(observeDependencies, {
    objects: [sibling, ...up],
    contract: { dependencies },
  });
  expect(observations.map(({ kind, subject }) => [kind, subject.kind, subject.name])).toEqual([
    ['DependencyReachable', 'dependency', 'pay'],
    ['DependencyVersionObserved', 'dependency', 'pay'],
    ['DependencyReachable', 'dependency', 'mail'],
  ]);
});
