import { afterEach, describe, expect, it } from 'vitest';
import { GateError } from '../../src/errors.ts';
import { until } from '../support/until.ts';
import {
  bindingObject,
  configMapObject,
  followPolicies,
  policyObject,
  yamlOf,
  type Followed,
} from './policy-support.ts';

let open: Followed[] = [];
afterEach(async () => {
  await Promise.all(open.map(({ policies }) => policies.close()));
  open = [];
});

async function follow(...args: Parameters<typeof followPolicies>): Promise<Followed> {
  const followed = await followPolicies(...args);
  open.push(followed);
  return followed;
}

/** Messages of the log that are not about watches. */
function said({ lines }: Followed): readonly string[] {
  return lines
    .map(
      (line) =>
        JSON.parse(line) as { message: string; name?: string; count?: number; err?: { message: string } },
    )
    .filter(({ message }) => !message.startsWith('watch'))
    .map(({ message, name, count, err }) =>
      [message, name, count, err?.message].filter((part) => part !== undefined).join(' | '),
    );
}

const NOT_SERVED = new GateError(
  'GATE_CLUSTER_UNSUPPORTED',
  'the server could not find the requested resource',
);
const UNREACHABLE = new GateError('GATE_CLUSTER_UNREACHABLE', 'no answer');
const pair = (name: string, expression = 'false') => [
  policyObject(name, { expression }),
  bindingObject(name),
];

describe('custom resources', () => {
  it('are enforced, and followed when they change and go', async () => {
    const followed = await follow({ sources: ['customResources'] }, pair('a'));
    await followed.becomes('a', '200 denied a: no');
    expect(followed.policies.unsynced()).toBeUndefined();
    followed.write(policyObject('a', { expression: 'true' }));
    await followed.becomes('a', '200 allowed');
    followed.write(...pair('b'));
    await followed.becomes('b', '200 denied b: no');
    followed.remove(policyObject('b'));
    await followed.becomes('b', '503');
    expect(await followed.ask('a')).toBe('200 allowed');
  });

  it('of a policy alone allow until there is a binding', async () => {
    const followed = await follow({ sources: ['customResources'] }, [policyObject('a')]);
    await followed.becomes('a', '200 allowed');
    followed.write(bindingObject('a'));
    await followed.becomes('a', '200 denied a: no');
    followed.remove(bindingObject('a'));
    await followed.becomes('a', '200 allowed');
    expect(followed.policies.facts()).toEqual({ policies: 1, problems: 1 });
  });

  it('are said to be missing where they are not served, once, and taken when they are', async () => {
    let release = (): void => undefined;
    const followed = await follow({ sources: ['customResources'] }, pair('a'), {
      prepare(cluster) {
        release = cluster.refuseCalls(NOT_SERVED, ['list']);
      },
    });
    const missing =
      'validatingadmissionpolicies.gate.pacto.trianalab.io are not served: install their CustomResourceDefinition (manifests/crds)';
    await until('it is said', () => followed.policies.unsynced() === missing);
    expect(await followed.ask('a')).toBe('503');
    expect(followed.policies.sources.incomplete()).toHaveLength(2);
    for (let retry = 0; retry < 5; retry++) await followed.clock.advance(10_000);
    expect(said(followed).filter((line) => line.startsWith('kind not served'))).toHaveLength(2);
    release();
    await followed.clock.advance(10_000);
    await followed.becomes('a', '200 denied a: no');
    expect(followed.policies.unsynced()).toBeUndefined();
    expect(followed.policies.sources.incomplete()).toEqual([]);
  });
});

