import { describe, expect, it } from 'vitest';

import {
  CONFIG_MAP,
  GIT_REPOSITORY,
  HELM_RELEASE,
  KUSTOMIZATION,
  OCI_REPOSITORY,
  type Kind,
} from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import type { PointerChange } from '../../../src/policies/delivery/change.ts';
import { pointerChangeOf } from '../../../src/policies/delivery/pointer-change.ts';
import type { PointerField, StagePointer } from '../../../src/policies/delivery/stage.ts';
import { anAdmissionRequest, anObject } from '../../support/builders.ts';

const A = `sha256:${'a'.repeat(64)}`;
const B = `sha256:${'b'.repeat(64)}`;
const STAGE = 'delivery.pacto.trianalab.io/stage';

const KINDS: Readonly<Record<PointerField, Kind>> = {
  ociDigest: OCI_REPOSITORY,
  gitCommit: GIT_REPOSITORY,
  chartVersion: HELM_RELEASE,
  kustomizeImageDigest: KUSTOMIZATION,
  configKey: CONFIG_MAP,
};

type Members = Readonly<Record<string, unknown>>;

function pointerOf(field: PointerField): StagePointer {
  const { kind } = KINDS[field];
  return {
    name: 'p',
    target: { apiVersion: '', kind, name: 'x', namespace: undefined },
    field,
    key: 'app',
    artifact: '',
  };
}

function objectOf(field: PointerField, members: Members): KubeObject {
  const object = anObject(KINDS[field], { name: 'x', namespace: 'payments' });
  const { metadata, ...rest } = members;
  return {
    ...object,
    metadata: { ...object.metadata, labels: { [STAGE]: 'prod' }, ...(metadata as Members | undefined) },
    ...rest,
  };
}

function changeOf(field: PointerField, before: Members | undefined, after: Members): PointerChange {
  const request = anAdmissionRequest({
    object: objectOf(field, after),
    ...(before === undefined ? {} : { oldObject: objectOf(field, before) }),
  });
  return pointerChangeOf(request, pointerOf(field));
}

const QUIET: Partial<PointerChange> = {
  isCreate: false,
  moves: false,
  resumes: false,
  identity: [],
  release: [],
  config: [],
  weakened: [],
  forceOn: false,
  leaves: false,
  rest: [],
};

const spec = (members: Members): Members => ({ spec: members });
const chart = (members: Members): Members => spec({ chart: { spec: members } });

