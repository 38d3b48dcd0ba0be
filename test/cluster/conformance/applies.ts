import { expect, it } from 'vitest';

import { appliedBy, ownedItems } from '../../../src/cluster/field-sets.ts';
import type { Kind } from '../../../src/cluster/kinds.ts';
import { CONFIG_MAP, VALIDATING_WEBHOOK_CONFIGURATION } from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import type { Fixture } from './fixture.ts';
import { nameOf, plain } from './fixture.ts';

const OURS = { fieldManager: 'conformance' } as const;
const NEVER_A_UID = '00000000-0000-4000-8000-000000000000';

/** An entry that selects nothing that exists. */
function entry(name: string, path: string): object {
  return {
    name: `${name}.conformance.example.com`,
    clientConfig: { url: `https://127.0.0.1:1${path}` },
    rules: [
      {
        apiGroups: ['conformance.example.com'],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['none'],
      },
    ],
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
}

function pathsOf(object: KubeObject | undefined): unknown[] {
  const webhooks = (object?.['webhooks'] ?? []) as { clientConfig: { url: string } }[];
  return webhooks.map(({ clientConfig }) => new URL(clientConfig.url).pathname).toSorted();
}

export function applyTests(fixture: Fixture): void {
  const apply = (
    object: KubeObject,
    manager = OURS.fieldManager as string,
    force = false,
  ): Promise<KubeObject> => fixture.cluster.apply(CONFIG_MAP, object, { fieldManager: manager, force });

  it('creates an object that is not there', async () => {
    const want = fixture.configMap({ labels: { a: 'b' } }, { one: '1' });
    const made = await apply(want);
    expect(made).toMatchObject({ data: { one: '1' }, metadata: { ...nameOf(want), labels: { a: 'b' } } });
    expect(await fixture.cluster.get(CONFIG_MAP, nameOf(want))).toEqual(made);
  });

  it('never creates an object that is to have a uid', async () => {
    const want = fixture.configMap({ uid: NEVER_A_UID }, { one: '1' });
    await expect(apply(want)).rejects.toMatchObject({ code: 'GATE_CLUSTER_CONFLICT' });
    expect(await fixture.cluster.get(CONFIG_MAP, nameOf(want))).toBeUndefined();
  });

  it('refuses to change an object of another uid, or one that has changed since', async () => {
    const made = await fixture.cluster.create(CONFIG_MAP, fixture.configMap({}, { one: '1' }));
    const name = nameOf(made);
    const moved = { ...plain(CONFIG_MAP, { ...name, uid: NEVER_A_UID }), data: { two: '2' } };
    await expect(apply(moved)).rejects.toMatchObject({ code: 'GATE_CLUSTER_INVALID' });
    await fixture.cluster.replace(CONFIG_MAP, { ...made, data: { one: '2' } });
    const { resourceVersion = '' } = made.metadata;
    const late = { ...plain(CONFIG_MAP, { ...name, resourceVersion }), data: { two: '2' } };
    await expect(apply(late)).rejects.toMatchObject({ code: 'GATE_CLUSTER_CONFLICT' });
    expect(await fixture.cluster.get(CONFIG_MAP, name)).toMatchObject({ data: { one: '2' } });
  });

  it('sets what it says, removes what it says no more, and keeps what others have set', async () => {
    const made = await fixture.cluster.create(CONFIG_MAP, fixture.configMap({}, { theirs: '0' }));
    const name = nameOf(made);
    const say = (data: Readonly<Record<string, string>>): Promise<KubeObject> =>
      apply(plain(CONFIG_MAP, name, { data }));
    await say({ one: '1', two: '2' });
    const third = await say({ two: '3', three: '3' });
    expect(third['data']).toEqual({ theirs: '0', two: '3', three: '3' });
    expect(appliedBy(third, OURS.fieldManager)?.['f:data']).toEqual({ 'f:two': {}, 'f:three': {} });
  });

  it('writes nothing where nothing changes', async () => {
    const want = fixture.configMap({}, { one: '1' });
    const made = await apply(want);
    const again = await apply(want);
    expect(again.metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  it('refuses to change what is of another manager, and takes it over where it is told to', async () => {
    const want = fixture.configMap({}, { one: '1', two: '2' });
    await apply(want);
    const other = { ...want, data: { one: '9' } };
    await expect(apply(other, 'another')).rejects.toMatchObject({ code: 'GATE_CLUSTER_CONFLICT' });
    expect((await apply(other, 'another', true))['data']).toEqual({ one: '9', two: '2' });
    // It is not ours any more, so leaving it out does not remove it.
    expect((await apply({ ...want, data: { two: '2' } }))['data']).toEqual({ one: '9', two: '2' });
  });

  it('keeps for whoever applied it what two managers say alike', async () => {
    const want = fixture.configMap({}, { one: '1' });
    await apply(want);
    await apply(want, 'another');
    expect((await apply({ ...want, data: {} }))['data']).toEqual({ one: '1' });
  });

  it('leaves to its writer what was replaced since', async () => {
    const want = fixture.configMap({}, { one: '1' });
    const made = await apply(want);
    await fixture.cluster.replace(CONFIG_MAP, { ...made, data: { one: '2' } });
    await expect(apply(want)).rejects.toMatchObject({ code: 'GATE_CLUSTER_CONFLICT' });
    expect((await apply(want, OURS.fieldManager, true))['data']).toEqual({ one: '1' });
  });

  it('answers a dry run and stores nothing', async () => {
    const want = fixture.configMap({}, { one: '1' });
    const answer = await fixture.cluster.apply(CONFIG_MAP, want, { ...OURS, dryRun: true });
    expect(answer).toMatchObject({ data: { one: '1' } });
    expect(await fixture.cluster.get(CONFIG_MAP, nameOf(want))).toBeUndefined();
  });

  it('knows the entries of a webhook configuration by their names', async () => {
    const kind: Kind = VALIDATING_WEBHOOK_CONFIGURATION;
    const name = fixture.name();
    const want = (...webhooks: object[]): KubeObject => plain(kind, { name }, { webhooks });
    const say = (object: KubeObject, fieldManager: string = OURS.fieldManager): Promise<KubeObject> =>
      fixture.cluster.apply(kind, object, { fieldManager });
    try {
      await say(want(entry('theirs', '/theirs')), 'another');
      await say(want(entry('one', '/1'), entry('two', '/2')));
      const next = await say(want(entry('two', '/2b'), entry('three', '/3')));
      expect(pathsOf(next)).toEqual(['/2b', '/3', '/theirs']);
      expect(ownedItems(appliedBy(next, OURS.fieldManager), 'webhooks')).toEqual(
        expect.arrayContaining(['two.conformance.example.com', 'three.conformance.example.com']),
      );
      expect(pathsOf(await say(want()))).toEqual(['/theirs']);
    } finally {
      await fixture.remove(kind, { name });
    }
  });
}