describe('ConfigMaps', () => {
  const CONFIG_MAPS = { sources: ['configMaps'] } as const;

  it('are enforced by every key that is a manifest, and followed', async () => {
    const followed = await follow(CONFIG_MAPS, [
      configMapObject('m', {
        'a.yaml': yamlOf(...pair('a')),
        'b.yml': yamlOf(policyObject('b', { native: true })),
        'b.json': yamlOf(bindingObject('b', { native: true })),
        README: 'no manifest',
      }),
    ]);
    await followed.becomes('a', '200 denied a: no');
    expect(await followed.ask('b')).toBe('200 denied b: no');
    followed.write(configMapObject('m', { 'a.yaml': yamlOf(...pair('a', 'true')) }));
    await followed.becomes('a', '200 allowed');
    expect(await followed.ask('b')).toBe('503');
    followed.remove(configMapObject('m', {}));
    await followed.becomes('a', '503');
  });

  it('outside the namespaces, or without the label, do nothing', async () => {
    const text = { 'a.yaml': yamlOf(...pair('a')) };
    const followed = await follow(CONFIG_MAPS, [
      configMapObject('elsewhere', text, { namespace: 'shop' }),
      configMapObject('unlabelled', text, { labels: { app: 'shop' } }),
      configMapObject('no', text, { labels: { 'gate.pacto.trianalab.io/policies': 'false' } }),
      configMapObject('m', { 'b.yaml': yamlOf(...pair('b')) }),
    ]);
    await followed.becomes('b', '200 denied b: no');
    expect(await followed.ask('a')).toBe('503');
    expect(followed.policies.facts()).toEqual({ policies: 1, problems: 0 });
  });

  it('of every namespace that is named count, and then not our own', async () => {
    const followed = await follow({ ...CONFIG_MAPS, namespaces: ['one', 'two'] }, [
      configMapObject('m', { 'a.yaml': yamlOf(policyObject('a')) }, { namespace: 'one' }),
      configMapObject('m', { 'a.yaml': yamlOf(bindingObject('a')) }, { namespace: 'two' }),
      configMapObject('m', { 'b.yaml': yamlOf(...pair('b')) }),
    ]);
    await followed.becomes('a', '200 denied a: no');
    expect(await followed.ask('b')).toBe('503');
  });

  it('are refused as a source where no namespace is known', async () => {
    await expect(followPolicies({ ...CONFIG_MAPS, podNamespace: undefined })).rejects.toThrow(
      'policies.sources: configMaps are a source and nothing says in which namespaces',
    );
  });

  const broken: readonly (readonly [string, object, string])[] = [
    ['is no YAML', { 'a.yaml': 'a: [' }, 'key "a.yaml", line 1'],
    ['holds an object that is not whole', { 'a.yaml': '{kind: x}' }, 'apiVersion: a text is needed'],
    [
      'holds an object of another kind',
      { 'a.yaml': '{apiVersion: v1, kind: Pod, metadata: {name: a}}' },
      '"v1 Pod" is neither',
    ],
    [
      'holds a policy of a wrong shape',
      { 'a.yaml': yamlOf(policyObject('a', { spec: { validations: 'none' } })) },
      'json: cannot unmarshal',
    ],
    ['holds something that is no text', { 'a.yaml': 1 }, 'is not a text'],
  ];
  it.each(broken)('keep their last good objects while one %s', async (_title, data, message) => {
    const good = { 'a.yaml': yamlOf(...pair('a')), 'b.yaml': yamlOf(...pair('b')) };
    const followed = await follow(CONFIG_MAPS, [configMapObject('m', good)]);
    await followed.becomes('a', '200 denied a: no');
    followed.write(configMapObject('m', { ...data, 'b.yaml': yamlOf(...pair('b', 'true')) }));
    await followed.becomes('b', '200 allowed');
    expect(await followed.ask('a')).toBe('200 denied a: no');
    expect(followed.policies.sources.incomplete()).toEqual(['ConfigMap "pacto-system/m"']);
    expect(said(followed).filter((line) => line.includes(message))).toHaveLength(1);
    followed.write(configMapObject('m', { 'b.yaml': yamlOf(...pair('b')) }));
    await followed.becomes('a', '503');
    expect(followed.policies.sources.incomplete()).toEqual([]);
  });

  it('with binary data are not whole, and the rest of them counts', async () => {
    const followed = await follow(CONFIG_MAPS, [
      configMapObject(
        'm',
        { 'a.yaml': yamlOf(...pair('a')) },
        {
          binaryData: { 'b.yaml': 'AA==' },
        },
      ),
    ]);
    await followed.becomes('a', '200 denied a: no');
    expect(followed.policies.sources.incomplete()).toEqual(['ConfigMap "pacto-system/m"']);
  });

  it('that are wrong from the beginning hold back nothing else', async () => {
    const followed = await follow(CONFIG_MAPS, [
      configMapObject('m', { 'a.yaml': 'a: [', 'b.yaml': yamlOf(...pair('b')) }),
    ]);
    await followed.becomes('b', '200 denied b: no');
    expect(await followed.ask('a')).toBe('503');
    expect(followed.policies.unsynced()).toBeUndefined();
    expect(followed.policies.sources.incomplete()).toEqual(['ConfigMap "pacto-system/m"']);
  });
});

