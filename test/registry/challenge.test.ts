import { describe, expect, it } from 'vitest';
import { parseChallenges, preferred } from '../../src/registry/challenge.ts';
import { HostList } from '../../src/registry/hosts.ts';
import { checkRealm } from '../../src/registry/realm-policy.ts';

const read = (header: string | readonly string[] | undefined): unknown =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);

describe('a challenge', () => {
  it.each([
    ['Bearer realm="https://a/t",service="s"', [['bearer', { realm: 'https://a/t', service: 's' }]]],
    ['bearer REALM=https://a:5/t?x=1,Service=s', [['bearer', { realm: 'https://a:5/t?x=1', service: 's' }]]],
    ['Basic', [['basic', {}]]],
    ['Basic realm="a, \\"b\\" = c"', [['basic', { realm: 'a, "b" = c' }]]],
    [
      'Basic realm="x", Bearer realm="y"',
      [
        ['basic', { realm: 'x' }],
        ['bearer', { realm: 'y' }],
      ],
    ],
    [
      'Negotiate abc==, Bearer realm="y"',
      [
        ['negotiate', { abc: '=' }],
        ['bearer', { realm: 'y' }],
      ],
    ],
    ['Bearer realm="a",realm="b"', [['bearer', { realm: 'a' }]]],
    [
      'Bearer realm="open',
      [
        ['bearer', { realm: '' }],
        ['open', {}],
      ],
    ],
    ['realm="lost"', []],
    ['', []],
    ['Bearer __proto__="x"', [['bearer', { ['__proto__']: 'x' }]]],
  ])('is read: %s', (header, wanted) => {
    expect(JSON.stringify(read(header))).toBe(JSON.stringify(wanted));
  });

  it('is read from several headers, and not at all where it is longer than any', () => {
    expect(parseChallenges(['Basic realm="x"', 'Bearer realm="y"'])).toHaveLength(2);
    expect(parseChallenges(undefined)).toEqual([]);
    expect(parseChallenges(`Bearer realm="${'x'.repeat(9_000)}"`)).toEqual([]);
  });

  it('is read in no time however it is made', () => {
    const start = performance.now();
    for (const evil of ['"\\'.repeat(4_000), 'a='.repeat(4_000), ' = '.repeat(2_500), ','.repeat(8_000)])
      parseChallenges(`Bearer realm="${evil}`.slice(0, 8_000));
    expect(performance.now() - start).toBeLessThan(500);
  });

  it('is answered by token rather than by password', () => {
    const choose = (header: string): string | undefined => preferred(parseChallenges(header))?.scheme;
    expect(choose('Basic realm="x", Bearer realm="y"')).toBe('bearer');
    expect(choose('Bearer service="y", Basic realm="x"')).toBe('basic');
    expect(choose('Digest realm="x"')).toBeUndefined();
  });
});

describe('a token server', () => {
  const check = (realm: string, registry: string, realms: readonly string[] = []): URL =>
    checkRealm(realm, new URL(`https://${registry}/`), new HostList(realms), { reference: 'r', wanted: 'w' });

  it.each([
    ['https://r.acme.test/token', 'r.acme.test', []],
    ['https://r.acme.test:8443/token', 'r.acme.test', []],
    ['https://auth.r.acme.test/token', 'r.acme.test', []],
    ['https://gitlab.com/jwt/auth', 'registry.gitlab.com', []],
    ['https://auth.docker.io/token', 'index.docker.io', []],
    ['https://auth.acme.test/token', 'r.acme.test', ['auth.acme.test']],
    ['https://sso.example.org/token', 'r.acme.test', ['*.example.org']],
    ['https://sso.example.org:8443/token', 'r.acme.test', ['sso.example.org:8443']],
  ])('%s is asked for %s, %j being listed', (realm, registry, realms) => {
    expect(check(realm, registry, realms).href).toBe(realm);
  });

  it.each([
    ['https://auth.acme.test/token', 'r.acme.test', []],
    ['https://evilr.acme.test/', 'r.acme.test', []],
    ['https://r.acme.test.evil.test/', 'r.acme.test', []],
    ['https://com/token', 'registry.com', []],
    ['https://auth.docker.io/token', 'r.acme.test', []],
    ['https://auth.docker.io.evil.test/token', 'index.docker.io', []],
    ['https://2.0.0.1/token', '10.2.0.0.1.nip.test', []],
    ['https://0.0.1/token', '10.0.0.1', []],
    ['http://r.acme.test/token', 'r.acme.test', ['r.acme.test']],
    ['https://robot@r.acme.test/token', 'r.acme.test', []],
    ['https://sso.example.org/token', 'r.acme.test', ['example.org', 'sso.example.org:8443']],
  ])('%s is not asked for %s, %j being listed', (realm, registry, realms) => {
    expect(() => check(realm, registry, realms)).toThrow(
      expect.objectContaining({ code: 'GATE_REGISTRY_REFUSED' }),
    );
  });
});
