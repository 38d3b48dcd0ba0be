/** The keys, certificates and kubeconfigs of one control plane, as files in its folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, createSigningKey, type Authority, type CertificatePair } from './certificates.ts';

/** Paths of what the API server and the controller manager are started with. */
export interface CredentialFiles {
  readonly caFile: string;
  readonly requestHeaderCaFile: string;
  readonly servingCertificateFile: string;
  readonly servingKeyFile: string;
  readonly frontProxyCertificateFile: string;
  readonly frontProxyKeyFile: string;
  readonly serviceAccountPrivateKeyFile: string;
  readonly serviceAccountPublicKeyFile: string;
}

export interface Credentials {
  readonly files: CredentialFiles;
  readonly authority: Authority;
  /** A client certificate in group `system:masters`: RBAC is not asked. */
  readonly admin: CertificatePair;
}

/** The API server's names as Pods and tests know it. The first service address is 10.0.0.1 of 10.0.0.0/24. */
const SERVER_NAMES = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
const SERVER_ADDRESSES = ['127.0.0.1', '10.0.0.1'];

/** The only common name that the API server believes X-Remote-* headers from. */
export const FRONT_PROXY_NAME = 'front-proxy';

/** Makes everything new and writes it below `directory`/pki. */
export async function createCredentials(directory: string): Promise<Credentials> {
  const pki = join(directory, 'pki');
  mkdirSync(pki, { mode: 0o700 });
  const write = (name: string, content: string): string => {
    const file = join(pki, name);
    writeFileSync(file, content, { mode: 0o600 });
    return file;
  };
  const authority = await createAuthority('test-cluster-ca');
  // One of its own: a client certificate of the cluster's CA must not pass as the front proxy.
  const requestHeaderAuthority = await createAuthority('test-front-proxy-ca');
  const serving = await authority.issue({
    commonName: 'kube-apiserver',
    dnsNames: SERVER_NAMES,
    ipAddresses: SERVER_ADDRESSES,
  });
  const frontProxy = await requestHeaderAuthority.issue({ commonName: FRONT_PROXY_NAME });
  const signing = await createSigningKey();
  const admin = await authority.issue({ commonName: 'admin', organizations: ['system:masters'] });
  return {
    authority,
    admin,
    files: {
      caFile: write('ca.crt', authority.certificate),
      requestHeaderCaFile: write('front-proxy-ca.crt', requestHeaderAuthority.certificate),
      servingCertificateFile: write('apiserver.crt', serving.certificate),
      servingKeyFile: write('apiserver.key', serving.key),
      frontProxyCertificateFile: write('front-proxy.crt', frontProxy.certificate),
      frontProxyKeyFile: write('front-proxy.key', frontProxy.key),
      serviceAccountPrivateKeyFile: write('service-account.key', signing.privateKey),
      serviceAccountPublicKeyFile: write('service-account.pub', signing.publicKey),
    },
  };
}

/** Who a kubeconfig speaks as: a certificate, a bearer token, or nobody. */
export type KubeconfigUser = CertificatePair | { readonly token: string } | undefined;

/** Writes a kubeconfig with everything embedded. JSON is YAML, and every client reads it. */
export function writeKubeconfig(
  file: string,
  server: string,
  caCertificate: string,
  user: KubeconfigUser,
): string {
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(caCertificate) } }],
    users: [{ name: 'test', user: describeUser(user) }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'default' } }],
    'current-context': 'test',
  };
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  return file;
}

function describeUser(user: KubeconfigUser): Record<string, string> {
  if (user === undefined) return {};
  if ('token' in user) return { token: user.token };
  return { 'client-certificate-data': base64(user.certificate), 'client-key-data': base64(user.key) };
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
