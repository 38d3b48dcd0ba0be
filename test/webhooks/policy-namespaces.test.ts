/** Namespaces as policies see them: of the request, selected by labels, being deleted, and gone (vap.md F9, M01, M02). */
import { describe, expect, it } from 'vitest';
import { createReader } from '../../src/cluster/cache.ts';
import { NAMESPACE } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import type { LiveCallFacts } from '../../src/metrics.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { answered, policySite, type PolicySite, type SiteMode } from './policy-site.ts';
import { aBinding, aPolicy, aReview, webhookOf, type PolicyResponse } from './policy-webhook.ts';

function aNamespace(
  name: string,
  labels: Record<string, string>,
  rest: Partial<KubeObject> = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
    status: { phase: 'Active' },
    ...rest,
  };
}

const prod = aNamespace('shop', { env: 'prod' });
const site = (mode: SiteMode, ...namespaces: readonly KubeObject[]): Promise<PolicySite> =>
  policySite(
    mode,
    namespaces.map((namespace) => [NAMESPACE, namespace] as const),
    [NAMESPACE],
  );

async function answer(
  here: Pick<PolicySite, 'reader'>,
  spec: object,
  request: object = {},
): Promise<PolicyResponse> {
  const webhook = webhookOf({ objects: [aPolicy('p', spec), aBinding('p')] });
  return (await answered(webhook, here, aReview(request))).response;
}

const seesProd = { validations: [{ expression: "namespaceObject.metadata.labels['env'] == 'prod'" }] };
const RULE = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['*', '*/*'] };
/** Denies all that it selects. */
const selecting = (labels: Record<string, string>, rules: object = RULE): object => ({
  matchConstraints: { resourceRules: [rules], namespaceSelector: { matchLabels: labels } },
  validations: [{ expression: 'false' }],
});

