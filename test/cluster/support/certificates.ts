/** Throw-away certificates for a test's control plane and webhooks: made in memory, ECDSA P-256, a day long. */
// The library's dependency injection reads decorators' metadata and needs this first.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
  type Extension,
  type JsonGeneralNames,
  type X509Certificate,
} from '@peculiar/x509';

/** A certificate with its private key, both PEM (the key as PKCS #8). */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

/** What a leaf certificate says. */
export interface LeafOptions {
  /** Common name: the user name, where the certificate authenticates a client of the API server. */
  readonly commonName: string;
  /** Organizations: the groups of that user. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** A certificate authority that lives as long as the test. */
export interface Authority {
  /** Its own certificate, PEM: a `caBundle` before base64. */
  readonly certificate: string;
  /** Issues a pair good for both ends of TLS: server and client authentication. */
  issue(options: LeafOptions): Promise<CertificatePair>;
}

type KeyPair = webcrypto.CryptoKeyPair;

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Set back, so that a clock a little behind (a container's, a fake's) still accepts the certificate. */
const BACKDATE_MS = 3_600_000;
const LIFETIME_MS = 24 * 3_600_000;

/** Makes a self-signed authority. */
export async function createAuthority(commonName: string): Promise<Authority> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: distinguishedName({ commonName }),
    keys,
    ...validity(),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    certificate: certificate.toString('pem'),
    issue: (options) => issue(certificate, keys, options),
  };
}

async function issue(
  issuer: X509Certificate,
  issuerKeys: KeyPair,
  options: LeafOptions,
): Promise<CertificatePair> {
  const keys = await generateKeys();
  const extensions: Extension[] = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
    await AuthorityKeyIdentifierExtension.create(issuerKeys.publicKey),
  ];
  const names = subjectAlternativeNames(options);
  if (names.length > 0) extensions.push(new SubjectAlternativeNameExtension(names));
  const certificate = await X509CertificateGenerator.create({
    subject: distinguishedName(options),
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: issuerKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    ...validity(),
    extensions,
  });
  return { certificate: certificate.toString('pem'), key: await exportKey('pkcs8', keys.privateKey) };
}

/** A key pair to sign service account tokens with; the API server wants the public half as SPKI. */
export async function createSigningKey(): Promise<{
  readonly privateKey: string;
  readonly publicKey: string;
}> {
  const keys = await generateKeys();
  return {
    privateKey: await exportKey('pkcs8', keys.privateKey),
    publicKey: await exportKey('spki', keys.publicKey),
  };
}

function generateKeys(): Promise<KeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function exportKey(format: 'pkcs8' | 'spki', key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey(format, key)).toString('base64');
  const label = format === 'pkcs8' ? 'PRIVATE KEY' : 'PUBLIC KEY';
  // RFC 7468: lines of 64 characters.
  const lines = der.match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** As the library's JSON form, so that a name with a comma or an equals sign needs no escaping. */
function distinguishedName({ commonName, organizations = [] }: LeafOptions): Record<string, string[]>[] {
  return [...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }];
}

function subjectAlternativeNames({ dnsNames = [], ipAddresses = [] }: LeafOptions): JsonGeneralNames {
  return [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
}

function validity(): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - BACKDATE_MS), notAfter: new Date(now + LIFETIME_MS) };
}
