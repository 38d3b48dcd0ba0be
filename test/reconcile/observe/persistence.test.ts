import { describe, expect, it } from 'vitest';
import type { Kind } from '../../../src/cluster/kinds.ts';
import * as kinds from '../../../src/cluster/kinds.ts';
import { observePersistence } from '../../../src/reconcile/observe/persistence.ts';
import { anObject } from '../../support/builders.ts';
import { gist, look, NAMESPACE, type Scene } from './survey.ts';

const CLAIM = { name: 'c', persistentVolumeClaim: { claimName: 'c' } };
const EPHEMERAL = ['emptyDir', 'projected', 'configMap', 'secret', 'downwardAPI'].map((source) => ({
  name: source,
  [source]: {},
}));
const AMBIGUOUS = ['hostPath', 'csi', 'nfs', 'ephemeral', 'iscsi', 'image'].map((source) => ({
  name: source,
  [source]: {},
}));
const DURABLE = [{ durable: true }];
const GONE = [{ durable: false }];
const UNKNOWN = ['Insufficient'];

interface Options {
  readonly kind?: Kind;
  readonly spec?: object;
  readonly durability?: string;
  readonly name?: string;
}

function scene(
  volumes: unknown,
  { kind = kinds.DEPLOYMENT, spec = {}, durability = 'persistent', name = 'web' }: Options = {},
): Scene {
  const template = { spec: { volumes } };
  return {
    contract: { state: { type: 'stateful', persistence: { scope: 'local', durability } } as never },
    target: { workload: { kind, name, explicit: true } },
    objects: [
      anObject(
        kind,
        { name: 'web', namespace: NAMESPACE },
        {
          spec: kind === kinds.CRON_JOB ? { jobTemplate: { spec: { template } } } : { template, ...spec },
        },
      ),
    ],
  };
}

const TEMPLATES = { kind: kinds.STATEFUL_SET, spec: { volumeClaimTemplates: [{ metadata: { name: 'c' } }] } };

describe('persistence (operator.md §5.9)', () => {
  it.each<[string, Scene, readonly unknown[]]>([
    ['a claim: durable', scene([CLAIM]), DURABLE],
    ['a claim beside all others: durable', scene([...EPHEMERAL, ...AMBIGUOUS, CLAIM]), DURABLE],
    ['a claim of a Job: durable', scene([CLAIM], { kind: kinds.JOB }), DURABLE],
    ['a claim of a CronJob: durable', scene([CLAIM], { kind: kinds.CRON_JOB }), DURABLE],
    ['a claim template: durable', scene([], TEMPLATES), DURABLE],
    ['a claim template beside a path of the node: durable', scene(AMBIGUOUS, TEMPLATES), DURABLE],
    ['no volume: not durable', scene([]), GONE],
    ['no list of volumes: not durable', scene(undefined), GONE],
    ['a StatefulSet without templates: not durable', scene([], { kind: kinds.STATEFUL_SET }), GONE],
    ['all that end with their Pod: not durable', scene(EPHEMERAL), GONE],
    ['a volume that says nothing: not durable', scene([{ name: 'v' }]), GONE],
    ...EPHEMERAL.map((volume): [string, Scene, readonly unknown[]] => [
      `${volume.name}: not durable`,
      scene([volume]),
      GONE,
    ]),
    ...AMBIGUOUS.map((volume): [string, Scene, readonly unknown[]] => [
      `${volume.name}, and one that ends with its Pod: Insufficient`,
      scene([{ name: 'e', emptyDir: {} }, volume]),
      UNKNOWN,
    ]),
    ['nonsense for volumes: not durable', scene({ a: 1 }), GONE],
    ['not declared persistent: nothing', scene([CLAIM], { durability: 'ephemeral' }), []],
    ['no state at all: nothing', { ...scene([CLAIM]), contract: {} }, []],
    ['no workload: nothing', { ...scene([CLAIM]), objects: [] }, []],
    ['a workload without a name: nothing', scene([CLAIM], { name: '' }), []],
    [
      'a workload that cannot be read: Failed',
      { ...scene([CLAIM]), forbidden: [kinds.DEPLOYMENT] },
      ['Failed'],
    ],
  ])('%s', async (_what, given, wanted) => {
    expect(gist((await look(observePersistence, given)).observations)).toEqual(wanted);
  });
});
