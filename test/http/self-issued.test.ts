import { describe, expect, it } from 'vitest';
import {
  inspectCertificate,
  isTrustedBy,
  type CertificateFacts,
  type TlsPair,
} from '../../src/http/certificate.ts';
import { selfIssuedTls } from '../../src/http/self-issued.ts';
import { FakeClock } from '../support/fake-clock.ts';

const HOUR = 60 * 60_000;

describe('self-issued certificates', () => {
  it('renew the leaf at two thirds of its life and keep the CA', async () => {
    const clock = new FakeClock();
    const reloads: CertificateFacts[] = [];
    const renewed = Promise.withResolvers<TlsPair>();
    const source = await selfIssuedTls({
      clock,
      dnsNames: ['localhost'],
      ipAddresses: [],
      leafDays: 1,
      onError: renewed.reject,
      onReload: (facts) => reloads.push(facts),
    });
    source.onReload(renewed.resolve);
    const first = source.current();
    const bundle = source.caBundle();
    expect(isTrustedBy(first.certPem, bundle ?? '')).toBe(true);
    // The life began ten minutes before the start: two thirds of 24 h 10 min less 10 min are 15 h 56 min 40 s.
    await clock.advance(15 * HOUR + 56 * 60_000);
    expect(source.current()).toBe(first);
    await clock.advance(60_000);
    const second = await renewed.promise;
    expect(source.current()).toBe(second);
    expect(inspectCertificate(second.certPem).fingerprint).not.toBe(
      inspectCertificate(first.certPem).fingerprint,
    );
    expect(source.caBundle()).toBe(bundle);
    expect(isTrustedBy(second.certPem, bundle ?? '')).toBe(true);
    expect(source.notAfterMs()).toBe(inspectCertificate(second.certPem).notAfterMs);
    expect(reloads).toHaveLength(1);
    source.close();
  });

  it('are not healthy once they have expired', async () => {
    const clock = new FakeClock();
    const source = await selfIssuedTls({
      clock,
      dnsNames: ['localhost'],
      ipAddresses: [],
      leafDays: 1,
      onError: () => undefined,
    });
    source.close();
    expect(source.health()).toEqual({ ok: true });
    await clock.advance(24 * HOUR);
    expect(source.health()).toEqual({
      ok: false,
      reason: 'the serving certificate expired at 2026-01-02T00:00:00.000Z',
    });
    expect(clock.waiting).toBe(0);
  });
});
