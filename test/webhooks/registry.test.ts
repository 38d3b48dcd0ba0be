import { describe, expect, it } from 'vitest';

import { identityEntries } from '../../src/policies/identity/entries.ts';
import { identitySettings } from '../../src/policies/identity/settings.ts';
import { createWebhooks } from '../../src/webhooks/registry.ts';
import { identity } from './decide-by.ts';

const BASE = 'https://192.0.2.7:9443';
const configuration = identity({ tokens: { enabled: true, failurePolicy: 'Ignore' } });
const served = createWebhooks({ identity: configuration, serverVersion: () => undefined });
const { webhooks: entries } = identityEntries({
  settings: identitySettings(configuration),
  identity: configuration,
  tokens: configuration.tokens,
  pods: configuration.pods,
  target: { url: BASE },
  timeoutSeconds: 10,
}).configuration;

const generated = entries.map((entry) => ({
  name: entry.name,
  path: entry.clientConfig.url?.slice(BASE.length),
  failurePolicy: entry.failurePolicy,
}));

describe('the list of webhooks', () => {
  it('has a generated entry for each, under its name and with its failure policy', () => {
    const expected = served.map((webhook) => {
      const entry = webhook.entry({});
      return { name: entry?.name, path: webhook.path, failurePolicy: entry?.failurePolicy };
    });
    expect(generated).toEqual(expect.arrayContaining(expected));
  });

  it('serves the path of every generated entry', () => {
    const paths = new Set<string | undefined>(served.map(({ path }) => path));
    expect(generated.filter(({ path }) => !paths.has(path))).toEqual([]);
  });

  it('has no name and no path twice', () => {
    expect(new Set(served.map(({ name }) => name)).size).toBe(served.length);
    expect(new Set(served.map(({ path }) => path)).size).toBe(served.length);
  });
});
