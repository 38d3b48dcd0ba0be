import { expect, it } from 'vitest';

import type { Cluster } from '../../../src/cluster/cluster.ts';
import { CONFIG_MAP, LEASE, NODE } from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { GateError } from '../../../src/errors.ts';
import type { Fixture } from './fixture.ts';
import { heldBy, labelled, nameOf, plain } from './fixture.ts';

const NEVER_A_UID = '00000000-0000-4000-8000-000000000000';

/** A write at once with a controller's would lose by its resourceVersion: read again, write again, five times. */
async function rewrite(
  cluster: Cluster,
  object: KubeObject,
  write: (current: KubeObject) => Promise<KubeObject>,
): Promise<KubeObject> {
  for (let attempt = 1; ; attempt++) {
    const current = await cluster.get(NODE, nameOf(object));
    try {
      return await write(current ?? object);
    } catch (error) {
      if (attempt === 5 || !(error instanceof GateError) || error.code !== 'GATE_CLUSTER_CONFLICT')
        throw error;
    }
  }
}

export function createTests(fixture: Fixture): void {
  it('fills in uid, resourceVersion and creationTimestamp', async () => {
    const want = fixture.lease({
      uid: NEVER_A_UID,
      creationTimestamp: '2001-01-01T00:00:00Z',
      labels: { a: 'b' },
    });
    const made = await fixture.cluster.create(LEASE, want);
    expect(made).toMatchObject({ apiVersion: want.apiVersion, kind: 'Lease', spec: want['spec'] });
    expect(made.metadata).toMatchObject({ ...nameOf(want), labels: { a: 'b' } });
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.metadata.uid).not.toBe(NEVER_A_UID);
    expect(made.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(made.metadata.creationTimestamp).not.toBe('2001-01-01T00:00:00Z');
  });

  it('refuses a name that is taken', async () => {
    const made = await fixture.newLease();
    const answer = fixture.cluster.create(LEASE, fixture.lease(nameOf(made), 'second'));
    await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_EXISTS' });
    expect(await fixture.cluster.get(LEASE, nameOf(made))).toEqual(made);
  });

  it('makes up a name from generateName', async () => {
    const generateName = `${fixture.name()}-`;
    const [one, two] = [await fixture.newLease({ generateName }), await fixture.newLease({ generateName })];
    for (const { metadata } of [one, two]) {
      expect(metadata.name?.startsWith(generateName)).toBe(true);
      expect(metadata.name?.slice(generateName.length)).toMatch(/^[a-z0-9]{5}$/);
    }
    expect(one.metadata.name).not.toBe(two.metadata.name);
  });

  it.each(['Upper', 'with_underscore', 'a/b', '.', 'a..b', 'x'.repeat(254)])(
    'refuses the name %s',
    async (name) => {
      const answer = fixture.cluster.create(CONFIG_MAP, fixture.configMap({ name }));
      await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_INVALID' });
    },
  );

  it('refuses an object without any name', async () => {
    const nameless = plain(LEASE, { namespace: fixture.namespace }, { spec: {} });
    const answer = fixture.cluster.create(LEASE, nameless);
    await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_INVALID' });
  });

  it('answers a dry run and stores nothing', async () => {
    const want = fixture.lease();
    const made = await fixture.cluster.create(LEASE, want, { dryRun: true });
    expect(made).toMatchObject({ kind: 'Lease', spec: want['spec'] });
    expect(await fixture.cluster.get(LEASE, nameOf(want))).toBeUndefined();
    const taken = fixture.cluster.create(LEASE, fixture.lease(nameOf(await fixture.newLease())), {
      dryRun: true,
    });
    await expect(taken).rejects.toMatchObject({ code: 'GATE_CLUSTER_EXISTS' });
  });
}

