import { statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import { loadOpenApiTypes } from '../../src/cli/openapi.ts';
import { KindTypes } from '../../src/policies/vap/openapi-types.ts';

describe('the types that are delivered', () => {
  test('are small', () => {
    expect(statSync('src/cli/openapi-1.36.json.br').size).toBeLessThan(100_000);
  });

  test('know what a Kubernetes 1.36 serves, each with a schema', async () => {
    const types = await loadOpenApiTypes();
    const kinds = new KindTypes(types);
    expect(kinds.kindsOf('apps', 'v1', 'deployments')).toStrictEqual([
      { group: 'apps', version: 'v1', kind: 'Deployment' },
    ]);
    expect(types.resources.length).toBeGreaterThan(50);
    const unknown = types.resources.filter((served) => kinds.typeOf(served) === undefined);
    expect(unknown).toStrictEqual([]);
  });

  test('know which fields an API server requires or fills in, and which it leaves out', async () => {
    const { schemas, filledIn = {} } = await loadOpenApiTypes();
    const deployment = schemas['io.k8s.api.apps.v1.DeploymentSpec'];
    expect(deployment?.present).toEqual(expect.arrayContaining(['replicas', 'selector', 'strategy']));
    expect(deployment?.present).not.toContain('minReadySeconds');
    const pod = schemas['io.k8s.api.core.v1.PodSpec']?.present;
    expect(pod).toEqual(expect.arrayContaining(['containers', 'restartPolicy']));
    // Of a Pod alone, and of no template.
    expect(pod).not.toContain('serviceAccountName');
    expect(filledIn['/v1, Kind=Pod']).toContain('spec.serviceAccountName');
    expect(filledIn['apps/v1, Kind=Deployment']).not.toContain('metadata.labels');
    // A Service of type ExternalName has none.
    expect(schemas['io.k8s.api.core.v1.ServiceSpec']?.present).not.toContain('clusterIP');
  });
});
