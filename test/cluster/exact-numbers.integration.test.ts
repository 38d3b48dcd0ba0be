/** Numbers of objects that expressions read are those that are stored. */
import { describe, expect, it } from 'vitest';
import type { Kind } from '../../src/cluster/kinds.ts';
import { isBoxedDouble } from '../../src/json.ts';
import { useRestCluster } from '../support/rest-cluster.ts';

const LIMITS: Kind = { group: 'x.io', version: 'v1', kind: 'Limits', resource: 'limits', namespaced: true };
const OBJECT =
  '{"apiVersion":"x.io/v1","kind":"Limits","metadata":{"name":"a","namespace":"web","resourceVersion":"7"},' +
  '"spec":{"most":9007199254740993,"whole":1.0,"least":-9223372036854775808,"zero":-0}}';
const AT = { namespace: 'web', name: 'a' };
const EXACT = { most: 9_007_199_254_740_993n, least: -9_223_372_036_854_775_808n, zero: 0 };

const fixture = useRestCluster();

function answer(body: string): void {
  fixture.server.script((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    return true;
  });
}

describe('exact numbers', () => {
  it('come with one object, and are rounded where nobody asks', async () => {
    answer(OBJECT);
    const exact = await fixture.cluster.get(LIMITS, AT, { exact: true });
    expect(exact?.['spec']).toMatchObject(EXACT);
    expect(isBoxedDouble((exact?.['spec'] as { whole: unknown } | undefined)?.whole)).toBe(true);
    const plain = await fixture.cluster.get(LIMITS, AT);
    expect(plain?.['spec']).toMatchObject({ most: 9_007_199_254_740_992 });
  });

  it('come with a list', async () => {
    answer(`{"metadata":{"resourceVersion":"9"},"items":[${OBJECT}]}`);
    const { items } = await fixture.cluster.list(LIMITS, { exact: true });
    expect(items[0]?.['spec']).toMatchObject(EXACT);
  });

  it('come with a watch', async () => {
    answer(`{"type":"MODIFIED","object":${OBJECT}}\n`);
    const seen: unknown[] = [];
    for await (const event of fixture.cluster.watch(LIMITS, { resourceVersion: '1', exact: true }))
      seen.push(event.type === 'MODIFIED' ? event.object['spec'] : event.type);
    expect(seen).toMatchObject([EXACT]);
  });

  it.each(['{"metadata":', '{"metadata":{"name":"a"},"n":1e999}', '\u00ff'])(
    'refuse what is not JSON: %s',
    async (body) => {
      answer(body);
      await expect(fixture.cluster.get(LIMITS, AT, { exact: true })).rejects.toMatchObject({
        code: 'GATE_CLUSTER_ANSWER',
      });
    },
  );
});
