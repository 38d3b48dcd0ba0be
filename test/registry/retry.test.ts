import { describe, expect, it } from 'vitest';
import { GateError } from '../../src/errors.ts';
import { networkFailure, PassingFailure, statusFailure } from '../../src/registry/failures.ts';
import { HostList } from '../../src/registry/hosts.ts';
import { Proxies } from '../../src/registry/proxies.ts';
import { retryAfterMs, retrying, type RetryPolicy } from '../../src/registry/retry.ts';
import { TokenCache } from '../../src/registry/tokens.ts';
import { FakeClock } from '../support/fake-clock.ts';

const SUBJECT = { reference: 'registry.test/a:1', wanted: 'the manifest' };

describe('trying again', () => {
  function start(
    failures: readonly (number | undefined)[],
    overrides: Partial<RetryPolicy> = {},
  ): { readonly clock: FakeClock; readonly at: number[]; readonly outcome: Promise<unknown> } {
    const clock = new FakeClock();
    const at: number[] = [];
    const policy = {
      clock,
      random: () => 1,
      attempts: 4,
      totalMs: 60_000,
      subject: SUBJECT,
      signal: undefined,
    };
    const outcome = retrying({ ...policy, ...overrides }, () => {
      at.push(clock.monotonic());
      const made = at.length - 1;
      return made < failures.length
        ? Promise.reject(new PassingFailure(new GateError('GATE_REGISTRY_UNREACHABLE', 'no'), failures[made]))
        : Promise.resolve('yes');
    }).catch((error: unknown) => error);
    return { clock, at, outcome };
  }

  it('waits twice as long each time', async () => {
    const { clock, at, outcome } = start([undefined, undefined, undefined]);
    await clock.advance(10_000);
    expect([await outcome, at]).toEqual(['yes', [0, 250, 750, 1_750]]);
    expect(clock.waiting).toBe(0);
  });

  it('waits half of that at least, as chance has it', async () => {
    const { clock, at } = start([undefined], { random: () => 0 });
    await clock.advance(1_000);
    expect(at).toEqual([0, 125]);
  });

  it('waits as long as it is told to', async () => {
    const { clock, at, outcome } = start([20_000]);
    await clock.advance(30_000);
    expect([await outcome, at]).toEqual(['yes', [0, 20_000]]);
  });

  it('ends with the last failure after all attempts, or where the wait would outlast its time', async () => {
    const all = start([1, 1, 1, 1, 1]);
    await all.clock.advance(100);
    expect(await all.outcome).toMatchObject({ code: 'GATE_REGISTRY_UNREACHABLE', message: 'no' });
    expect(all.at).toHaveLength(4);
    const late = start([60_000]);
    await late.clock.advance(0);
    expect(await late.outcome).toMatchObject({ message: 'no' });
    expect(late.at).toHaveLength(1);
  });

  it('ends when its time is up, and when its signal aborts', async () => {
    const controller = new AbortController();
    const { clock, at, outcome } = start([30_000], { signal: controller.signal });
    await clock.advance(1_000);
    controller.abort(new Error('enough'));
    expect(await outcome).toMatchObject({ message: 'enough' });
    expect(at).toHaveLength(1);
    expect(clock.waiting).toBe(0);
  });

  it.each([
    [undefined, undefined],
    ['7', 7_000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thu, 01 Jan 2020 00:01:00 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['1e9', undefined],
  ])('reads Retry-After: %s', (header, wanted) => {
    expect(retryAfterMs(header, Date.UTC(2026, 0, 1))).toBe(wanted);
  });

  it.each([
    [408, true],
    [429, true],
    [500, true],
    [502, true],
    [503, true],
    [501, false],
    [400, false],
    [404, false],
    [418, false],
  ])('is worth it after HTTP %s: %s', (status, isPassing) => {
    expect(statusFailure(SUBJECT, status, undefined, undefined) instanceof PassingFailure).toBe(isPassing);
  });

  it.each([
    ['ECONNRESET', true],
    ['EAI_AGAIN', true],
    ['UND_ERR_CONNECT_TIMEOUT', true],
    ['ENOTFOUND', false],
    ['CERT_HAS_EXPIRED', false],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', false],
    ['ERR_TLS_CERT_ALTNAME_INVALID', false],
    ['HPE_INVALID_CONSTANT', false],
  ])('is worth it after %s: %s', (code, isPassing) => {
    const cause = Object.assign(new Error('x'), { code, data: 's3cret' });
    const failure = networkFailure(SUBJECT, cause);
    expect(failure instanceof PassingFailure).toBe(isPassing);
    const error = failure instanceof PassingFailure ? failure.error : failure;
    expect(JSON.stringify(Object.getOwnPropertyDescriptors(error.cause))).not.toContain('s3cret');
  });

  it.each([
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'add its host and port to registry.insecure'],
    ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'add its host and port to registry.insecure'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'add its CA to registry.certificateAuthorities'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'add its CA to registry.certificateAuthorities'],
    ['CERT_HAS_EXPIRED', 'have it renewed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'use a name that it is for'],
    ['ENOTFOUND', 'check name, address and network'],
  ])('says after %s what mends it', (code, advice) => {
    const failure = networkFailure(SUBJECT, Object.assign(new Error('x'), { code }));
    expect(failure.message).toContain(advice);
    expect(failure.message).toContain(code);
  });
});

