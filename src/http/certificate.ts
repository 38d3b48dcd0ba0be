/** Reading certificates with Node's own parser: what one says, and whether it and a private key may serve. */
import { X509Certificate, createPrivateKey, type KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { GateError, messageOf, type ErrorCode } from '../errors.ts';

export interface CertificateFacts {
  /** One `KEY=value` a line in the certificate, joined by commas here. Empty for a certificate without a subject. */
  readonly subject: string;
  readonly issuer: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** Milliseconds since the Unix epoch. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** For example `EC prime256v1` or `RSA 2048`. */
  readonly keyType: string;
  /** SHA-256 of the DER form, upper-case hexadecimal pairs joined by colons. */
  readonly fingerprint: string;
  readonly isCA: boolean;
  readonly serialNumber: string;
}

/**
 * Reads the first certificate of a PEM text.
 * @throws GateError GATE_TLS_PAIR when the text is no certificate.
 */
export function inspectCertificate(pem: string): CertificateFacts {
  const certificate = parseCertificate(pem, 'the certificate');
  const names = alternativeNames(certificate.subjectAltName);
  return {
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    dnsNames: names.dnsNames,
    ipAddresses: names.ipAddresses,
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
    keyType: keyType(certificate.publicKey),
    fingerprint: certificate.fingerprint256,
    isCA: certificate.ca,
    serialNumber: certificate.serialNumber,
  };
}

/** A certificate chain and its private key, both PEM. */
export interface TlsPair {
  readonly certPem: string;
  readonly keyPem: string;
}

/**
 * Checks a pair before anything serves it: Node's `setSecureContext` takes a certificate with another one's key
 * without a word and then fails every handshake (platform.md §3.4).
 * @param nowMs wall-clock time: an expired or not-yet-valid certificate is refused.
 * @param where the files, or whatever else tells an operator which pair is meant.
 * @throws GateError GATE_TLS_PAIR.
 */
export function checkPair(pair: TlsPair, nowMs: number, where: string): CertificateFacts {
  const certificate = parseCertificate(pair.certPem, where);
  let key: KeyObject;
  try {
    key = createPrivateKey(pair.keyPem);
  } catch (error) {
    throw new GateError(
      'GATE_TLS_PAIR',
      `${where}: the private key cannot be read: need an unencrypted PEM private key`,
      { cause: error },
    );
  }
  if (!certificate.checkPrivateKey(key)) {
    throw new GateError(
      'GATE_TLS_PAIR',
      `${where}: the private key belongs to another certificate: need the key that ${oneLine(certificate.subject) || 'this certificate'} was issued for`,
    );
  }
  checkUsable(pair, certificate, where);
  const facts = inspectCertificate(pair.certPem);
  if (nowMs < facts.notBeforeMs) {
    throw new GateError(
      'GATE_TLS_PAIR',
      `${where}: the certificate is not valid before ${iso(facts.notBeforeMs)} and it is ${iso(nowMs)}: check the clocks, or issue one that is valid now`,
    );
  }
  if (nowMs >= facts.notAfterMs) {
    throw new GateError(
      'GATE_TLS_PAIR',
      `${where}: the certificate expired at ${iso(facts.notAfterMs)} and it is ${iso(nowMs)}: renew it`,
    );
  }
  return facts;
}

/** What the API server's TLS (Go's crypto/tls) can verify; with any other curve every handshake fails. */
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const KEY_TYPES: ReadonlySet<string> = new Set(['rsa', 'rsa-pss', 'ec', 'ed25519']);

/** The whole chain is readable, and TLS takes it: a weak key or a broken intermediate shows only there. */
function checkUsable(pair: TlsPair, certificate: X509Certificate, where: string): void {
  checkBundle(pair.certPem, where, 'GATE_TLS_PAIR');
  const { asymmetricKeyType = '', asymmetricKeyDetails } = certificate.publicKey;
  const curve = asymmetricKeyDetails?.namedCurve;
  if (!KEY_TYPES.has(asymmetricKeyType) || (asymmetricKeyType === 'ec' && !CURVES.has(curve ?? ''))) {
    throw new GateError(
      'GATE_TLS_PAIR',
      `${where}: the API server cannot verify a key of type ${keyType(certificate.publicKey)}: need RSA of at least 2048 bits, ECDSA with P-256, P-384 or P-521, or Ed25519`,
    );
  }
  try {
    createSecureContext({ cert: pair.certPem, key: pair.keyPem });
  } catch (error) {
    throw new GateError(
      'GATE_TLS_PAIR',
      `${where}: TLS does not take it: ${messageOf(error)}: need another pair`,
      {
        cause: error,
      },
    );
  }
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const PEM_MARK = /-----(?:BEGIN|END) CERTIFICATE-----/g;

/**
 * Checks that every certificate of a CA bundle can be read.
 * @returns how many there are, at least one.
 * @throws GateError with `code`.
 */
export function checkBundle(pem: string, where: string, code: ErrorCode = 'GATE_TLS_FILE'): number {
  const blocks = pem.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new GateError(code, `${where}: holds no PEM certificate: need a CA bundle`);
  // What lies between two marks that do not match would be passed over in silence.
  const marks = pem.match(PEM_MARK) ?? [];
  if (marks.length !== 2 * blocks.length)
    throw new GateError(
      code,
      `${where}: a PEM certificate is not whole (found ${String(marks.length)} marks of BEGIN or END, need ${String(2 * blocks.length)}): get the file again`,
    );
  for (const [index, block] of blocks.entries()) {
    try {
      // Parsed for its error alone.
      void new X509Certificate(block).serialNumber;
    } catch (error) {
      throw new GateError(
        code,
        `${where}: certificate ${String(index + 1)} of ${String(blocks.length)} cannot be read: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }
  return blocks.length;
}

/**
 * The certificates of a bundle alone, each on lines of its own. Files that were put together without a last newline
 * have two blocks on one line: we read them, and Go, which the API server is written in, reads none of them.
 */
export function plainBundle(pem: string): string {
  return (pem.match(PEM_CERTIFICATE) ?? []).map((block) => `${block}\n`).join('');
}

/**
 * A bundle as it is to be published in webhook configurations: its certificates, and nothing else.
 *
 * @throws GateError as checkBundle, and with `code` for a private key beside the certificates: it would be published to
 *   everybody who may read webhook configurations
 */
export function publicBundle(pem: string, where: string, code: ErrorCode = 'GATE_TLS_FILE'): string {
  checkBundle(pem, where);
  if (pem.includes('PRIVATE KEY'))
    throw new GateError(code, `${where}: holds a private key: give the CA certificates alone`);
  return plainBundle(pem);
}

/** Longer chains than a leaf, some intermediates and a root are somebody's mistake. */
const CHAIN_LENGTH = 8;

/**
 * Whether a caller that trusts `bundlePem` alone trusts a server with the chain `certPem` (webhook-operations.md R5:
 * ready only by what is published). Names and usages are left to the callers' own check.
 */
export function isTrustedBy(certPem: string, bundlePem: string): boolean {
  const [leaf, ...intermediates] = certificatesOf(certPem);
  const roots = certificatesOf(bundlePem);
  let current = leaf;
  for (let length = 0; current !== undefined && length < CHAIN_LENGTH; length++) {
    const signed: X509Certificate = current;
    if (roots.some((root) => root.fingerprint256 === signed.fingerprint256 || issued(root, signed)))
      return true;
    current = intermediates.find((candidate) => issued(candidate, signed));
  }
  return false;
}

function certificatesOf(pem: string): X509Certificate[] {
  return (pem.match(PEM_CERTIFICATE) ?? []).map((block) => new X509Certificate(block));
}

function issued(issuer: X509Certificate, subject: X509Certificate): boolean {
  return subject.checkIssued(issuer) && subject.verify(issuer.publicKey);
}

function parseCertificate(pem: string, where: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new GateError(
      'GATE_TLS_PAIR',
      `${where}: holds no readable PEM certificate: need a certificate chain`,
      {
        cause: error,
      },
    );
  }
}

/** Node prints a name as `C=DE\nCN=x`. */
function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').join(',');
}

/**
 * Takes apart Node's `DNS:a, IP Address:10.0.0.1, DNS:"quoted, name"`. A name that Node had to quote is left out:
 * it holds characters that no host name can hold.
 */
function alternativeNames(text: string | undefined): { dnsNames: string[]; ipAddresses: string[] } {
  const dnsNames: string[] = [];
  const ipAddresses: string[] = [];
  for (const part of (text ?? '').split(', ')) {
    if (part.startsWith('DNS:') && !part.includes('"')) dnsNames.push(part.slice('DNS:'.length));
    if (part.startsWith('IP Address:')) ipAddresses.push(part.slice('IP Address:'.length));
  }
  return { dnsNames, ipAddresses };
}

function keyType(key: KeyObject): string {
  const details = key.asymmetricKeyDetails;
  const kind = (key.asymmetricKeyType ?? 'unknown').toUpperCase();
  if (details?.namedCurve !== undefined) return `${kind} ${details.namedCurve}`;
  if (details?.modulusLength !== undefined) return `${kind} ${String(details.modulusLength)}`;
  return kind;
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