describe('several sources', () => {
  it('name a policy once, and give its name to the next when the first goes', async () => {
    const followed = await follow({}, [
      ...pair('a'),
      configMapObject('m', { 'a.yaml': yamlOf(policyObject('a', { expression: 'true' })) }),
    ]);
    await followed.becomes('a', '200 denied a: no');
    expect(followed.policies.facts()).toEqual({ policies: 1, problems: 1 });
    followed.remove(policyObject('a'));
    await followed.becomes('a', '200 allowed');
    expect(followed.policies.facts()).toEqual({ policies: 1, problems: 0 });
  });

  it('are enforced together or not at all: nothing is before all are read', async () => {
    let release = (): void => undefined;
    const followed = await follow({ sources: ['customResources'] }, pair('a'), {
      prepare(cluster) {
        release = cluster.holdCalls(['list']);
      },
    });
    expect(await followed.ask('a')).toBe('503');
    expect(followed.policies.unsynced()).toBe(
      'validatingadmissionpolicies.gate.pacto.trianalab.io are not read yet',
    );
    release();
    await followed.becomes('a', '200 denied a: no');
  });

  it('are refused where there is no cluster to read them from', async () => {
    const { openPolicySources } = await import('../../src/app-policy-sources.ts');
    const { settingsFor } = await import('./policy-support.ts');
    const { FakeClock } = await import('../support/fake-clock.ts');
    const { silentLog } = await import('../../src/log.ts');
    const parts = { clock: new FakeClock(), log: silentLog(), cluster: undefined };
    await expect(openPolicySources(settingsFor({}), parts)).rejects.toThrow('and there is none');
  });
});