describe('tokens', () => {
  const token =
    (
      text: string,
      expiresInSeconds?: number,
    ): (() => Promise<{ token: string; expiresInSeconds: number | undefined }>) =>
    () =>
      Promise.resolve({ token: text, expiresInSeconds });

  it.each([
    ['60 s less 10 where the server does not say', undefined, 50_000],
    ['as the server says less 10 s', 300, 290_000],
    ['an hour at most', 1e9, 3_590_000],
  ])('are kept %s', async (_what, seconds, keptMs) => {
    const clock = new FakeClock();
    const cache = new TokenCache(clock);
    await cache.get('k', token('first', seconds));
    await clock.advance(keptMs - 1);
    expect(await cache.get('k', token('second'))).toBe('first');
    await clock.advance(1);
    expect(await cache.get('k', token('second'))).toBe('second');
  });

  it('that end at once, or are refused, or fail, are not kept', async () => {
    const cache = new TokenCache(new FakeClock());
    expect(await cache.get('k', token('short', 5))).toBe('short');
    expect(await cache.get('k', () => Promise.resolve(undefined))).toBeUndefined();
    await expect(cache.get('k', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await cache.get('k', token('next'))).toBe('next');
  });

  it('are dropped by name, so that a newer one stays', async () => {
    const cache = new TokenCache(new FakeClock());
    await cache.get('k', token('first'));
    cache.drop('k', 'other');
    expect(await cache.get('k', token('second'))).toBe('first');
    cache.drop('k', 'first');
    expect(await cache.get('k', token('second'))).toBe('second');
  });
});

describe('lists of hosts', () => {
  it.each([
    ['registry.test', 'registry.test', true],
    ['registry.test', 'registry.test:5000', true],
    ['Registry.Test:5000', 'registry.test:5000', true],
    ['registry.test:443', 'registry.test', true],
    ['registry.test:5000', 'registry.test', false],
    ['*.test', 'registry.test', true],
    ['*.test:5000', 'registry.test:5000', true],
    ['*.registry.test', 'registry.test', false],
    ['registry.test', 'evil-registry.test', false],
    ['registry.test', 'registry.test.evil', false],
    ['[::1]:5000', '[::1]:5000', true],
    ['*', 'registry.test', false],
    ['', 'registry.test', false],
  ])('%j has %s: %s', (entry, registry, has) => {
    expect(new HostList([entry]).hasRegistry(registry)).toBe(has);
  });

  it('prefer the entry that says more', () => {
    expect(new HostList(['registry.test', 'registry.test:5000', '*.test']).find('registry.test:5000')).toBe(
      'registry.test:5000',
    );
  });
});

describe('proxies', () => {
  const proxies = new Proxies({
    https: 'http://proxy.test:3128',
    except: [
      'exact.test',
      '.suffix.test',
      '*.below.test',
      'port.test:8443',
      '10.0.0.0/8',
      '192.168.1.1',
      ' ',
    ],
  });

  it.each([
    ['https://registry.test/', true],
    ['http://registry.test/', false],
    ['https://exact.test/', false],
    ['https://a.exact.test/', false],
    ['https://inexact.test/', true],
    ['https://suffix.test/', false],
    ['https://a.suffix.test/', false],
    ['https://below.test/', true],
    ['https://a.below.test/', false],
    ['https://port.test:8443/', false],
    ['https://port.test/', true],
    ['https://10.9.9.9/', false],
    ['https://[::ffff:10.9.9.9]/', false],
    ['https://192.168.1.1/', false],
    ['https://192.168.1.2/', true],
  ])('are used for %s: %s', (url, isUsed) => {
    expect(proxies.forUrl(new URL(url)) !== undefined).toBe(isUsed);
  });

  it('are used for nothing where everything is excepted', () => {
    expect(
      new Proxies({ https: 'http://p.test', except: ['*'] }).forUrl(new URL('https://a.test/')),
    ).toBeUndefined();
  });
});
