import { describe, expect, it } from 'vitest';

import { DEPLOYMENT } from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { templateTextOf, workloadChangeOf } from '../../../src/policies/delivery/workload-template.ts';
import { anAdmissionRequest, anObject } from '../../support/builders.ts';

type Members = Readonly<Record<string, unknown>>;

function deployment(container: Members = {}, template: Members = {}, spec: Members = {}): KubeObject {
  return {
    ...anObject(DEPLOYMENT, { name: 'web', namespace: 'shop' }),
    spec: {
      replicas: 2,
      ...spec,
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'web:1', ...container }] },
        ...template,
      },
    },
  };
}

describe('an update of a workload', () => {
  it.each([
    ['nothing', deployment(), 'nothing'],
    ['replicas', deployment({}, {}, { replicas: 5 }), 'harmless'],
    ['paused', deployment({}, {}, { paused: true }), 'harmless'],
    ['resources', deployment({ resources: { limits: { cpu: 1 } } }), 'harmless'],
    ['probes', deployment({ livenessProbe: {}, readinessProbe: {}, startupProbe: {} }), 'harmless'],
    [
      'a restart',
      deployment(
        {},
        {
          metadata: { labels: { app: 'web' }, annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } },
        },
      ),
      'harmless',
    ],
    ['an image', deployment({ image: 'web:2' }), 'template'],
    ['the environment', deployment({ env: [{ name: 'A', value: '1' }] }), 'template'],
    [
      'another annotation',
      deployment({}, { metadata: { labels: { app: 'web' }, annotations: { a: 'b' } } }),
      'template',
    ],
    ['a label of Pods', deployment({}, { metadata: { labels: { app: 'x' } } }), 'template'],
    ['another container', deployment({}, { spec: { containers: [] } }), 'template'],
  ])('that changes %s', (_what, object, changes) => {
    expect(workloadChangeOf(anAdmissionRequest({ oldObject: deployment(), object })).changes).toBe(changes);
  });
});

it('is another template when it is created', () => {
  expect(workloadChangeOf(anAdmissionRequest({ object: deployment() })).changes).toBe('template');
});

it('has one text whatever the order of keys', () => {
  const one = {
    spec: { template: { spec: { containers: [{ name: 'a', image: 'b' }], hostNetwork: true } } },
  };
  const other = {
    spec: { template: { spec: { hostNetwork: true, containers: [{ image: 'b', name: 'a' }] } } },
  };
  expect(templateTextOf(one)).toBe(templateTextOf(other));
});

it.each([undefined, null, 'x', {}, { spec: {} }, { spec: { template: 'x' } }])('is none of %j', (object) => {
  expect(templateTextOf(object)).toBeUndefined();
});

it.each([null, 'x', { spec: { template: { spec: { containers: [null, 'x', 7] } } } }])(
  'never throws for %j',
  (object) => {
    for (const operation of ['CREATE', 'UPDATE', 'DELETE'] as const) {
      const request = { ...anAdmissionRequest({ object: deployment() }), operation, object, oldObject: null };
      expect(['nothing', 'template']).toContain(workloadChangeOf(request).changes);
    }
  },
);
