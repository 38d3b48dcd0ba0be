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
});
