/** Parameters of policies: by name and by labels, from watches and live, through the edge. */
import { describe, expect, it } from 'vitest';
import { createReader } from '../../src/cluster/cache.ts';
import { CONFIG_MAP, NAMESPACE, type Kind } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { answered, policySite, type PolicySite, type SiteMode } from './policy-site.ts';
import { aBinding, aPolicy, aReview, shop, webhookOf, type PolicyResponse } from './policy-webhook.ts';

const LIMIT: Kind = { group: 'x.io', version: 'v1', kind: 'Limit', resource: 'limits', namespaced: false };
const IN_RULES = { namespace: 'rules', parameterNotFoundAction: 'Deny' } as const;

function aMap(
  name: string,
  most: string,
  labels: Record<string, string> = {},
  namespace = 'rules',
): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, labels }, data: { most } };
}

const limited = (spec: object = {}): KubeObject =>
  aPolicy('p', {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [
      {
        expression: 'int(object.data.size) <= int(params.data.most)',
        messageExpression: "params.metadata.name + ' allows ' + params.data.most",
      },
    ],
    ...spec,
  });

const selecting = (selector: object, more: object = {}): KubeObject =>
  aBinding('p', { paramRef: { selector, ...IN_RULES, ...more } });

async function answer(
  here: PolicySite,
  objects: readonly KubeObject[],
  request: object = {},
): Promise<PolicyResponse> {
  const webhook = webhookOf({ objects, paramKinds: [CONFIG_MAP, LIMIT] });
  return (await answered(webhook, here, aReview(request))).response;
}

const site = (mode: SiteMode, objects: readonly [Kind, KubeObject][]): Promise<PolicySite> =>
  policySite(mode, objects, [NAMESPACE, CONFIG_MAP, LIMIT]);

const CLUSTER: readonly [Kind, KubeObject][] = [
  [NAMESPACE, shop],
  [CONFIG_MAP, aMap('low', '5', { tier: 'low', team: 'a' })],
  [CONFIG_MAP, aMap('high', '20', { tier: 'high', team: 'a' })],
  [CONFIG_MAP, aMap('own', '3', { tier: 'low' }, 'shop')],
  [CONFIG_MAP, aMap('bare', '1', {}, 'shop')],
];

describe.each<SiteMode>(['cached', 'live'])('parameters, %s', (mode) => {
  it.each<[string, object, string | undefined]>([
    ['allows what each of the selected allows', { matchLabels: { tier: 'high' } }, undefined],
    ['denies what one of them forbids', { matchLabels: { team: 'a' } }, 'low allows 5'],
    ['denies by every object where nothing is selected by', {}, 'low allows 5'],
    [
      'allows what is excluded by an expression',
      { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['low', 'other'] }] },
      undefined,
    ],
    [
      'denies by what an expression selects',
      { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      'low allows 5',
    ],
  ])('%s', async (_verdict, selector, message) => {
    const response = await answer(await site(mode, CLUSTER), [limited(), selecting(selector)]);
    expect(response.allowed).toBe(message === undefined);
    expect(response.status?.message ?? '').toContain(message ?? '');
    expect(response.warnings).toBeUndefined();
  });

  it('are looked for in the namespace of the request where the binding names none', async () => {
    const binding = selecting({ matchLabels: { tier: 'low' } }, { namespace: '' });
    const { status } = await answer(await site(mode, CLUSTER), [limited(), binding]);
    expect(status?.message).toContain('own allows 3');
  });

  it.each([
    ['Deny', false],
    ['Allow', true],
  ])('that are not there: %s', async (parameterNotFoundAction, allowed) => {
    const binding = selecting({ matchLabels: { tier: 'none' } }, { parameterNotFoundAction });
    const response = await answer(await site(mode, CLUSTER), [limited(), binding]);
    expect(response.allowed).toBe(allowed);
    expect(response.status?.message ?? 'no params found').toContain('no params found');
    // That is an answer, and no failure.
    expect(response.auditAnnotations).toBeUndefined();
    expect(response.warnings).toBeUndefined();
  });

  it('of a cluster-scoped kind are exact beyond 2^53', async () => {
    const limit = (name: string, most: bigint): [Kind, KubeObject] => [
      LIMIT,
      { apiVersion: 'x.io/v1', kind: 'Limit', metadata: { name, labels: { a: 'b' } }, spec: { most } },
    ];
    const policy = aPolicy('p', {
      paramKind: { apiVersion: 'x.io/v1', kind: 'Limit' },
      validations: [{ expression: 'params.spec.most == 9007199254740993' }],
    });
    const binding = aBinding('p', {
      paramRef: { selector: { matchLabels: { a: 'b' } }, parameterNotFoundAction: 'Deny' },
    });
    const one = await site(mode, [[NAMESPACE, shop], limit('one', 9_007_199_254_740_993n)]);
    expect(await answer(one, [policy, binding])).toMatchObject({ allowed: true });
    const two = await site(mode, [
      [NAMESPACE, shop],
      limit('one', 9_007_199_254_740_993n),
      limit('two', 9_007_199_254_740_992n),
    ]);
    expect(await answer(two, [policy, binding])).toMatchObject({ allowed: false });
  });

  it('are read for the next request as they are then', async () => {
    const here = await site(mode, CLUSTER);
    const objects = [limited(), selecting({ matchLabels: { tier: 'high' } })];
    expect(await answer(here, objects)).toMatchObject({ allowed: true });
    here.memory.load(CONFIG_MAP, aMap('new', '2', { tier: 'high' }));
    await until('the watch has it', () =>
      here.reflectors.every(
        ({ kind, store }) =>
          kind !== CONFIG_MAP || store.get({ namespace: 'rules', name: 'new' }) !== undefined,
      ),
    );
    expect((await answer(here, objects)).status?.message).toContain('new allows 2');
  });
});

describe('parameters that cannot be told', () => {
  const objects = (failurePolicy: string): readonly KubeObject[] => [
    limited({ failurePolicy }),
    selecting({ matchLabels: { tier: 'high' } }),
  ];

  const sites: [string, () => Promise<PolicySite>, string][] = [
    [
      'more than 500 are selected by one live list',
      () =>
        site('live', [
          ...CLUSTER,
          ...Array.from({ length: 501 }, (_, n): [Kind, KubeObject] => [
            CONFIG_MAP,
            aMap(`m${String(n)}`, '99', { tier: 'high' }),
          ]),
        ]),
      'GATE_TOO_MANY_OBJECTS',
    ],
    [
      'the watch is not complete',
      async () => {
        const here = await site('live', CLUSTER);
        const source = createReader({
          mode: 'cached',
          cluster: here.memory,
          reflectors: [],
          clock: new FakeClock(),
        });
        return { ...here, reader: () => source.forRequest() };
      },
      'GATE_UNSYNCED',
    ],
  ];
  it.each(sites)('fail closed or open as the policy says, aloud: %s', async (_what, make, code) => {
    const here = await make();
    const closed = await answer(here, objects('Fail'));
    expect(closed).toMatchObject({ allowed: false, status: { code: 500, reason: 'InternalError' } });
    expect(closed.status?.message).toContain(code);
    const open = await answer(here, objects('Ignore'));
    expect(open.allowed).toBe(true);
    expect(open.warnings?.join()).toContain(code);
    expect(open.auditAnnotations?.['failed-open']).toContain(code);
  });
});