export function replaceTests(fixture: Fixture): void {
  it('writes the object and moves its resourceVersion on', async () => {
    const made = await fixture.newLease({ labels: { app: 'web' } });
    const next = await fixture.cluster.replace(LEASE, labelled(heldBy(made, 'second'), { app: 'api' }));
    expect(next).toMatchObject({ spec: { holderIdentity: 'second' }, metadata: { labels: { app: 'api' } } });
    expect(BigInt(next.metadata.resourceVersion ?? '')).toBeGreaterThan(
      BigInt(made.metadata.resourceVersion ?? ''),
    );
    expect(next.metadata.uid).toBe(made.metadata.uid);
    expect(next.metadata.creationTimestamp).toBe(made.metadata.creationTimestamp);
    expect(await fixture.cluster.get(LEASE, nameOf(made))).toEqual(next);
  });

  it('drops what the new object leaves out', async () => {
    const made = await fixture.cluster.create(
      CONFIG_MAP,
      fixture.configMap({ labels: { a: 'b' } }, { a: '1', b: '2' }),
    );
    const { namespace, resourceVersion } = made.metadata;
    const name = made.metadata.name ?? '';
    const bare = plain(
      CONFIG_MAP,
      { name, namespace: namespace ?? '', resourceVersion: resourceVersion ?? '' },
      {
        data: { b: '2' },
      },
    );
    const next = await fixture.cluster.replace(CONFIG_MAP, bare);
    expect(next['data']).toEqual({ b: '2' });
    expect(next.metadata.labels).toBeUndefined();
    expect(next.metadata.uid).toBe(made.metadata.uid);
  });

  it('refuses a resourceVersion that the object has left behind', async () => {
    const made = await fixture.newLease();
    const next = await fixture.cluster.replace(LEASE, heldBy(made, 'second'));
    const answer = fixture.cluster.replace(LEASE, heldBy(made, 'third'));
    await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_CONFLICT' });
    expect(await fixture.cluster.get(LEASE, nameOf(made))).toEqual(next);
  });

  it('refuses an object of the name but of another uid', async () => {
    const made = await fixture.newLease();
    const other = { ...heldBy(made, 'second'), metadata: { ...made.metadata, uid: NEVER_A_UID } };
    const answer = fixture.cluster.replace(LEASE, other);
    await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_CONFLICT' });
  });

  it('writes without a resourceVersion where the kind allows it', async () => {
    const made = await fixture.cluster.create(CONFIG_MAP, fixture.configMap({}, { a: '1' }));
    const next = await fixture.cluster.replace(CONFIG_MAP, fixture.configMap(nameOf(made), { a: '2' }));
    expect(next['data']).toEqual({ a: '2' });
    const lease = await fixture.newLease();
    const answer = fixture.cluster.replace(LEASE, fixture.lease(nameOf(lease), 'second'));
    await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_INVALID' });
  });

  it('refuses an object that is not there, but creates a Lease', async () => {
    const absent = fixture.configMap({}, { a: '1' });
    const answer = fixture.cluster.replace(CONFIG_MAP, absent);
    await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_NOT_FOUND' });
    const lease = fixture.lease();
    const made = await fixture.cluster.replace(LEASE, lease);
    expect(await fixture.cluster.get(LEASE, nameOf(lease))).toEqual(made);
  });

  it('keeps the resourceVersion where nothing changes', async () => {
    const made = await fixture.newLease();
    const again = await fixture.cluster.replace(LEASE, made);
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  it('keeps the status', async () => {
    const node = await fixture.newNode();
    const phase = { conditions: [{ type: 'Conformance', status: 'True' }] };
    await rewrite(fixture.cluster, node, (now) =>
      fixture.cluster.replaceStatus(NODE, { ...now, status: phase }),
    );
    const next = await rewrite(fixture.cluster, node, (now) =>
      fixture.cluster.replace(NODE, { ...labelled(now, { app: 'web' }), status: { conditions: [] } }),
    );
    expect(next).toMatchObject({ metadata: { labels: { app: 'web' } }, status: phase });
  });

  it('answers a dry run and stores nothing', async () => {
    const made = await fixture.newLease();
    const next = await fixture.cluster.replace(LEASE, heldBy(made, 'second'), { dryRun: true });
    expect(next['spec']).toMatchObject({ holderIdentity: 'second' });
    expect(await fixture.cluster.get(LEASE, nameOf(made))).toEqual(made);
  });
}

export function replaceStatusTests(fixture: Fixture): void {
  const status = { conditions: [{ type: 'Conformance', status: 'True' }] };

  it('changes status and nothing else of what was wanted', async () => {
    const node = await fixture.newNode();
    const next = await rewrite(fixture.cluster, node, (now) =>
      fixture.cluster.replaceStatus(NODE, { ...now, spec: { unschedulable: false }, status }),
    );
    expect(next).toMatchObject({ spec: { unschedulable: true }, status });
    expect(next.metadata.resourceVersion).not.toBe(node.metadata.resourceVersion);
    expect(await fixture.cluster.get(NODE, nameOf(node))).toMatchObject({
      spec: { unschedulable: true },
      status,
    });
  });

  it('refuses a resourceVersion that the object has left behind', async () => {
    const node = await fixture.newNode();
    await rewrite(fixture.cluster, node, (now) =>
      fixture.cluster.replace(NODE, labelled(now, { app: 'web' })),
    );
    const answer = fixture.cluster.replaceStatus(NODE, { ...node, status });
    await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_CONFLICT' });
  });

  it('refuses an object that is not there', async () => {
    const answer = fixture.cluster.replaceStatus(NODE, plain(NODE, { name: fixture.name() }, { status }));
    await expect(answer).rejects.toMatchObject({ code: 'GATE_CLUSTER_NOT_FOUND' });
  });

  it('answers a dry run and stores nothing', async () => {
    const node = await fixture.newNode();
    const next = await rewrite(fixture.cluster, node, (now) =>
      fixture.cluster.replaceStatus(NODE, { ...now, status }, { dryRun: true }),
    );
    expect(next).toMatchObject({ status });
    const types = ((await fixture.cluster.get(NODE, nameOf(node)))?.['status'] ?? {}) as typeof status;
    expect((types.conditions ?? []).map(({ type }) => type)).not.toContain('Conformance');
  });
}

export function deleteTests(fixture: Fixture): void {
  it('removes the object', async () => {
    const made = await fixture.newLease();
    await fixture.cluster.delete(LEASE, nameOf(made));
    expect(await fixture.cluster.get(LEASE, nameOf(made))).toBeUndefined();
  });

  it('refuses an object that is not there', async () => {
    const name = { namespace: fixture.namespace, name: fixture.name() };
    await expect(fixture.cluster.delete(LEASE, name)).rejects.toMatchObject({
      code: 'GATE_CLUSTER_NOT_FOUND',
    });
    const node = fixture.cluster.delete(NODE, { name: fixture.name() });
    await expect(node).rejects.toMatchObject({ code: 'GATE_CLUSTER_NOT_FOUND' });
  });

  it('removes only the very object that was meant', async () => {
    const made = await fixture.newLease();
    const other = fixture.cluster.delete(LEASE, nameOf(made), { uid: NEVER_A_UID });
    await expect(other).rejects.toMatchObject({ code: 'GATE_CLUSTER_CONFLICT' });
    expect(await fixture.cluster.get(LEASE, nameOf(made))).toEqual(made);
    await fixture.cluster.delete(LEASE, nameOf(made), { uid: made.metadata.uid ?? '' });
    expect(await fixture.cluster.get(LEASE, nameOf(made))).toBeUndefined();
  });

  it('gives a name that is used again another uid', async () => {
    const made = await fixture.newLease();
    await fixture.cluster.delete(LEASE, nameOf(made));
    const again = await fixture.newLease(nameOf(made));
    expect(again.metadata.uid).not.toBe(made.metadata.uid);
  });

  it('removes nothing in a dry run', async () => {
    const made = await fixture.newLease();
    await fixture.cluster.delete(LEASE, nameOf(made), { dryRun: true });
    expect(await fixture.cluster.get(LEASE, nameOf(made))).toEqual(made);
  });

  it('waits for finalizers: marked first, removed with the last of them', async () => {
    const made = await fixture.newLease({ finalizers: ['conformance.example/hold'] });
    await fixture.cluster.delete(LEASE, nameOf(made));
    const marked = await fixture.cluster.get(LEASE, nameOf(made));
    expect(marked?.metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(marked?.metadata.uid).toBe(made.metadata.uid);
    if (marked === undefined) return;
    await fixture.cluster.replace(LEASE, { ...marked, metadata: { ...marked.metadata, finalizers: [] } });
    expect(await fixture.cluster.get(LEASE, nameOf(made))).toBeUndefined();
  });
}
