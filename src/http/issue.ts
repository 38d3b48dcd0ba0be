/**
 * Issuing certificates without openssl: a CA and leaves below it, ECDSA on P-256. The library is loaded when the
 * first certificate is issued, not at import: it costs 180 ms that a server with mounted certificates need not pay
 * (platform.md §4).
 */
import { X509Certificate, createPrivateKey, webcrypto, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import type * as X509 from '@peculiar/x509';
import { GateError, quote } from '../errors.ts';
import { inspectCertificate, type TlsPair } from './certificate.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Ten years: a CA is replaced by hand and by overlap, never by surprise (webhook-operations.md R4). */
const AUTHORITY_DAYS = 3650;
/** The shorter end of 90 days to one year (platform.md §4): renewal costs nothing, an old key does. */
const LEAF_DAYS = 90;
/** Clocks of one cluster differ: at least five minutes (webhook-operations.md R4). */
const BACK_DATE_MS = 10 * 60 * 1000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export interface AuthorityRequest {
  /** Wall-clock time, milliseconds since the Unix epoch. */
  readonly nowMs: number;
  readonly commonName?: string;
  readonly validDays?: number;
}

export interface LeafRequest {
  /** Wall-clock time, milliseconds since the Unix epoch. */
  readonly nowMs: number;
  readonly dnsNames: readonly string[];
  /** IPv4 and IPv6, without brackets. */
  readonly ipAddresses: readonly string[];
  /** @defaultValue 90; never beyond the life of the authority. */
  readonly validDays?: number;
  /** @defaultValue the first name. For a client certificate this is the user name that Kubernetes sees. */
  readonly commonName?: string;
  /** Kubernetes reads them as groups of a client certificate. */
  readonly organizations?: readonly string[];
  /** @defaultValue server */
  readonly usage?: 'server' | 'client';
}

/** Issues a self-signed CA that may sign leaves but no further CA. */
export async function issueAuthority(request: AuthorityRequest): Promise<TlsPair> {
  const x509 = await library();
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [request.commonName ?? 'pacto-gate CA'] }],
    keys,
    signingAlgorithm: ALGORITHM,
    ...validity(request.nowMs, request.validDays ?? AUTHORITY_DAYS),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certPem: `${certificate.toString('pem')}\n`, keyPem: await exportKey(x509, keys.privateKey) };
}

/**
 * Issues a leaf below `authority`.
 * @returns the leaf's certificate and key; the authority is not appended.
 * @throws GateError GATE_CONFIG_INVALID for a name or a number of days that cannot be; GATE_TLS_PAIR where the
 *   authority cannot sign: not a CA, expired, not its key, or not ECDSA P-256.
 */
export async function issueLeaf(authority: TlsPair, request: LeafRequest): Promise<TlsPair> {
  const names = alternativeNames(request);
  const x509 = await library();
  inspectCertificate(authority.certPem);
  const issuer = new x509.X509Certificate(authority.certPem);
  const signingKey = await importAuthorityKey(authority);
  checkAuthority(x509, issuer, request.nowMs);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const wanted = validity(request.nowMs, request.validDays ?? LEAF_DAYS);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subject(request),
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(Math.max(wanted.notBefore.getTime(), issuer.notBefore.getTime())),
    notAfter: new Date(Math.min(wanted.notAfter.getTime(), issuer.notAfter.getTime())),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([
        request.usage === 'client' ? x509.ExtendedKeyUsage.clientAuth : x509.ExtendedKeyUsage.serverAuth,
      ]),
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certPem: `${certificate.toString('pem')}\n`, keyPem: await exportKey(x509, keys.privateKey) };
}

async function library(): Promise<typeof X509> {
  // The library's dependency container needs this global before it is evaluated, or it throws.
  await import('reflect-metadata');
  return await import('@peculiar/x509');
}

function validity(nowMs: number, days: number): { notBefore: Date; notAfter: Date } {
  if (!Number.isFinite(days) || days <= 0) {
    throw new GateError(
      'GATE_CONFIG_INVALID',
      `certificate: ${String(days)} days of validity: need more than 0`,
    );
  }
  return { notBefore: new Date(nowMs - BACK_DATE_MS), notAfter: new Date(nowMs + days * DAY_MS) };
}

function subject(request: LeafRequest): X509.JsonName {
  const commonName = request.commonName ?? request.dnsNames[0] ?? request.ipAddresses[0] ?? '';
  // X.509 limits a common name to 64 characters (RFC 5280, ub-common-name); names are matched by SAN anyway.
  const parts: X509.JsonName = [{ CN: [commonName.slice(0, 64)] }];
  if (request.organizations !== undefined && request.organizations.length > 0) {
    parts.unshift(...request.organizations.map((organization) => ({ O: [organization] })));
  }
  return parts;
}

/** A host name of a certificate: labels of RFC 1123, the first may be `*`. */
const DNS_NAME = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i;

function alternativeNames(request: LeafRequest): X509.JsonGeneralName[] {
  for (const name of request.dnsNames) {
    if (!DNS_NAME.test(name) || name.length > 253 || isIP(name) !== 0) {
      throw new GateError(
        'GATE_CONFIG_INVALID',
        `certificate: ${quote(name)} is no DNS name: give a host name`,
      );
    }
  }
  for (const address of request.ipAddresses) {
    // A certificate holds the bytes of an address and would lose its zone (RFC 5280 §4.2.1.6).
    if (isIP(address) === 0 || address.includes('%')) {
      throw new GateError(
        'GATE_CONFIG_INVALID',
        `certificate: ${quote(address)} is no IP address${isIP(address) === 0 ? '' : ' without a zone'}: give one`,
      );
    }
  }
  const names: X509.JsonGeneralName[] = [
    ...request.dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...request.ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  if (names.length === 0 && request.usage !== 'client') {
    throw new GateError(
      'GATE_CONFIG_INVALID',
      'certificate: no DNS name and no IP address: give at least one',
    );
  }
  return names;
}

async function importAuthorityKey(authority: TlsPair): Promise<webcrypto.CryptoKey> {
  let key: KeyObject;
  let imported: webcrypto.CryptoKey;
  try {
    key = createPrivateKey(authority.keyPem);
    const der = key.export({ type: 'pkcs8', format: 'der' });
    imported = await webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']);
  } catch (error) {
    throw new GateError(
      'GATE_TLS_PAIR',
      'certificate authority: its private key cannot sign: need an unencrypted PEM key on ECDSA P-256',
      { cause: error },
    );
  }
  if (!new X509Certificate(authority.certPem).checkPrivateKey(key)) {
    throw new GateError(
      'GATE_TLS_PAIR',
      'certificate authority: the private key belongs to another certificate: give the key of this CA',
    );
  }
  return imported;
}

function checkAuthority(x509: typeof X509, issuer: X509.X509Certificate, nowMs: number): void {
  if (issuer.getExtension(x509.BasicConstraintsExtension)?.ca !== true) {
    throw new GateError(
      'GATE_TLS_PAIR',
      'certificate authority: the certificate is no CA: give a CA certificate',
    );
  }
  if (nowMs >= issuer.notAfter.getTime()) {
    throw new GateError(
      'GATE_TLS_PAIR',
      `certificate authority: expired at ${issuer.notAfter.toISOString()}: issue a new one`,
    );
  }
}

async function exportKey(x509: typeof X509, key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
