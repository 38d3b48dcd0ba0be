import { describe, expect, it } from 'vitest';
import { GateError } from '../../src/errors.ts';
import { until } from '../support/until.ts';
import {
  bindingObject,
  configMapObject,
  follow,
  followPolicies,
  pair,
  policyObject,
  said,
  yamlOf,
} from './policy-support.ts';

const NOT_SERVED = new GateError(
  'GATE_CLUSTER_UNSUPPORTED',
  'the server could not find the requested resource',
);

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
    expect(followed.policies.facts()).toEqual({ policies: 2, problems: 1 });
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
    const { openPolicySources } = await import('../../src/app/policy-sources.ts');
    const { settingsFor } = await import('./policy-support.ts');
    const { FakeClock } = await import('../support/fake-clock.ts');
    const { silentLog } = await import('../../src/log.ts');
    const parts = { clock: new FakeClock(), log: silentLog(), cluster: undefined };
    await expect(openPolicySources(settingsFor({}), parts)).rejects.toThrow('and there is none');
  });
});

/** A thousand turns take a second on a quiet machine. */
const LONG = { timeout: 60_000 };

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
      'policy or binding without its other half | b',
      'policy not enforced as it is written | b | spec.validations[0].expression does not compile: …',
      'policies changed | 2',
      'policies changed | 3',
    ]);
    expect(followed.policies.facts()).toEqual({ policies: 3, problems: 2 });
  });

  it('of one half of a pair is no fault, as the other may follow, but at the start it is one', async () => {
    const followed = await follow({ sources: ['customResources'] }, [policyObject('a'), bindingObject('c')]);
    await followed.becomes('a', '200 allowed');
    followed.write(policyObject('b'));
    await followed.becomes('b', '200 allowed');
    followed.write(bindingObject('b'), bindingObject('d'));
    await followed.becomes('b', '200 denied b: no');
    expect(said(followed)).toEqual([
      'policy not enforced as it is written | a | has no binding',
      'policy not enforced as it is written | c | there is no policy "c"',
      'policies loaded | 1',
      'policy or binding without its other half | b',
      'policies changed | 2',
      'policy or binding without its other half | d',
      'policies changed | 2',
    ]);
    const levels = followed.lines
      .map((line) => JSON.parse(line) as { message: string; level: string })
      .filter(({ message }) => message === 'policy or binding without its other half')
      .map(({ level }) => level);
    expect(new Set(levels)).toEqual(new Set(['info']));
    expect(followed.policies.facts().problems).toBe(3);
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

  it('a thousand times leaves no more programs than the policies have expressions', LONG, async () => {
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