describe('a change', () => {
  it('is logged in a line, with each new problem in one of its own', async () => {
    const followed = await follow({ sources: ['customResources'] }, pair('a'));
    await followed.becomes('a', '200 denied a: no');
    followed.write(policyObject('b', { expression: 'nonsense' }));
    await followed.becomes('b', '200 allowed');
    followed.write(policyObject('c', { expression: 'true' }), bindingObject('c'));
    await followed.becomes('c', '200 allowed');
    expect(said(followed).map((line) => line.replace(/compilation failed.*/s, '…'))).toEqual([
      'policies loaded | 1',
      'policy not enforced as it is written | b | has no binding',
      'policy not enforced as it is written | b | spec.validations[0].expression does not compile: …',
      'policies changed | 2',
      'policies changed | 3',
    ]);
    expect(followed.policies.facts()).toEqual({ policies: 3, problems: 2 });
  });

  it.each<[string, object, string]>([
    [
      'a reason',
      { validations: [{ expression: 'true', reason: 'Unauthorized' }] },
      'spec.validations[0].reason: Unsupported value: "Unauthorized"',
    ],
    [
      'variables in a match condition',
      {
        variables: [{ name: 'x', expression: 'true' }],
        matchConditions: [{ name: 'm', expression: 'variables.x' }],
      },
      'spec.matchConditions[0].expression: Invalid value: "variables.x": compilation failed: ERROR: <input>:1:1: undeclared reference to \'variables\'',
    ],
    ['a field that it does not know', { validation: [] }, 'unknown field "spec.validation"'],
  ])('to what no API server would take is told: %s', async (_title, spec, message) => {
    const followed = await follow({ sources: ['configMaps'] }, [
      configMapObject('m', { 'a.yaml': yamlOf(policyObject('a', { spec }), bindingObject('a')) }),
    ]);
    await until('it is told', () => followed.policies.facts().problems === 1);
    expect(said(followed)[0]).toContain(`an API server would `);
    expect(said(followed)[0]).toContain(message);
  });

  it('to what the release before would not take is none of these problems', async () => {
    const followed = await follow(
      { sources: ['customResources'] },
      pair('a', '[1, 2].slice(0, 1).size() == 1'),
    );
    await followed.becomes('a', '200 allowed');
    await followed.policies.settled();
    expect(followed.policies.facts()).toEqual({ policies: 1, problems: 0 });
  });

  it('to a binding that no API server would take is told, and enforced as if it were stored', async () => {
    const followed = await follow({ sources: ['configMaps'] }, [
      configMapObject('m', {
        'a.yaml': yamlOf(
          policyObject('a'),
          bindingObject('a', { spec: { validationActions: ['Deny', 'Warn'] } }),
        ),
      }),
    ]);
    await followed.becomes('a', '200 denied a: no');
    await followed.policies.settled();
    expect(said(followed)[0]).toContain('must not contain both Deny and Warn');
  });

  it('of nothing that counts makes no new set', async () => {
    const followed = await follow({ sources: ['customResources'] }, pair('a'));
    await followed.becomes('a', '200 denied a: no');
    const set = followed.policies.set();
    const before = followed.policies.sources.current();
    followed.write({ ...policyObject('a'), status: { enforcedBy: 'Webhook' } });
    await until('it is seen', () => followed.policies.sources.current() !== before);
    await followed.policies.settled();
    expect(followed.policies.set()).toBe(set);
    expect(said(followed)).toEqual(['policies loaded | 1']);
  });

  it('a thousand times leaves no more programs than the policies have expressions', async () => {
    const followed = await follow({ sources: ['customResources'] }, [...pair('a'), ...pair('b')]);
    await followed.becomes('a', '200 denied a: no');
    for (let turn = 0; turn < 1_000; turn++) {
      const before = followed.policies.set();
      followed.write(policyObject('a', { expression: `object.metadata.name == 'n${String(turn)}'` }));
      await until('it is compiled', () => followed.policies.set() !== before);
    }
    expect(followed.policies.set()?.compiler.programs.size).toBe(2);
    expect(followed.policies.facts()).toEqual({ policies: 2, problems: 0 });
  });

  it('that comes with many others is compiled with them', async () => {
    const followed = await follow({ sources: ['customResources'] });
    await until('it is ready', () => followed.policies.unsynced() === undefined);
    for (let index = 0; index < 500; index++) followed.write(...pair(`p${String(index)}`));
    await followed.becomes('p499', '200 denied p499: no');
    expect(said(followed).filter((line) => line.startsWith('policies changed')).length).toBeLessThan(10);
  });
});

describe('a watch that is silent for 150 s', () => {
  it('leaves the answer to the failure policy, until it is heard again', async () => {
    const followed = await follow({ sources: ['customResources'] }, [
      ...pair('a'),
      policyObject('open', { spec: { failurePolicy: 'Ignore' } }),
      bindingObject('open'),
    ]);
    await followed.becomes('a', '200 denied a: no');
    const release = followed.cluster.refuseCalls(UNREACHABLE, ['list', 'watch']);
    followed.cluster.breakWatches();
    await followed.clock.advance(149_000);
    expect(await followed.ask('a')).toBe('200 denied a: no');
    await followed.clock.advance(2_000);
    expect(await followed.ask('a')).toMatch(/^200 denied .*is silent for 1\d\d s/);
    expect(await followed.ask('open')).toMatch(/^200 allowed .*is silent for 1\d\d s/);
    expect(followed.policies.sources.incomplete()).toHaveLength(2);
    expect(followed.policies.unsynced()).toBeUndefined();
    release();
    await followed.clock.advance(10_000);
    await followed.becomes('a', '200 denied a: no');
  });
});

