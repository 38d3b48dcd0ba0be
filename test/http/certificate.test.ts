import { generateKeyPairSync, webcrypto, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  checkBundle,
  plainBundle,
  checkPair,
  inspectCertificate,
  isTrustedBy,
  type TlsPair,
} from '../../src/http/certificate.ts';
import { issueAuthority, issueLeaf } from '../../src/http/issue.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** With a key that the issuing of this project never makes. */
async function selfSigned(algorithm: RsaHashedKeyGenParams): Promise<TlsPair> {
  await import('reflect-metadata');
  const { X509CertificateGenerator } = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=made elsewhere',
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(NOW - DAY),
    notAfter: new Date(NOW + DAY),
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const body = Buffer.from(key).toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    certPem: certificate.toString('pem'),
    keyPem: `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`,
  };
}

let authority: TlsPair;
let leaf: TlsPair;
let weak: TlsPair;

beforeAll(async () => {
  authority = await issueAuthority({ nowMs: NOW });
  weak = await selfSigned({
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength: 1024,
  });
  leaf = await issueLeaf(authority, {
    nowMs: NOW,
    dnsNames: ['gate.pacto.svc', 'gate.pacto.svc.cluster.local'],
    ipAddresses: ['127.0.0.1', '::1'],
  });
});

describe('issued certificates', () => {
  it('have a CA that signs for ten years and is dated back by ten minutes', () => {
    expect(inspectCertificate(authority.certPem)).toMatchObject({
      subject: 'CN=pacto-gate CA',
      issuer: 'CN=pacto-gate CA',
      isCA: true,
      keyType: 'EC prime256v1',
      dnsNames: [],
      ipAddresses: [],
      notBeforeMs: NOW - 10 * MINUTE,
      notAfterMs: NOW + 3650 * DAY,
    });
  });

  it('have a leaf apart from it, for 90 days, with every name and address', () => {
    expect(inspectCertificate(leaf.certPem)).toMatchObject({
      subject: 'CN=gate.pacto.svc',
      issuer: 'CN=pacto-gate CA',
      isCA: false,
      keyType: 'EC prime256v1',
      dnsNames: ['gate.pacto.svc', 'gate.pacto.svc.cluster.local'],
      ipAddresses: ['127.0.0.1', '0:0:0:0:0:0:0:1'],
      notBeforeMs: NOW - 10 * MINUTE,
      notAfterMs: NOW + 90 * DAY,
    });
    expect(new X509Certificate(leaf.certPem).keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(isTrustedBy(leaf.certPem, authority.certPem)).toBe(true);
  });

  it('never outlive their CA', async () => {
    const short = await issueAuthority({ nowMs: NOW, validDays: 1 });
    const { certPem } = await issueLeaf(short, {
      nowMs: NOW,
      dnsNames: ['a'],
      ipAddresses: [],
      validDays: 365,
    });
    expect(inspectCertificate(certPem).notAfterMs).toBe(NOW + DAY);
  });

  it('name a user and groups in a client certificate', async () => {
    const client = await issueLeaf(authority, {
      nowMs: NOW,
      dnsNames: [],
      ipAddresses: [],
      usage: 'client',
      commonName: 'alice',
      organizations: ['system:masters', 'other'],
    });
    expect(inspectCertificate(client.certPem).subject).toBe('O=system:masters,O=other,CN=alice');
    expect(new X509Certificate(client.certPem).keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  it.each([
    [{ dnsNames: ['a b'], ipAddresses: [] }, 'certificate: "a b" is no DNS name: give a host name'],
    [{ dnsNames: ['10.0.0.1'], ipAddresses: [] }, 'certificate: "10.0.0.1" is no DNS name: give a host name'],
    [{ dnsNames: [''], ipAddresses: [] }, 'certificate: "" is no DNS name: give a host name'],
    [{ dnsNames: [], ipAddresses: ['10.0.0'] }, 'certificate: "10.0.0" is no IP address: give one'],
    [
      { dnsNames: [], ipAddresses: ['fe80::1%eth0'] },
      'certificate: "fe80::1%eth0" is no IP address without a zone: give one',
    ],
    [{ dnsNames: [], ipAddresses: [] }, 'certificate: no DNS name and no IP address: give at least one'],
    [{ dnsNames: ['a'], ipAddresses: [], validDays: 0 }, 'certificate: 0 days of validity: need more than 0'],
  ])('are denied for %j', async (request, message) => {
    await expect(issueLeaf(authority, { nowMs: NOW, ...request })).rejects.toMatchObject({
      code: 'GATE_CONFIG_INVALID',
      message,
    });
  });

  it('are denied below what cannot sign', async () => {
    const names = { nowMs: NOW, dnsNames: ['a'], ipAddresses: [] };
    const other = await issueAuthority({ nowMs: NOW });
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const cases: [TlsPair, RegExp][] = [
      [leaf, /the certificate is no CA/],
      [{ ...authority, keyPem: other.keyPem }, /the private key belongs to another certificate/],
      [{ ...authority, keyPem: rsa.export({ type: 'pkcs8', format: 'pem' }).toString() }, /on ECDSA P-256/],
      [{ ...authority, keyPem: 'nonsense' }, /cannot sign/],
      [{ ...authority, certPem: 'nonsense' }, /holds no readable PEM certificate/],
      [await issueAuthority({ nowMs: NOW - 10 * DAY, validDays: 1 }), /expired at 2026-05-23T12:00:00.000Z/],
    ];
    for (const [below, message] of cases) {
      await expect(issueLeaf(below, names)).rejects.toMatchObject({
        code: 'GATE_TLS_PAIR',
        message: expect.stringMatching(message) as string,
      });
    }
  });
});

describe('the check of a pair', () => {
  it('allows the certificate with its own key', () => {
    expect(checkPair(leaf, NOW, 'here').subject).toBe('CN=gate.pacto.svc');
  });

  it.each([
    [
      "another certificate's key",
      () => ({ ...leaf, keyPem: authority.keyPem }),
      NOW,
      'here: the private key belongs to another certificate: need the key that CN=gate.pacto.svc was issued for',
    ],
    [
      'no key',
      () => ({ ...leaf, keyPem: '' }),
      NOW,
      'here: the private key cannot be read: need an unencrypted PEM private key',
    ],
    [
      'a certificate cut short',
      () => ({ ...leaf, certPem: leaf.certPem.slice(0, 300) }),
      NOW,
      'here: holds no readable PEM certificate: need a certificate chain',
    ],
    [
      'one that is not valid yet',
      () => leaf,
      NOW - 10 * MINUTE - 1,
      'here: the certificate is not valid before 2026-06-01T11:50:00.000Z and it is 2026-06-01T11:49:59.999Z: check the clocks, or issue one that is valid now',
    ],
    [
      'one that expired',
      () => leaf,
      NOW + 90 * DAY,
      'here: the certificate expired at 2026-08-30T12:00:00.000Z and it is 2026-08-30T12:00:00.000Z: renew it',
    ],
    [
      'a chain whose second certificate is broken',
      () => ({ ...leaf, certPem: `${leaf.certPem}${authority.certPem.replace(/^M.*$/m, 'AAAA')}` }),
      NOW,
      expect.stringMatching(/^here: certificate 2 of 2 cannot be read: /) as string,
    ],
    [
      'a key that is too weak for TLS',
      () => weak,
      NOW,
      expect.stringMatching(/^here: TLS does not take it: .*key too small.*: need another pair$/) as string,
    ],
  ])('denies %s', (_what, pair, nowMs, message) => {
    expect(() => checkPair(pair(), nowMs, 'here')).toThrow(
      expect.objectContaining({ code: 'GATE_TLS_PAIR', message }),
    );
  });
});

describe('a CA bundle', () => {
  it('allows several certificates and denies none at all or a broken one', async () => {
    const other = await issueAuthority({ nowMs: NOW });
    expect(checkBundle(authority.certPem + other.certPem, 'ca.crt')).toBe(2);
    expect(() => checkBundle('', 'ca.crt')).toThrow('ca.crt: holds no PEM certificate: need a CA bundle');
    const broken = `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
    expect(() => checkBundle(`${authority.certPem}\n${broken}`, 'ca.crt')).toThrow(
      /^ca.crt: certificate 2 of 2 cannot be read: /,
    );
  });

  it('allows blocks that were joined without a line feed', () => {
    expect(checkBundle(`${authority.certPem.trim()}${leaf.certPem}`, 'here')).toBe(2);
  });

  it('is written so that Go reads it, whatever stands around its certificates', async () => {
    const [one, two] = [authority.certPem.trim(), (await issueAuthority({ nowMs: NOW })).certPem.trim()];
    expect(plainBundle(`# ours\n${one}${two}`)).toBe(`${one}\n${two}\n`);
    expect(plainBundle(`${one}\n`)).toBe(`${one}\n`);
  });

  it('vouches for a leaf below one of its CAs, for itself, and for nobody else', async () => {
    const other = await issueAuthority({ nowMs: NOW });
    expect(isTrustedBy(leaf.certPem, `${other.certPem}\n${authority.certPem}`)).toBe(true);
    expect(isTrustedBy(leaf.certPem, leaf.certPem)).toBe(true);
    // The same subject name, another key.
    expect(isTrustedBy(leaf.certPem, other.certPem)).toBe(false);
    expect(isTrustedBy(leaf.certPem, '')).toBe(false);
  });
});
