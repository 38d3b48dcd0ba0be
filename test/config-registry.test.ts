import { describe, expect, it } from 'vitest';
import { loadConfig } from '../src/config.ts';

/** A file alone: values are not cut at commas. */
async function problems(key: string, value: string | readonly string[]): Promise<readonly string[]> {
  const loaded = await loadConfig({
    flags: [],
    file: 'gate.yaml',
    env: {},
    readFile: () => Promise.resolve(JSON.stringify({ registry: { [key]: value } })),
  });
  return loaded.ok ? [] : loaded.problems.map(({ message }) => message);
}

describe('keys of registries', () => {
  it.each([
    ['allow', 'ghcr.io,GHCR.io:443,*.example.com,*.example.com:5000,[::1]:5000,localhost,10.0.0.7:5000'],
    ['insecure', '127.0.0.1:5055,registry,registry.shop.svc'],
    ['credentialHosts', 'ghcr.io,registry.example:5000'],
    ['allowAddresses', '127.0.0.0/8,10.1.2.3,::1,fd00::/8,registry.example'],
    ['realms', 'auth.example,*.auth.example'],
    ['certificateAuthorities', 'r.example=ca.pem,r.example:5000=/etc/a=b.pem,*.example=ca.pem'],
    ['proxy', 'http://proxy.test:3128'],
    ['noProxy', '.example,*.example,r.example:5000,10.0.0.0/8,fd00::/8,::1,*'],
  ])('takes registry.%s %s', async (name, value) => {
    expect(await problems(name, name === 'proxy' ? value : value.split(','))).toEqual([]);
  });

  it.each([
    ['allow', 'https://x.example/y'],
    ['allow', 'x.example/y'],
    ['allow', 'x.example:70000'],
    ['allow', 'x.example:0'],
    ['allow', '*'],
    ['allow', 'a.*.example'],
    ['allow', '::1'],
    ['allow', '10.1'],
    ['allow', ''],
    ['insecure', 'http://127.0.0.1:5055'],
    ['insecure', 'x_y'],
    ['insecure', '*.example'],
    ['credentialHosts', 'https://ghcr.io'],
    ['credentialHosts', 'ann@ghcr.io'],
    ['allowAddresses', 'foo bar'],
    ['allowAddresses', '10.0.0.0/99'],
    ['allowAddresses', '10.0.0.0/'],
    ['allowAddresses', '10.0.0.300'],
    ['allowAddresses', 'fd00::/129'],
    ['allowAddresses', '127.0.0.1:5000'],
    ['realms', 'https://auth.example/token'],
    ['certificateAuthorities', 'https://r.example=ca.pem'],
    ['certificateAuthorities', 'r.example='],
    ['certificateAuthorities', '=ca.pem'],
    ['proxy', 'proxy.test:3128'],
    ['proxy', 'http://proxy.test/x'],
    ['noProxy', 'http://x.example'],
    ['noProxy', '10.0.0.0/33'],
    ['noProxy', '[::1]'],
  ])('refuses registry.%s %s', async (name, value) => {
    const [found = '', ...more] = await problems(name, name === 'proxy' ? value : [value]);
    expect(found).toMatch(new RegExp(`^file gate\\.yaml: registry\\.${name}: need .*host`));
    expect(more).toEqual([]);
  });
});