describe('without watches', () => {
  const LIVE = { state: 'live', sources: ['customResources'] } as const;

  it('policies are listed at the start, and again by the first request after 30 s', async () => {
    const followed = await follow(LIVE, pair('a'));
    expect(await followed.ask('a')).toBe('200 denied a: no');
    followed.write(policyObject('a', { expression: 'true' }), ...pair('b'));
    await followed.clock.advance(29_000);
    expect([await followed.ask('a'), await followed.ask('b')]).toEqual(['200 denied a: no', '503']);
    await followed.clock.advance(1_000);
    expect(await followed.ask('b')).toBe('200 denied b: no');
    expect(await followed.ask('a')).toBe('200 allowed');
    expect([followed.cluster.calls('list'), followed.cluster.calls('watch')]).toEqual([4, 0]);
  });

  it('many requests share one list', async () => {
    const followed = await follow(LIVE, pair('a'));
    await followed.clock.advance(30_000);
    const answers = await Promise.all(Array.from({ length: 50 }, () => followed.ask('a')));
    expect(new Set(answers)).toEqual(new Set(['200 denied a: no']));
    expect(followed.cluster.calls('list')).toBe(4);
  });

  it('a list that fails leaves the last one in force for 150 s, and the failure policy decides then', async () => {
    const followed = await follow(LIVE, pair('a'));
    const release = followed.cluster.refuseCalls(UNREACHABLE, ['list']);
    await followed.clock.advance(100_000);
    expect(await followed.ask('a')).toBe('200 denied a: no');
    await followed.clock.advance(50_000);
    expect(await followed.ask('a')).toMatch(/^200 denied .*the last list of them is 150 s old/);
    expect(said(followed).filter((line) => line.startsWith('policies not listed'))).toHaveLength(1);
    release();
    await followed.clock.advance(1_000);
    expect(await followed.ask('a')).toBe('200 denied a: no');
  });

  it('a list that failed is not tried again for a second', async () => {
    const followed = await follow(LIVE, pair('a'));
    followed.cluster.refuseCalls(UNREACHABLE, ['list']);
    await followed.clock.advance(30_000);
    for (let ask = 0; ask < 20; ask++) await followed.ask('a');
    expect(followed.cluster.calls('list')).toBe(3);
  });

  it('a list that hangs ends within the deadline', async () => {
    const followed = await follow(LIVE, pair('a'));
    await followed.clock.advance(30_000);
    const release = followed.cluster.holdCalls(['list']);
    const answer = followed.ask('a');
    await followed.clock.advance(5_000);
    expect(await answer).toBe('200 denied a: no');
    release();
  });

  it('more than one list may bring is a failure', async () => {
    const followed = await follow(LIVE, pair('a'));
    for (let index = 0; index < 500; index++) followed.write(policyObject(`p${String(index)}`));
    await followed.clock.advance(30_000);
    expect(await followed.ask('a')).toMatch(/^200 denied .*more than 500 validatingadmissionpolicies/);
  });

  it('the probe keeps trying until there is a first list', async () => {
    let release = (): void => undefined;
    const followed = await follow(LIVE, pair('a'), {
      prepare(cluster) {
        release = cluster.refuseCalls(UNREACHABLE, ['list']);
      },
    });
    expect(await followed.ask('a')).toBe('503');
    release();
    await followed.clock.advance(1_000);
    expect(followed.policies.unsynced()).toBe(
      'validatingadmissionpolicies.gate.pacto.trianalab.io are not read yet',
    );
    await until('it is ready', () => followed.policies.unsynced() === undefined);
    expect(await followed.ask('a')).toBe('200 denied a: no');
  });
});
