import { beforeAll, expect, it } from 'vitest';

import type { Page } from '../../../src/cluster/cluster.ts';
import { LEASE, NODE, POD, SERVICE_ACCOUNT } from '../../../src/cluster/kinds.ts';
import type { Fixture } from './fixture.ts';
import { nameOf, namesOf, plain } from './fixture.ts';

export function getTests(fixture: Fixture): void {
  it('returns what was created, with its apiVersion and kind', async () => {
    const made = await fixture.newLease({ labels: { app: 'web' } });
    const got = await fixture.cluster.get(LEASE, nameOf(made));
    expect(got).toEqual(made);
    expect(got).toMatchObject({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' });
  });

  it.each([
    ['an object', LEASE, 'main'],
    ['a namespace and with it an object', LEASE, 'nowhere'],
    ['an object of a cluster-scoped kind', NODE, undefined],
  ] as const)('returns undefined for the lack of %s', async (_lack, kind, end) => {
    const { prefix } = fixture.target;
    const where = end === undefined ? {} : { namespace: `${prefix}-${end}` };
    expect(await fixture.cluster.get(kind, { ...where, name: `${prefix}-absent` })).toBeUndefined();
  });

  it.each(['', '.', '..', 'a/b', 'a%2fb', 'a\nb', 'x'.repeat(300)])(
    'returns undefined for %j, which no object can be called',
    async (name) => {
      expect(await fixture.cluster.get(LEASE, { namespace: fixture.namespace, name })).toBeUndefined();
      expect(await fixture.cluster.get(NODE, { name })).toBeUndefined();
    },
  );

  it('returns undefined for a namespace that does not fit the kind', async () => {
    const node = nameOf(await fixture.newNode());
    expect(await fixture.cluster.get(NODE, { ...node, namespace: fixture.namespace })).toBeUndefined();
    expect(await fixture.cluster.get(LEASE, { name: nameOf(await fixture.newLease()).name })).toBeUndefined();
  });

  it('returns the same where every number is asked for exactly', async () => {
    const made = await fixture.newLease({ labels: { app: 'web' } });
    const options = { exact: true, namespace: fixture.namespace };
    expect(await fixture.cluster.get(LEASE, nameOf(made), options)).toEqual(made);
    expect((await fixture.cluster.list(LEASE, options)).items).toContainEqual(made);
  });

  it('returns whole metadata when metadata alone is asked for', async () => {
    const made = await fixture.newLease({ labels: { app: 'web' }, annotations: { note: 'a' } });
    const got = await fixture.cluster.get(LEASE, nameOf(made), { metadataOnly: true });
    const { name, uid, resourceVersion, creationTimestamp, labels, annotations } = made.metadata;
    expect(got?.metadata).toMatchObject({
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      labels,
      annotations,
    });
  });

  it('cannot be changed through what it returned', async () => {
    const made = await fixture.newLease({ labels: { app: 'web' } });
    const got = await fixture.cluster.get(LEASE, nameOf(made));
    try {
      Object.assign(got?.metadata.labels ?? {}, { app: 'changed' });
    } catch {
      // Frozen: as good as a copy.
    }
    expect((await fixture.cluster.get(LEASE, nameOf(made)))?.metadata.labels).toEqual({ app: 'web' });
  });

  it("rejects with the signal's own reason", async () => {
    const { cluster } = fixture;
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    const name = { namespace: fixture.namespace, name: fixture.name() };
    await expect(cluster.get(LEASE, name, { signal })).rejects.toBe(reason);
    await expect(cluster.list(LEASE, { signal })).rejects.toBe(reason);
    await expect(cluster.create(LEASE, fixture.lease(name), { signal })).rejects.toBe(reason);
    await expect(cluster.delete(LEASE, name, { signal })).rejects.toBe(reason);
    await expect(cluster.serverVersion({ signal })).rejects.toBe(reason);
    expect(await cluster.get(LEASE, name)).toBeUndefined();
  });
}

export function listTests(fixture: Fixture): void {
  let one: string;
  let two: string;
  let nowhere: string;

  beforeAll(async () => {
    one = await fixture.newNamespace('list-one');
    two = await fixture.newNamespace('list-two');
    nowhere = `${fixture.target.prefix}-nowhere`;
    for (const name of ['b', 'a', 'c']) await fixture.newLease({ namespace: one, name });
    await fixture.newLease({ namespace: two, name: 'a' });
  });

  it('returns the objects of one namespace by name, with their apiVersion and kind', async () => {
    const { items } = await fixture.cluster.list(LEASE, { namespace: one });
    expect(namesOf(items)).toEqual(['a', 'b', 'c']);
    expect(items[0]).toEqual(await fixture.cluster.get(LEASE, { namespace: one, name: 'a' }));
    expect(items[0]).toMatchObject({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' });
  });

  it('returns the objects of all namespaces where none is named', async () => {
    const { items } = await fixture.cluster.list(LEASE);
    const ours = items.filter(({ metadata }) => metadata.namespace === one || metadata.namespace === two);
    expect(ours.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      `${one}/a`,
      `${one}/b`,
      `${one}/c`,
      `${two}/a`,
    ]);
  });

  it('returns nothing, with a version, for a namespace that is not there', async () => {
    const page = await fixture.cluster.list(LEASE, { namespace: nowhere });
    expect(page.items).toEqual([]);
    expect(page.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(page.continueToken).toBeUndefined();
  });

  it('returns cluster-scoped objects', async () => {
    const node = await fixture.newNode();
    expect(namesOf((await fixture.cluster.list(NODE)).items)).toContain(node.metadata.name);
  });

  it('returns whole metadata when metadata alone is asked for', async () => {
    const { items } = await fixture.cluster.list(LEASE, { namespace: two, metadataOnly: true });
    const whole = await fixture.cluster.get(LEASE, { namespace: two, name: 'a' });
    const { name, namespace, uid, resourceVersion } = whole?.metadata ?? {};
    expect(items).toHaveLength(1);
    expect(items[0]?.metadata).toMatchObject({ name, namespace, uid, resourceVersion });
  });
}

export function selectorTests(fixture: Fixture): void {
  let namespace: string;

  beforeAll(async () => {
    namespace = await fixture.newNamespace('select');
    const labels = { a: { app: 'web', tier: '1' }, b: { app: 'api' }, c: { app: 'web', empty: '' }, d: {} };
    for (const [name, of] of Object.entries(labels)) await fixture.newLease({ namespace, name, labels: of });
  });

  it.each([
    ['app=web', 'a c'],
    ['app==web', 'a c'],
    ['app!=web', 'b d'],
    ['app', 'a b c'],
    ['!app', 'd'],
    ['app in (web,api)', 'a b c'],
    ['app in (api)', 'b'],
    ['app notin (web)', 'b d'],
    ['app notin (web,api)', 'd'],
    ['app=web,tier', 'a'],
    ['app = web , !tier', 'c'],
    ['empty=', 'c'],
    ['empty in (,x)', 'c'],
    ['empty in (x,)', 'c'],
    ['empty notin (,x)', 'a b d'],
    ['tier>0', 'a'],
    ['tier<1', ''],
    ['app=Web', ''],
    ['', 'a b c d'],
  ])('selects by the labels %s', async (labelSelector, want) => {
    const { items } = await fixture.cluster.list(LEASE, { namespace, labelSelector });
    expect(namesOf(items).join(' ')).toBe(want);
  });

  it.each(['app in', 'app in (', '=web', 'app=web,', 'a b', 'app=(x)', '!', 'tier>x'])(
    'refuses the label selector %s',
    async (labelSelector) => {
      const answer = fixture.cluster.list(LEASE, { namespace, labelSelector });
      await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_INVALID' });
    },
  );

  it('selects by name and by namespace', async () => {
    const fieldsOf = async (fieldSelector: string): Promise<string> =>
      namesOf((await fixture.cluster.list(LEASE, { fieldSelector })).items).join(' ');
    expect(await fieldsOf(`metadata.namespace=${namespace}`)).toBe('a b c d');
    expect(await fieldsOf(`metadata.namespace=${namespace},metadata.name=b`)).toBe('b');
    expect(await fieldsOf(`metadata.namespace==${namespace},metadata.name!=b`)).toBe('a c d');
  });

  it('selects Pods by their node', async () => {
    await fixture.cluster.create(SERVICE_ACCOUNT, plain(SERVICE_ACCOUNT, { namespace, name: 'runner' }));
    const spec = {
      serviceAccountName: 'runner',
      automountServiceAccountToken: false,
      // No scheduler answers to this name, so the Pod stays without a node.
      schedulerName: 'nobody',
      containers: [{ name: 'main', image: 'registry.invalid/none' }],
    };
    await fixture.cluster.create(POD, plain(POD, { namespace, name: 'waiting' }, { spec }));
    const podsOf = async (fieldSelector: string): Promise<string> =>
      namesOf((await fixture.cluster.list(POD, { namespace, fieldSelector })).items).join(' ');
    expect(await podsOf('spec.nodeName=')).toBe('waiting');
    expect(await podsOf('spec.nodeName=node-a')).toBe('');
    expect(await podsOf('spec.nodeName!=node-a')).toBe('waiting');
    expect(await podsOf('spec.serviceAccountName=runner')).toBe('waiting');
  });

  it.each(['spec.holderIdentity=first', 'metadata.labels=x', 'metadata.name'])(
    'refuses the field selector %s',
    async (fieldSelector) => {
      const answer = fixture.cluster.list(LEASE, { namespace, fieldSelector });
      await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_INVALID' });
    },
  );
}

export function pageTests(fixture: Fixture): void {
  const all = ['a', 'b', 'c', 'd', 'e'];

  async function fresh(end: string): Promise<string> {
    const namespace = await fixture.newNamespace(end);
    for (const name of all) await fixture.newLease({ namespace, name });
    return namespace;
  }

  /** The pages from `first` on. */
  async function rest(namespace: string, first: Page, limit: number): Promise<Page[]> {
    const pages = [first];
    for (let page = first; page.continueToken !== undefined;) {
      page = await fixture.cluster.list(LEASE, { namespace, limit, continueToken: page.continueToken });
      pages.push(page);
    }
    return pages;
  }

  it('returns everything in one page where no size is asked for', async () => {
    const namespace = await fresh('pages-one');
    const page = await fixture.cluster.list(LEASE, { namespace });
    expect([namesOf(page.items), page.continueToken]).toEqual([all, undefined]);
  });

  it('returns each object once, and no token on the last page', async () => {
    const namespace = await fresh('pages-two');
    const pages = await rest(namespace, await fixture.cluster.list(LEASE, { namespace, limit: 2 }), 2);
    expect(pages.map(({ items }) => namesOf(items))).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('shows on every page the cluster as it was at the first', async () => {
    const namespace = await fresh('pages-three');
    const first = await fixture.cluster.list(LEASE, { namespace, limit: 2 });
    await fixture.newLease({ namespace, name: 'bb' });
    await fixture.cluster.delete(LEASE, { namespace, name: 'd' });
    const pages = await rest(namespace, first, 2);
    expect(pages.flatMap(({ items }) => namesOf(items))).toEqual(all);
    expect(new Set(pages.map(({ resourceVersion }) => resourceVersion)).size).toBe(1);
    expect(namesOf((await fixture.cluster.list(LEASE, { namespace })).items)).toEqual([
      'a',
      'b',
      'bb',
      'c',
      'e',
    ]);
  });

  it('refuses a token that no list returned', async () => {
    const answer = fixture.cluster.list(LEASE, { limit: 2, continueToken: 'not-a-token' });
    await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_INVALID' });
  });

  it('says that a token is too old', async (context) => {
    const forgetHistory =
      fixture.target.forgetHistory ?? context.skip('this target cannot forget its history');
    const namespace = await fresh('pages-four');
    const { continueToken = '' } = await fixture.cluster.list(LEASE, { namespace, limit: 2 });
    await fixture.newLease({ namespace, name: 'f' });
    await forgetHistory();
    const answer = fixture.cluster.list(LEASE, { namespace, limit: 2, continueToken });
    await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_GONE' });
  });
}
