/** Command lines of the control plane's three servers; why each is what it is stands beside it. */
import { FRONT_PROXY_NAME, type CredentialFiles } from './credentials.ts';

export interface ApiServerSettings {
  readonly port: number;
  readonly etcdUrl: string;
  readonly certificateDirectory: string;
  readonly credentials: CredentialFiles;
  readonly auditPolicyFile: string;
  readonly auditLogFile: string;
  readonly disabledAdmissionPlugins: readonly string[];
  readonly extra: readonly string[];
}

/** etcd on loopback, without the disk flushes that only matter when the machine loses power. */
export function etcdArguments(directory: string, clientUrl: string, peerUrl: string): string[] {
  return [
    '--name=test',
    `--data-dir=${directory}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=test=${peerUrl}`,
    '--unsafe-no-fsync',
    '--log-level=error',
  ];
}

/** kube-apiserver of either minor. `extra` comes last: the last value of a flag wins. */
export function apiServerArguments(settings: ApiServerSettings): string[] {
  const { credentials } = settings;
  return [
    `--etcd-servers=${settings.etcdUrl}`,
    `--secure-port=${settings.port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--cert-dir=${settings.certificateDirectory}`,
    `--tls-cert-file=${credentials.servingCertificateFile}`,
    `--tls-private-key-file=${credentials.servingKeyFile}`,
    `--client-ca-file=${credentials.caFile}`,
    `--service-account-key-file=${credentials.serviceAccountPublicKeyFile}`,
    `--service-account-signing-key-file=${credentials.serviceAccountPrivateKeyFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=Node,RBAC',
    '--allow-privileged',
    ...(settings.disabledAdmissionPlugins.length > 0
      ? [`--disable-admission-plugins=${settings.disabledAdmissionPlugins.join(',')}`]
      : []),
    // Nobody may be told to reach this server by its service address: there is no proxy to carry that.
    '--endpoint-reconciler-type=none',
    `--requestheader-client-ca-file=${credentials.requestHeaderCaFile}`,
    `--requestheader-allowed-names=${FRONT_PROXY_NAME}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${credentials.frontProxyCertificateFile}`,
    `--proxy-client-key-file=${credentials.frontProxyKeyFile}`,
    `--audit-policy-file=${settings.auditPolicyFile}`,
    `--audit-log-path=${settings.auditLogFile}`,
    // By default an orderly stop waits up to a minute for clients to end their watches; they never do.
    '--shutdown-watch-termination-grace-period=1s',
    // Megabytes. The default rotates after 100, and a test reads one file.
    '--audit-log-maxsize=10000',
    ...settings.extra,
  ];
}

/**
 * Without the controllers that judge Nodes and Pods by their kubelet: there is none, so they would mark every Node
 * unreachable after 40 s, undo the Pod status that a test wrote, and delete Pods whose Node is not there.
 */
const DISABLED_CONTROLLERS = [
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'pod-garbage-collector-controller',
];

export function controllerManagerArguments(
  kubeconfig: string,
  port: number,
  certificateDirectory: string,
  credentials: CredentialFiles,
): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${certificateDirectory}`,
    `--root-ca-file=${credentials.caFile}`,
    `--service-account-private-key-file=${credentials.serviceAccountPrivateKeyFile}`,
    // As in real clusters: each controller acts under an account of its own, which policies may name.
    '--use-service-account-credentials',
    '--leader-elect=false',
    `--controllers=${['*', ...DISABLED_CONTROLLERS.map((name) => `-${name}`)].join(',')}`,
  ];
}
