/** Certificates for tests, issued in memory: no key lies in the repository (style.md H20). */
import { X509Certificate } from 'node:crypto';
import { systemClock } from '../../src/clock.ts';
import { inspectCertificate, type TlsPair } from '../../src/http/certificate.ts';
import { issueAuthority, issueLeaf, type LeafRequest } from '../../src/http/issue.ts';
import type { TlsSource } from '../../src/http/tls.ts';

export interface TestTls {
  readonly authority: TlsPair;
  /** PEM; what a client of the test trusts. */
  readonly ca: string;
  readonly pair: TlsPair;
  /** A server certificate source for `localhost`, `127.0.0.1` and `::1`. */
  readonly source: TlsSource;
}

/** One a worker: issuing takes some 200 ms the first time. */
let shared: Promise<TestTls> | undefined;

/** The CA and server certificate that all tests of one worker share. */
export function testTls(): Promise<TestTls> {
  shared ??= newTestTls();
  return shared;
}

/** A CA of its own, for tests of foreign certificates and of rotation. */
export async function newTestTls(commonName = 'test CA'): Promise<TestTls> {
  const authority = await issueAuthority({ nowMs: systemClock.now(), commonName });
  const pair = await serverPair(authority);
  return { authority, ca: authority.certPem, pair, source: fixedTls(pair, authority.certPem) };
}

/** A server certificate for loopback; `overrides` makes the one a test is about. */
export function serverPair(authority: TlsPair, overrides: Partial<LeafRequest> = {}): Promise<TlsPair> {
  return issueLeaf(authority, {
    nowMs: systemClock.now(),
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1', '::1'],
    ...overrides,
  });
}

/** A client certificate: `name` is the user that Kubernetes would see. */
export function clientPair(
  authority: TlsPair,
  name: string,
  organizations: readonly string[] = [],
): Promise<TlsPair> {
  return issueLeaf(authority, {
    nowMs: systemClock.now(),
    dnsNames: [],
    ipAddresses: [],
    usage: 'client',
    commonName: name,
    organizations,
  });
}

/** A source that never changes. */
function fixedTls(pair: TlsPair, ca?: string): TlsSource {
  const facts = inspectCertificate(pair.certPem);
  return {
    current: () => pair,
    caBundle: () => ca,
    notAfterMs: () => facts.notAfterMs,
    health: () => ({ ok: true }),
    onReload: () => () => undefined,
    close: () => undefined,
  };
}

/** For assertions on which certificate a connection was answered with. */
export function fingerprintOf(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}
