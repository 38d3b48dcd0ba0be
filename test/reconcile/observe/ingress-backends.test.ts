import { describe, expect, it } from 'vitest';
import { INGRESS } from '../../../src/cluster/kinds.ts';
import { ingressBackends } from '../../../src/reconcile/observe/ingress-backends.ts';
import { ROUTES } from '../../../src/reconcile/triggers/routes.ts';
import { keptOf } from '../../../src/reconcile/triggers/trigger.ts';
import { anObject } from '../../support/builders.ts';

describe('where an Ingress leads to', () => {
  it('is its default backend and each of its paths', () => {
    const spec = {
      defaultBackend: { service: { name: 'home', port: { number: 80 } } },
      rules: [
        {
          host: 'a.test',
          http: { paths: [{ path: '/', backend: { service: { name: 'web', port: { name: 'http' } } } }] },
        },
        { http: { paths: [{ backend: { resource: { kind: 'Bucket', name: 'files' } } }] } },
        { host: 'without.paths.test' },
      ],
    };
    expect(ingressBackends(anObject(INGRESS, {}, { spec }))).toEqual([
      { service: 'home', port: 80 },
      { service: 'web', port: 'http' },
    ]);
  });

  it.each<[string, unknown]>([
    ['no spec', undefined],
    ['a text', 'x'],
    ['rules that are none', { rules: 'x' }],
    ['entries that are none', { rules: [null, { http: 1 }, { http: { paths: [null, { backend: 'x' }] } }] }],
    ['a Service without a name', { defaultBackend: { service: { name: 7 } } }],
  ])('never throws: %s', (_what, spec) => {
    expect(ingressBackends(anObject(INGRESS, {}, { spec }))).toEqual([]);
  });

  it('may have no port that is one', () => {
    const spec = { defaultBackend: { service: { name: 'web', port: 'x' } } };
    expect(ingressBackends(anObject(INGRESS, {}, { spec }))).toEqual([{ service: 'web', port: undefined }]);
  });

  it('is the same once a watch has kept it, each backend once', () => {
    const web = { backend: { service: { name: 'web', port: { number: 80 } } } };
    const spec = {
      defaultBackend: { service: { name: 'home', port: { name: 'http' } } },
      rules: [{ host: 'a.test', http: { paths: [web, { path: '/b', ...web }] } }],
    };
    const watch = ROUTES.find(({ kind }) => kind === INGRESS)!;
    expect(ingressBackends(keptOf(watch, anObject(INGRESS, {}, { spec })))).toEqual([
      { service: 'home', port: 'http' },
      { service: 'web', port: 80 },
    ]);
  });
});
