/** What is served, what is generated and what is documented are the same webhooks. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { entriesOf } from '../../src/app/entries.ts';
import { openDelivery, webhooksOf } from '../../src/app/webhooks.ts';
import { configKeys } from '../../src/config-keys.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import type { ValidatingEntry } from '../../src/policies/entry.ts';
import { POLICIES_PATH } from '../../src/policies/vap/entry-name.ts';
import type { Webhook } from '../../src/webhooks/webhook.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { policyWriters } from './decide-by.ts';

const BASE = 'https://192.0.2.7:9443';

/** With everything switched on that can be, whatever its default. */
async function everything(changes: Readonly<Record<string, string>> = {}): Promise<Config> {
  const switches = configKeys().filter(({ path }) => path.endsWith('enabled'));
  const given = {
    ...Object.fromEntries(switches.map(({ path }) => [path, 'true'])),
    'policies.sources': 'customResources',
    // The only one that is not Fail.
    'delivery.workloads.failurePolicy': 'Fail',
    ...changes,
  };
  const flags = Object.entries(given).map(([path, value]) => ({ path, value, origin: path }));
  const loaded = await loadConfig({ flags, env: {}, readFile: () => Promise.reject(new Error('no file')) });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.config;
}

/** All but the policies, whose entries depend on which there are. */
async function served(config: Config): Promise<readonly Webhook[]> {
  const delivery = await openDelivery(config, { clock: new FakeClock(), reviewAccess: undefined });
  return webhooksOf(config, {
    serverVersion: () => undefined,
    policies: { webhook: NO_POLICIES, writers: policyWriters() },
    delivery,
  }).filter((webhook) => webhook !== NO_POLICIES);
}

const NO_POLICIES: Webhook = { name: 'policies', path: POLICIES_PATH, entry: () => undefined };

interface Named {
  readonly name: string | undefined;
  readonly path: string | undefined;
  readonly failurePolicy: string | undefined;
}

function generated(config: Config): readonly Named[] {
  const entries = entriesOf(config, { target: { url: BASE }, timeoutSeconds: 10 });
  const { identity, policies: ofPolicies, delivery } = entries;
  return [identity.configuration, ofPolicies.configuration, delivery.configuration, delivery.stamps]
    .flatMap((configuration): readonly ValidatingEntry[] => configuration.webhooks)
    .map(({ name, clientConfig, failurePolicy }) => ({
      name,
      path: clientConfig.url?.slice(BASE.length),
      failurePolicy,
    }));
}

const policies = configKeys()
  .map(({ path }) => path)
  .filter((path) => path.endsWith('failurePolicy'));

describe('the list of webhooks', () => {
  it.each(['none', ...policies])(
    'has a generated entry for each, under its name and with its failure policy: Ignore for %s',
    async (path) => {
      const config = await everything(path === 'none' ? {} : { [path]: 'Ignore' });
      const expected = (await served(config)).map((webhook): Named => {
        const entry = webhook.entry({});
        return { name: entry?.name, path: webhook.path, failurePolicy: entry?.failurePolicy };
      });
      expect(expected.length).toBeGreaterThan(2);
      expect(generated(config)).toEqual(expect.arrayContaining(expected));
      const ignoring = expected.filter(({ failurePolicy }) => failurePolicy === 'Ignore');
      expect(ignoring).toHaveLength(path === 'none' ? 0 : 1);
    },
  );

  it('serves the path of every generated entry', async () => {
    const config = await everything();
    const paths = new Set<string | undefined>((await served(config)).map(({ path }) => path));
    expect(generated(config).filter(({ path }) => !paths.has(path))).toEqual([]);
  });

  it('has no name and no path twice', async () => {
    const all = await served(await everything());
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    expect(new Set(all.map(({ path }) => path)).size).toBe(all.length);
  });

  it.each(['README.md', 'docs/webhooks.md'])('is the table of %s', async (file) => {
    const rows = readFileSync(file, 'utf8').matchAll(/^\| `(\/(?:validate|mutate)\/[^`]*)`/gm);
    const documented = Array.from(rows, ([, path = '']) => path);
    const paths = (await served(await everything())).map(({ path }) => path);
    expect(documented.toSorted()).toEqual([...paths, POLICIES_PATH].toSorted());
  });
});
