/** Policies that change while requests run, over real HTTPS. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { readerOver } from '../webhooks/decide-by.ts';
import { serveWebhooks } from '../webhooks/served.ts';
import { until } from '../support/until.ts';
import { bindingObject, follow, policyObject, REVIEW, SHOP, type Followed } from './policy-support.ts';

async function ready(...objects: readonly KubeObject[]): Promise<Followed> {
  const followed = await follow({ sources: ['customResources'] }, objects, { clock: systemClock });
  await until('it is ready', () => followed.policies.unsynced() === undefined);
  return followed;
}

/** Says its version at the beginning and the end of an evaluation that lets others work in between. */
function versioned(version: number) {
  const text = `v${String(version)}`;
  return policyObject('versioned', {
    spec: {
      variables: [{ name: 'version', expression: `'${text}'` }],
      validations: [
        { expression: 'false', messageExpression: 'variables.version' },
        { expression: `variables.version == '${text}' && [1, 2, 3].all(x, [1, 2, 3].exists(y, x == y))` },
        { expression: "namespaceObject.metadata.name == 'shop'" },
      ],
      auditAnnotations: [{ key: 'version', valueExpression: `'${text}'` }],
    },
  });
}

interface Reviewed {
  readonly response: {
    readonly allowed: boolean;
    readonly status: { readonly message: string };
    readonly auditAnnotations: Readonly<Record<string, string>>;
  };
}

describe('a policy that changes while requests run', () => {
  it('answers each by one version wholly, and every request after the change by the new one', async () => {
    const followed = await ready(versioned(0), bindingObject('versioned'));
    const served = await serveWebhooks([followed.policies.webhook], { reader: readerOver([SHOP]) });
    const versionOf = async (): Promise<number> => {
      const answer = await served.ask('/validate/policies/versioned?timeout=10s', { body: REVIEW });
      const { response } = answer.json() as Reviewed;
      const said = /denied request: v(\d+)$/.exec(response.status.message)?.[1];
      expect([answer.status, response.allowed, response.auditAnnotations['version']]).toEqual([
        200,
        false,
        `v${String(said)}`,
      ]);
      return Number(said);
    };
    const end = new AbortController();
    let newest = 0;
    const seen = new Set<number>();
    const stream = Array.from({ length: 8 }, async () => {
      while (!end.signal.aborted) {
        const least = newest;
        const version = await versionOf();
        expect(version).toBeGreaterThanOrEqual(least);
        seen.add(version);
      }
    });
    for (let version = 1; version <= 60; version++) {
      const before = followed.policies.set();
      followed.write(versioned(version));
      await until('it is in force', () => followed.policies.set() !== before);
      newest = version;
      const answered = seen.size;
      if (version % 4 === 0) await until('somebody saw it', () => seen.size > answered || seen.has(version));
    }
    end.abort();
    await Promise.all(stream);
    expect(await versionOf()).toBe(60);
    expect(seen.size).toBeGreaterThan(10);
  });

  it('answers 503 once it is gone, and not before', async () => {
    const followed = await ready(policyObject('a'), bindingObject('a'));
    const served = await serveWebhooks([followed.policies.webhook], { reader: readerOver([SHOP]) });
    const status = async (): Promise<number> =>
      (await served.ask('/validate/policies/a', { body: REVIEW })).status;
    expect(await status()).toBe(200);
    followed.remove(policyObject('a'));
    await until('it is gone', () => followed.policies.facts().policies === 0);
    expect(await status()).toBe(503);
  });
});

describe('compiling', () => {
  it('lets others work in between', async () => {
    const followed = await ready(policyObject('a'), bindingObject('a'));
    let turns = 0;
    const end = new AbortController();
    const others = (async () => {
      while (!end.signal.aborted) {
        await nextTurn();
        turns++;
      }
    })();
    const before = followed.policies.set();
    followed.write(
      policyObject('large', {
        spec: {
          // Long enough for many turns, however fast the machine is.
          validations: Array.from({ length: 5_000 }, (_, index) => ({
            expression: `!has(object.data) || object.data.all(k, k.startsWith('a${String(index)}') || k.size() < 10)`,
          })),
        },
      }),
      bindingObject('large'),
    );
    await until('it is compiled', () => followed.policies.set() !== before);
    const during = turns;
    end.abort();
    await others;
    expect(during).toBeGreaterThan(10);
  });
});
