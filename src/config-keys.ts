/**
 * The keys of the configuration, each with its schema, default and description: the one place where a key is added.
 * Flag, environment variable and documentation are derived from its path.
 */
import * as z from 'zod';

import {
  choice,
  count,
  flag,
  list,
  optional,
  optionalText,
  port,
  rowsOf,
  type Key,
  type KeyRow,
} from './config-keys-kinds.ts';
import { DELIVERY_KEYS } from './config-keys-delivery.ts';
import { RECONCILER_KEYS } from './config-keys-reconciler.ts';
import { REGISTRY_KEYS } from './config-keys-registry.ts';
import {
  KUBERNETES_MINOR,
  label,
  namespacedName,
  paramKind,
  POLICY_MINOR,
  serverUrl,
  serviceName,
  word,
} from './config-keys-texts.ts';

const failurePolicy = (of: string): Key<z.ZodType<'Fail' | 'Ignore'>> =>
  choice(
    ['Fail', 'Ignore'],
    'Fail',
    `What happens to a request that ${of} could not answer, in the generated entry and in our own answer.`,
  );

export const KEYS = {
  roles: list(
    z.enum(['webhooks', 'reconciler', 'installer']),
    ['webhooks', 'reconciler'],
    'webhooks, reconciler or installer',
    'What this process does: webhooks answers admission reviews, reconciler keeps the verdicts of Pactos. installer ' +
      'stands alone: it writes what the webhooks must not be able to write.',
  ),
  state: choice(
    ['cached', 'live'],
    'cached',
    'How decisions read the cluster: through watches that keep what they need, or by one read when asked.',
  ),
  cluster: {
    source: choice(
      ['auto', 'in-cluster', 'kubeconfig', 'directory', 'none'],
      'auto',
      'Where the cluster is. auto takes the first of: cluster.directory, cluster.kubeconfig or cluster.context, ' +
        'KUBECONFIG, the ServiceAccount of the Pod this runs in, none.',
    ),
    kubeconfig: optionalText(
      'a file name',
      'Kubeconfig file. Default: KUBECONFIG, then .kube/config in HOME.',
    ),
    context: optionalText('a context name', 'Context of the kubeconfig. Default: its current one.'),
    directory: optionalText(
      'a directory name',
      'Directory of YAML and JSON files that stand for the cluster, watched for changes. A file that breaks keeps ' +
        'its last good objects; of one that was never good nobody knows what it holds, so look-ups that find nothing ' +
        'fail until it is mended (GATE_DIRECTORY).',
    ),
    directoryVersion: {
      schema: z.string().regex(KUBERNETES_MINOR).optional(),
      kind: 'text',
      fallback: undefined,
      // YAML reads 1.30 without quotes as the number 1.3.
      need: 'a version like "1.29", in a file within quotes',
      text: 'Kubernetes version that cluster.directory stands for, which identity.podLookup auto asks for. Default: 1.36.',
    },
  },
  webhooks: {
    host: optionalText(
      'an address',
      'Address of the HTTPS admission listener. Default: all addresses inside a Pod, 127.0.0.1 elsewhere.',
    ),
    port: port(9443, 'Port of the HTTPS admission listener.'),
    auth: choice(
      ['none', 'clientCA', 'bearer'],
      'none',
      'How the API server proves who it is: not at all, by a client certificate, or by a token that the cluster ' +
        'vouches for, which a directory or no cluster cannot.',
    ),
    clientCAFile: optionalText('a file name', 'CA certificates, PEM, that client certificates must lead to.'),
    bearer: {
      usernames: list(word, [], 'user names', 'Users whose token may call the admission listener.'),
      audience: optionalText(
        'an audience',
        'Audience that the token must carry. Default: that of the API server.',
      ),
    },
    networkPolicyDeclared: flag(
      false,
      'Says that a NetworkPolicy lets only the API server reach the admission listener: no warning for auth none.',
    ),
    maxConcurrent: count(128, 1, 10_000, 'Reviews decided at the same time.'),
    maxQueued: count(
      512,
      0,
      100_000,
      'Reviews that wait beyond those; the next one is answered as overloaded.',
    ),
    maxBytesInFlight: count(
      64 * 1024 * 1024,
      // The share of the small ones, and one review of the largest size.
      16 * 1024 * 1024,
      4 * 1024 * 1024 * 1024,
      'Bytes of review bodies held at the same time. 8 MiB of them are for reviews of at most 64 KiB.',
    ),
    maxConnections: count(1024, 1, 100_000, 'Open connections; the next one is closed at once.'),
    drainSeconds: count(
      5,
      0,
      300,
      'After SIGTERM, SIGINT or SIGHUP: how long requests are still served, with Connection: close, while readiness is off.',
    ),
  },
  tls: {
    certFile: optionalText(
      'a file name',
      'Certificate chain, PEM, read again when it changes. Default: a self-issued one, made at start.',
    ),
    keyFile: optionalText('a file name', 'Private key of tls.certFile, PEM.'),
    dnsNames: list(word, ['localhost'], 'DNS names', 'DNS names in the self-issued certificate.'),
    ipAddresses: list(
      z.union([z.ipv4(), z.ipv6()]),
      ['127.0.0.1', '::1'],
      'IP addresses',
      'IP addresses in the self-issued certificate.',
    ),
    caOutFile: optionalText(
      'a file name',
      'Where the CA certificate of the self-issued certificate is written at start, PEM. No key is ever written.',
    ),
  },
  metrics: {
    enabled: flag(true, 'Serves Prometheus metrics.'),
    host: optionalText('an address', 'Address of the metrics listener. Default: as webhooks.host.'),
    port: port(8443, 'Port of the metrics listener.'),
    plain: {
      schema: z.boolean().optional(),
      kind: 'boolean',
      fallback: undefined,
      need: 'true or false',
      text:
        'Serves metrics over HTTP and to anybody, on a loopback address only. Otherwise over HTTPS, to callers that ' +
        'the cluster lets read /metrics. Default: true on a loopback address where the cluster is a directory or ' +
        'none, which can vouch for nobody, else false.',
    },
  },
  health: {
    host: optionalText('an address', 'Address of the probes. Default: as webhooks.host.'),
    port: port(8081, 'Port of the probes, /livez and /readyz.'),
  },
  log: {
    level: choice(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'info',
      'Least level logged.',
    ),
    format: choice(['auto', 'json', 'pretty'], 'auto', 'auto is pretty on a terminal and json elsewhere.'),
  },
  identity: {
    enabled: flag(
      true,
      'Node identity: an agent writes only the objects of its own node. false switches off all three of its rules, ' +
        'those for tokens and Pods of agent accounts too, whatever identity.tokens and identity.pods say.',
    ),
    agents: list(
      namespacedName,
      ['pacto-node-agent/pacto-node-agent'],
      'namespace/serviceAccount',
      'ServiceAccounts of node agents. Other users are never refused by the rule.',
    ),
    namespaces: list(
      label,
      [],
      'namespaces',
      'Namespaces in which agents may keep Leases and NodeRuntimeObservations. Default: each agent in its own.',
    ),
    podLookup: choice(
      ['auto', 'always', 'never'],
      'auto',
      'Whether the Pod is looked up where the token names no node. auto: on API servers older than 1.30 only.',
    ),
    requirePodClaims: flag(false, 'Refuses tokens that are bound to a Node and not to a Pod.'),
    requireNodeUid: flag(false, 'Refuses tokens whose node uid is missing or not that of the live Node.'),
    failurePolicy: failurePolicy('node identity'),
    tokens: {
      enabled: flag(true, 'Refuses tokens of agent accounts that are not asked for by a kubelet for a Pod.'),
      failurePolicy: failurePolicy('the token rule'),
    },
    pods: {
      enabled: flag(true, 'Refuses Pods with an agent account that their DaemonSet did not make.'),
      failurePolicy: failurePolicy('the Pod rule'),
      controllerUsernames: list(
        word,
        ['system:serviceaccount:kube-system:daemon-set-controller'],
        'user names',
        'Users that may create Pods with an agent account: the DaemonSet controller.',
      ),
      daemonSets: list(
        namespacedName,
        [],
        'namespace/name',
        'DaemonSets whose Pods may use an agent account. Default: one of the same namespace and name as each agent.',
      ),
    },
  },
  policies: {
    sources: list(
      z.enum(['configMaps', 'customResources']),
      [],
      'configMaps or customResources',
      'Where policies come from in the cluster, beside policies.files and policies.directory: ConfigMaps with the ' +
        'label gate.pacto.trianalab.io/policies "true" in policies.namespaces; ValidatingAdmissionPolicies and their ' +
        'bindings of the group gate.pacto.trianalab.io. Of one name the first counts: files before custom resources ' +
        'before ConfigMaps.',
    ),
    namespaces: list(
      label,
      [],
      'namespaces',
      'Namespaces whose ConfigMaps may hold policies: whoever may write ConfigMaps there writes policies. Default: ' +
        'the namespace that this runs in (POD_NAMESPACE); for generate and preflight that of the gate.',
    ),
    files: list(
      word,
      [],
      'file names',
      'Files with ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding objects, YAML or JSON, that are ' +
        'enforced on /validate/policies/{policy}. Read once, at start.',
    ),
    directory: optionalText(
      'a directory name',
      'Directory of such files. Objects of other kinds in it are passed over, so that policies may lie beside their tests; a file that holds no Kubernetes objects is refused.',
    ),
    compatibilityVersion: {
      schema: z.string().regex(POLICY_MINOR),
      kind: 'text',
      fallback: '1.36',
      need: 'a version from "1.26" to "1.37", in a file within quotes',
      text: 'Release of the API server that policies are evaluated as: what CEL has in it, and how answers look.',
    },
    paramKinds: list(
      paramKind,
      [],
      'kinds other than Secret, such as v1/ConfigMap or group/version/Kind[:plural][:Cluster]',
      'Kinds that policies may have as paramKind; they are watched, or read when needed with state live. :Cluster is for kinds without ' +
        'namespaces, :plural for kinds whose resource is not their name with an s.',
    ),
    excludedNamespaces: list(
      label,
      // webhook-operations.md R1.
      ['kube-system', 'kube-public', 'kube-node-lease'],
      'namespaces',
      'Namespaces that the generated entries of policies never reach, beside that of the gate itself: what the ' +
        'cluster needs to recover lives there. Each one taken out of the list can lock the cluster.',
    ),
    enforcement: choice(
      ['auto', 'native', 'webhooks'],
      'auto',
      'What enforces policies, for the role installer: native objects where the API server proves that it enforces ' +
        'them and webhook entries elsewhere, or one of the two.',
    ),
  },
  installer: {
    service: optional(
      serviceName,
      'namespace/name or namespace/name:port',
      'Service in front of the webhook servers, in the entries that are written (port 443 if left out).',
    ),
    url: optional(
      serverUrl,
      'an https URL without user, query and fragment',
      'https URL of the webhook server, instead of installer.service.',
    ),
    caFile: optionalText(
      'a file name',
      'CA certificates that the API server is to trust, PEM, in the entries that are written; read again when it changes.',
    ),
    timeoutSeconds: count(
      10,
      1,
      30,
      'How long the API server waits for an answer, in the entries that are written.',
    ),
    namespace: optional(
      label,
      'a namespace',
      'Namespace of the gate: of the Lease by which one installer leads, and never reached by entries. Default: ' +
        'POD_NAMESPACE, then that of installer.service.',
    ),
  },
  ...DELIVERY_KEYS,
  ...RECONCILER_KEYS,
  registry: REGISTRY_KEYS,
} as const;