describe('a change', () => {
  it.each<[PointerField, string, Members, Members, Partial<PointerChange>]>([
    [
      'ociDigest',
      'of the digest',
      spec({ ref: { digest: A } }),
      spec({ ref: { digest: B } }),
      { moves: true },
    ],
    [
      'ociDigest',
      'to a tag',
      spec({ ref: { digest: A } }),
      spec({ ref: { tag: 'v1' } }),
      { moves: true, to: { value: 'v1', isPinned: false } },
    ],
    [
      'ociDigest',
      'of a tag beside the digest',
      spec({ ref: { digest: A } }),
      spec({ ref: { digest: A, tag: 'v1' } }),
      {},
    ],
    ...['url', 'verify', 'insecure', 'provider', 'layerSelector', 'certSecretRef'].map(
      (name): [PointerField, string, Members, Members, Partial<PointerChange>] => [
        'ociDigest',
        `of ${name}`,
        spec({ [name]: 'a' }),
        spec({}),
        { identity: [`spec.${name}`] },
      ],
    ),
    ['ociDigest', 'of what is left out', spec({}), spec({ ignore: '*' }), { release: ['spec.ignore'] }],
    ['ociDigest', 'of the interval', spec({}), spec({ interval: '1m' }), { rest: ['spec.interval'] }],
    ['ociDigest', 'to go on', spec({ suspend: true }), spec({ suspend: false }), { resumes: true }],
    ['ociDigest', 'of the label', {}, { metadata: { labels: {} } }, { leaves: true }],
    ['ociDigest', 'of the Stage', {}, { metadata: { labels: { [STAGE]: 'dev' } } }, { leaves: true }],
    ['ociDigest', 'to join a Stage', { metadata: { labels: {} } }, {}, {}],
    [
      'gitCommit',
      'of the commit',
      spec({ ref: { commit: 'a'.repeat(40) } }),
      spec({ ref: { commit: 'b'.repeat(40) } }),
      { moves: true },
    ],
    [
      'gitCommit',
      'of included repositories',
      spec({}),
      spec({ include: [{}] }),
      { release: ['spec.include'] },
    ],
    [
      'chartVersion',
      'of the version',
      chart({ version: '1.0.0' }),
      chart({ version: '1.0.1' }),
      { moves: true },
    ],
    [
      'chartVersion',
      'of the chart',
      chart({ version: '1.0.0', chart: 'a' }),
      chart({ version: '1.0.0', chart: 'b' }),
      { release: ['spec.chart'] },
    ],
    [
      'chartVersion',
      'of how it is verified',
      chart({ version: '1.0.0', verify: {} }),
      chart({ version: '1.0.0' }),
      { identity: ['spec.chart.spec.verify'] },
    ],
    [
      'chartVersion',
      'of how often it is looked for',
      chart({ version: '1.0.0' }),
      chart({ version: '1.0.0', interval: '1m' }),
      {},
    ],
    [
      'chartVersion',
      'of the source',
      spec({ chartRef: { name: 'a' } }),
      spec({ chartRef: { name: 'b' } }),
      { release: ['spec.chartRef'] },
    ],
    ['chartVersion', 'of values', spec({}), spec({ values: { a: 1 } }), { config: ['spec.values'] }],
    [
      'kustomizeImageDigest',
      'of the image',
      spec({ images: [{ name: 'app', digest: A }] }),
      spec({ images: [{ name: 'app', digest: B }] }),
      { moves: true },
    ],
    [
      'kustomizeImageDigest',
      'of another image',
      spec({ images: [{ name: 'b', digest: A }] }),
      spec({ images: [{ name: 'b', digest: B }] }),
      { config: ['spec.images'] },
    ],
    [
      'kustomizeImageDigest',
      'of the path',
      spec({ path: './a' }),
      spec({ path: './b' }),
      { release: ['spec.path'] },
    ],
    [
      'kustomizeImageDigest',
      'of the source',
      spec({ sourceRef: { name: 'a' } }),
      spec({ sourceRef: { name: 'b' } }),
      { release: ['spec.sourceRef'] },
    ],
    ['kustomizeImageDigest', 'of patches', spec({}), spec({ patches: [{}] }), { config: ['spec.patches'] }],
    [
      'kustomizeImageDigest',
      'of what it waits for',
      spec({ dependsOn: [{ name: 'gate' }] }),
      spec({}),
      { weakened: ['spec.dependsOn'], rest: ['spec.dependsOn'] },
    ],
    [
      'kustomizeImageDigest',
      'that waits for more',
      spec({}),
      spec({ dependsOn: [{ name: 'gate' }] }),
      { rest: ['spec.dependsOn'] },
    ],
    [
      'kustomizeImageDigest',
      'of a health check of a Stage',
      spec({
        healthChecks: [{ apiVersion: 'delivery.pacto.trianalab.io/v1alpha1', kind: 'Stage', name: 'prod' }],
      }),
      spec({ healthChecks: [] }),
      { weakened: ['spec.healthChecks'], rest: ['spec.healthChecks'] },
    ],
    [
      'kustomizeImageDigest',
      'of another health check',
      spec({ healthChecks: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }] }),
      spec({}),
      { rest: ['spec.healthChecks'] },
    ],
    [
      'kustomizeImageDigest',
      'to force',
      spec({}),
      spec({ force: true }),
      { forceOn: true, rest: ['spec.force'] },
    ],
    [
      'ociDigest',
      'to force by annotation',
      {},
      { metadata: { annotations: { 'kustomize.toolkit.fluxcd.io/force': 'Enabled' } } },
      { forceOn: true },
    ],
    ['configKey', 'of the key', { data: { app: A } }, { data: { app: B } }, { moves: true }],
    [
      'configKey',
      'of another key',
      { data: { app: A } },
      { data: { app: A, more: 'x' } },
      { config: ['data'] },
    ],
    [
      'configKey',
      'of binary data',
      { data: { app: A } },
      { data: { app: A }, binaryData: { x: 'eA==' } },
      { config: ['binaryData'] },
    ],
  ])('%s %s', (field, _what, before, after, expected) => {
    expect(changeOf(field, before, after)).toMatchObject({ ...QUIET, ...expected });
  });
});

describe('a creation', () => {
  it.each<[PointerField, Members, Partial<PointerChange>]>([
    ['ociDigest', spec({ ref: { digest: A }, verify: {} }), { to: { value: A, isPinned: true } }],
    ['ociDigest', spec({}), { to: { value: 'latest', isPinned: false } }],
    ['configKey', { data: { app: 'x' } }, { to: { value: 'x', isPinned: false } }],
  ])('moves from nothing, and compares nothing: %s', (field, after, expected) => {
    expect(changeOf(field, undefined, after)).toMatchObject({
      ...QUIET,
      isCreate: true,
      moves: true,
      from: undefined,
      ...expected,
    });
  });
});

it.each([null, undefined, 'x', 7, [], { spec: 'x', data: 7, metadata: [] }])(
  'never throws for %j',
  (object) => {
    const request = {
      ...anAdmissionRequest({ object: objectOf('ociDigest', {}) }),
      object,
      oldObject: object,
    };
    for (const field of Object.keys(KINDS) as PointerField[])
      for (const operation of ['CREATE', 'UPDATE', 'DELETE'] as const)
        expect(pointerChangeOf({ ...request, operation }, pointerOf(field)).resumes).toBe(false);
  },
);