describe.each<SiteMode>(['cached', 'live'])('the namespace of a request, %s', (mode) => {
  it.each([
    ['allows', 'prod', true],
    ['denies', 'test', false],
  ])('%s by what expressions see of it', async (_verdict, env, allowed) => {
    const here = await site(mode, aNamespace('shop', { env }));
    expect(await answer(here, seesProd)).toMatchObject({ allowed });
    expect(here.calls).toEqual(mode === 'live' ? ['get'] : []);
  });

  it.each([
    ['denies what is selected', 'prod', false],
    ['allows what is not selected', 'test', true],
  ])('%s by its labels', async (_verdict, env, allowed) => {
    expect(await answer(await site(mode, prod), selecting({ env }))).toMatchObject({ allowed });
  });

  it('is there in its last state while it is deleted', async () => {
    const metadata = { ...prod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x.io/a'] };
    const here = await site(mode, { ...prod, metadata, status: { phase: 'Terminating' } });
    const spec = {
      validations: [
        {
          expression: "namespaceObject.status.phase != 'Terminating' || has(object.finalizing)",
          message: 'it is being deleted',
        },
        { expression: 'has(namespaceObject.metadata.deletionTimestamp)' },
      ],
    };
    const { allowed, status } = await answer(here, spec);
    expect([allowed, status?.message.endsWith('denied request: it is being deleted')]).toEqual([false, true]);
  });

  it.each([
    [
      'an expression',
      { validations: [{ expression: 'true' }] },
      404,
      'NotFound',
      'namespaces "shop" not found',
    ],
    [
      'a selector',
      selecting({ env: 'prod' }),
      422,
      'Invalid',
      `ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: namespaces "shop" not found`,
    ],
  ])(
    'that is gone is answered as the API server does, where %s needs it',
    async (_w, spec, code, reason, message) => {
      const webhook = webhookOf({ objects: [aPolicy('p', spec), aBinding('p')] });
      const here = await site(mode, aNamespace('other', {}));
      const { response, line } = await answered(webhook, here, aReview());
      expect(response).toMatchObject({ allowed: false, status: { code, reason, message } });
      expect(line).toMatchObject({
        verdict: 'denied',
        codes: [code === 404 ? 'POLICY_NAMESPACE_GONE' : 'POLICY_NOT_APPLICABLE'],
      });
    },
  );

  it('that is gone does not matter to a policy without rules for the request', async () => {
    const rules = { ...RULE, resources: ['pods'] };
    expect(await answer(await site(mode), selecting({ env: 'prod' }, rules))).toMatchObject({
      allowed: true,
    });
  });

  it('is none for a request about what is in no namespace', async () => {
    const request = {
      namespace: undefined,
      name: 'n1',
      kind: { group: '', version: 'v1', kind: 'Node' },
      resource: { group: '', version: 'v1', resource: 'nodes' },
      object: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
    };
    const here = await site(mode, prod);
    const spec = { ...selecting({ env: 'none' }), validations: [{ expression: 'namespaceObject != null' }] };
    // A selector of namespaces lets it through, and expressions see null.
    const { status } = await answer(here, spec, request);
    expect(status?.message).toContain('failed expression: namespaceObject != null');
    expect(here.calls).toEqual([]);
  });
});

describe('a Namespace that is the object', () => {
  const stored = aNamespace('shop', { env: 'stored' });
  const written = (env: string): KubeObject => aNamespace('shop', { env });
  const request = (operation: string, rest: object): object => ({
    kind: { group: '', version: 'v1', kind: 'Namespace' },
    resource: { group: '', version: 'v1', resource: 'namespaces' },
    name: 'shop',
    namespace: 'shop',
    operation,
    ...rest,
  });

  it.each<[string, object, string]>([
    ['the new labels when it is created', request('CREATE', { object: written('new') }), 'new'],
    [
      'the new labels when it is changed',
      request('UPDATE', { object: written('new'), oldObject: stored }),
      'new',
    ],
    [
      'the stored labels when it is deleted',
      request('DELETE', { object: null, oldObject: written('old') }),
      'stored',
    ],
    [
      'the stored labels for a subresource',
      request('UPDATE', { subResource: 'finalize', object: written('new'), oldObject: written('old') }),
      'stored',
    ],
  ])('is selected by %s', async (_what, asked, env) => {
    for (const mode of ['cached', 'live'] as const) {
      const here = await site(mode, stored);
      for (const label of ['new', 'old', 'stored'])
        expect(await answer(here, selecting({ env: label }), asked)).toMatchObject({
          allowed: label !== env,
        });
    }
  });

  it('is seen as the object, and not as the namespace of the request', async () => {
    const spec = {
      ...selecting({}),
      validations: [{ expression: "namespaceObject == null && object.metadata.labels.env == 'new'" }],
    };
    const here = await site('cached', stored);
    const asked = request('UPDATE', { object: written('new'), oldObject: stored });
    expect(await answer(here, spec, asked)).toEqual({ uid: 'u-1', allowed: true });
  });
});

describe('a namespace that the watch does not have', () => {
  it('is read, whole, and only once in a second while it is absent', async () => {
    const { memory, reflectors } = await site('cached');
    // From now on the watch is behind.
    await Promise.all(reflectors.map((reflector) => reflector.stop()));
    const clock = new FakeClock();
    const calls: string[] = [];
    const report = ({ call, outcome }: LiveCallFacts): void => void calls.push(`${call} ${outcome}`);
    const source = createReader({ mode: 'cached', reflectors, cluster: memory, clock, report });
    const late = { reader: () => source.forRequest() };
    expect(await answer(late, seesProd)).toMatchObject({ status: { code: 404 } });
    expect(await answer(late, seesProd)).toMatchObject({ status: { code: 404 } });
    expect(calls).toEqual(['get answered']);
    memory.load(NAMESPACE, prod);
    await clock.advance(1_000);
    expect(await answer(late, seesProd)).toMatchObject({ allowed: true });
    expect(calls).toEqual(['get answered', 'get answered']);
  });

  it.each([
    ['Fail', false],
    ['Ignore', true],
  ])('and nobody can tell of is answered by the failure policy: %s', async (failurePolicy, allowed) => {
    const source = createReader({
      mode: 'cached',
      reflectors: [],
      cluster: {
        get: () =>
          Promise.reject(new GateError('GATE_CLUSTER_UNREACHABLE', 'cannot read namespaces: no answer')),
        list: () => Promise.reject(new Error('not asked')),
      },
      clock: new FakeClock(),
    });
    for (const spec of [seesProd, selecting({ env: 'prod' })]) {
      const response = await answer({ reader: () => source.forRequest() }, { ...spec, failurePolicy });
      expect(response.allowed).toBe(allowed);
      const said = allowed ? response.warnings?.join() : response.status?.message;
      expect(said).toContain('[GATE_CLUSTER_UNREACHABLE]');
    }
  });
});