/** Title of each section of keys, in help and documentation. */
const SECTION_TITLES: Readonly<Record<string, string>> = {
  cluster: 'Cluster',
  webhooks: 'Admission listener',
  tls: 'Certificate',
  metrics: 'Metrics',
  health: 'Probes',
  log: 'Log',
  identity: 'Node identity',
  policies: 'Policies',
  installer: 'Installer',
  delivery: 'Delivery gate',
  reconciler: 'Reconciler',
  api: 'API of the reconciler',
  registry: 'Registries',
};

/** Sections that say what is enforced: options of every command that decides or writes entries. */
export const RULE_SECTIONS: readonly string[] = ['identity', 'policies', 'delivery'];

/** @throws TypeError for a section that has none yet. */
export function titleOfSection(section: string): string {
  const title = SECTION_TITLES[section];
  if (title === undefined) throw new TypeError(`section ${section} has no title: add it to SECTION_TITLES`);
  return title;
}

type Parsed<T> = {
  readonly [K in keyof T]: T[K] extends Key<infer S> ? Frozen<z.output<S>> : Parsed<T[K]>;
};
type Frozen<T> = T extends readonly (infer I)[] ? readonly I[] : T;
/** The values of all keys, as given or by default. */
export type Settings = Parsed<typeof KEYS>;

/** All keys, in the order of the documentation. */
export function configKeys(): readonly KeyRow[] {
  return rowsOf(KEYS);
}
