import type { Kind } from '../../../src/cluster/kinds.ts';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { observeConfigurations } from '../../../src/reconcile/observe/configurations.ts';
import { observePersistence } from '../../../src/reconcile/observe/persistence.ts';
import { observeWorkload } from '../../../src/reconcile/observe/workload.ts';
import type { ConfigBinding } from '../../../src/reconcile/target.ts';
import { Checker } from '../../../src/schema/checker.ts';
import { anObject } from '../../support/builders.ts';
import { NAMESPACE, type Scene } from '../observe/survey.ts';
import type { DecisionTable } from './decision.ts';

const SCHEMA = JSON.stringify({ type: 'object', properties: { PORT: { type: 'integer' } } });
const checker = new Checker();
const BOUND: ConfigBinding = { kind: 'ConfigMap', name: 'app', key: 'k', format: 'yaml' };
const IN_SECRET: ConfigBinding = { kind: 'Secret', name: 'app' };
const SECRET = anObject(kinds.SECRET, { name: 'app', namespace: NAMESPACE }, {});

function configMap(content: string): KubeObject {
  return anObject(kinds.CONFIG_MAP, { name: 'app', namespace: NAMESPACE }, { data: { k: content } });
}

const GOOD = configMap('PORT: 80\n');

interface Configured extends Scene {
  /** Null: it is not bound. */
  readonly binding?: ConfigBinding | null;
  readonly configuration?: object;
}

function configuration(
  objects: readonly KubeObject[],
  { binding = BOUND, configuration: declared, ...more }: Configured = {},
): Scene {
  return {
    contract: { configurations: [{ name: 'app', required: true, schema: 'app.json', ...declared }] },
    target: { configurations: new Map(binding === null ? [] : [['app', binding]]) },
    files: new Map([['app.json', Buffer.from(SCHEMA)]]),
    schemas: {
      compile: (text) => Promise.resolve(checker.check(text, undefined, () => undefined)),
      validate: (text, instance) => Promise.resolve(checker.check(text, [instance], () => undefined)),
    },
    objects,
    ...more,
  };
}

const { files: _files, ...INLINE } = configuration([GOOD]);

export const CONFIGURATIONS: DecisionTable = {
  heading: 'Configurations',
  dimension: observeConfigurations,
  kind: 'ConfigurationPresent',
  streak: 'configuration/app',
  scenes: {
    'no binding': configuration([GOOD], { binding: null }),
    'no binding, `required: false`': configuration([GOOD], {
      binding: null,
      configuration: { required: false },
    }),
    'a ConfigMap whose content conforms to the schema': configuration([GOOD]),
    'a ConfigMap whose content does not conform': configuration([configMap('PORT: x\n')]),
    'the same, `required: false`': configuration([configMap('PORT: x\n')], {
      configuration: { required: false },
    }),
    'empty content as YAML, which is null': configuration([configMap('')]),
    'empty content as JSON, which is none': configuration([configMap('')], {
      binding: { ...BOUND, format: 'json' },
    }),
    'content that is not of its format': configuration([configMap('PORT: [80\n')]),
    'the binding says no key, or no format': [
      configuration([GOOD], { binding: { kind: 'ConfigMap', name: 'app', format: 'yaml' } }),
      configuration([GOOD], { binding: { kind: 'ConfigMap', name: 'app', key: 'k' } }),
    ],
    'the ConfigMap has no such key in `data`': configuration([GOOD], {
      binding: { ...BOUND, key: 'other' },
    }),
    'the contract has no schema for it, or it lies elsewhere (`ref`)': [
      configuration([GOOD], { configuration: { schema: undefined } }),
      configuration([GOOD], { configuration: { schema: undefined, ref: 'oci://r.test/app:1' } }),
    ],
    'the schema is not in the bundle, or cannot be used': [
      configuration([GOOD], { configuration: { schema: 'other.json' } }),
      configuration([GOOD], { files: new Map([['app.json', Buffer.from('{"type":"thing"}')]]) }),
    ],
    'an inline contract, which has no bundle': INLINE,
    'a Secret that exists': configuration([SECRET], { binding: IN_SECRET }),
    'the ConfigMap or the Secret does not exist': [
      configuration([]),
      configuration([], { binding: IN_SECRET }),
    ],
    'it does not exist, `required: false`': configuration([], { configuration: { required: false } }),
    'it cannot be read': [
      configuration([SECRET], { binding: IN_SECRET, forbidden: [kinds.SECRET] }),
      configuration([GOOD], { forbidden: [kinds.CONFIG_MAP] }),
    ],
  },
};

interface Running {
  readonly kind?: Kind;
  readonly explicit?: boolean;
}

function workload(
  declared: string | undefined,
  { kind = kinds.DEPLOYMENT, explicit = true }: Running = {},
): Scene {
  return {
    contract: declared === undefined ? {} : { workload: declared },
    target: { workload: { kind, name: 'web', explicit } },
    objects: [anObject(kind, { name: 'web', namespace: NAMESPACE }, { spec: {} })],
  };
}

export const WORKLOAD: DecisionTable = {
  heading: 'Workload',
  dimension: observeWorkload,
  kind: 'WorkloadObserved',
  scenes: {
    '`service`, and a Deployment, StatefulSet or ReplicaSet': [
      kinds.DEPLOYMENT,
      kinds.STATEFUL_SET,
      kinds.REPLICA_SET,
    ].map((kind) => workload('service', { kind })),
    '`job`, and a Job': workload('job', { kind: kinds.JOB }),
    '`scheduled`, and a CronJob': workload('scheduled', { kind: kinds.CRON_JOB }),
    'another type, name and kind written in `workloadRef`': workload('job'),
    'another type, the kind taken for a Deployment': workload('job', { explicit: false }),
    'it does not exist': { ...workload('service'), objects: [] },
    'it cannot be read': { ...workload('service'), forbidden: [kinds.DEPLOYMENT] },
    'the contract declares none': workload(undefined),
  },
};

function stored(volumes: readonly object[], more: Scene & { readonly durability?: string } = {}): Scene {
  const { durability = 'persistent', ...rest } = more;
  return {
    contract: { state: { type: 'stateful', persistence: { scope: 'local', durability } } as never },
    objects: [
      anObject(
        kinds.DEPLOYMENT,
        { name: 'web', namespace: NAMESPACE },
        { spec: { template: { spec: { volumes } } } },
      ),
    ],
    ...rest,
  };
}

const CLAIM = { name: 'c', persistentVolumeClaim: { claimName: 'c' } };
const EMPTY = { name: 'e', emptyDir: {} };
const HOST = { name: 'h', hostPath: { path: '/data' } };

export const PERSISTENCE: DecisionTable = {
  heading: 'Persistence',
  dimension: observePersistence,
  kind: 'PersistenceObserved',
  scenes: {
    'a claim among the volumes, whatever is beside it': stored([EMPTY, HOST, CLAIM]),
    'a StatefulSet with claim templates': {
      ...stored([]),
      target: { workload: { kind: kinds.STATEFUL_SET, name: 'web', explicit: true } },
      objects: [
        anObject(
          kinds.STATEFUL_SET,
          { name: 'web', namespace: NAMESPACE },
          { spec: { volumeClaimTemplates: [{ metadata: { name: 'c' } }] } },
        ),
      ],
    },
    'no volumes, or only emptyDir, projected, configMap, secret, downwardAPI': [
      stored([]),
      stored(
        ['emptyDir', 'projected', 'configMap', 'secret', 'downwardAPI'].map((source) => ({
          name: source.toLowerCase(),
          [source]: {},
        })),
      ),
    ],
    'any other volume, such as hostPath, csi or nfs, and no claim': [
      stored([EMPTY, HOST]),
      stored([{ name: 'v', csi: {} }]),
      stored([{ name: 'v', nfs: {} }]),
    ],
    'the workload does not exist': { ...stored([CLAIM]), objects: [] },
    'the workload cannot be read': stored([CLAIM], { forbidden: [kinds.DEPLOYMENT] }),
    'not declared `persistent`': stored([EMPTY], { durability: 'ephemeral' }),
  },
};
