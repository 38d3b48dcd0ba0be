/** Whether the gate's Service has somebody behind it, who may reach it, and whether its certificate serves (R5). */
import type { Labels } from '../../policies/vap/label-selector.ts';
import { addressOf } from './configuration-diff.ts';
import type { LiveCluster } from './live-cluster.ts';
import { fieldsIn, fieldsOf, type LiveClient, type LiveEntry } from './live-entry.ts';
import { guardsPods } from './live-gate.ts';
import { finding, type Finding } from './preflight-finding.ts';
import { ENDPOINT_SLICE, NETWORK_POLICY, SERVICE } from './recovery-kinds.ts';

/** What a TLS handshake with the server of an entry showed. */
export type Handshake =
  | { readonly reached: true; readonly trusted: boolean; readonly why: string; readonly notAfterMs: number }
  | { readonly reached: false; readonly why: string };

export interface HandshakeTarget {
  readonly host: string;
  readonly port: number;
  /** PEM; undefined: what this machine trusts. */
  readonly bundle: string | undefined;
}

export type ShakeHands = (target: HandshakeTarget) => Promise<Handshake>;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Long enough for somebody to act, and less than any usual renewal begins before the end. */
const LEAST_LIFE_DAYS = 7;

/** Each Service that our entries name, once. */
export async function checkServices(
  live: LiveCluster,
  entries: readonly LiveEntry[],
): Promise<readonly Finding[]> {
  const services = new Map<string, NonNullable<LiveClient['service']>>();
  for (const { ours, client } of entries)
    if (ours && client.service !== undefined)
      services.set(`${client.service.namespace}/${client.service.name}`, client.service);
  const found: Finding[] = [];
  for (const [id, service] of services) found.push(...(await checkService(live, id, service)));
  return found;
}

async function checkService(
  live: LiveCluster,
  id: string,
  { namespace, name, port }: NonNullable<LiveClient['service']>,
): Promise<readonly Finding[]> {
  const services = await live.list(SERVICE, { namespace });
  if (services === undefined) return [];
  const object = services.find(({ metadata }) => metadata.name === name);
  const refused = 'no request reaches the gate, and what entries with failure policy Fail select is refused';
  const where = `Service ${id}`;
  if (object === undefined)
    return [
      finding(
        'PREFLIGHT_SERVICE_MISSING',
        where,
        'there is none',
        refused,
        'install the gate, or take its entries away',
      ),
    ];
  const ports = fieldsIn(fieldsOf(object['spec'])['ports']);
  if (ports.every((one) => one['port'] !== port))
    return [
      finding(
        'PREFLIGHT_SERVICE_MISSING',
        where,
        `has no port ${String(port)}`,
        refused,
        'mend the Service, or the entries',
      ),
    ];
  const slices = await live.list(ENDPOINT_SLICE, {
    namespace,
    labelSelector: `kubernetes.io/service-name=${name}`,
  });
  if (slices === undefined) return [];
  const ready = slices
    .flatMap((slice) => fieldsIn(slice['endpoints']))
    // Left out means ready: https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#ready
    .filter((endpoint) => fieldsOf(endpoint['conditions'])['ready'] !== false);
  if (ready.length > 0) return [];
  return [
    finding(
      'PREFLIGHT_SERVICE_NOT_READY',
      where,
      'no Pod behind it is ready',
      refused,
      `look at the Pods of namespace ${namespace}, and at what /readyz?verbose of one of them says`,
    ),
  ];
}

/** Whoever reaches the listener could ask it anything (webhook-operations.md W11). */
export async function checkCallers(
  live: LiveCluster,
  namespace: string | undefined,
  podLabels: Labels,
): Promise<readonly Finding[]> {
  if (namespace === undefined) return [];
  const policies = await live.list(NETWORK_POLICY, { namespace });
  if (policies === undefined || policies.some((policy) => guardsPods(policy, podLabels))) return [];
  return [
    finding(
      'PREFLIGHT_AUTH_NONE',
      `namespace ${namespace}`,
      'webhooks.auth is none, and no NetworkPolicy limits who reaches the Pods of the gate',
      'every Pod of the cluster can put reviews to the gate, and learn from its answers',
      'make a NetworkPolicy that lets the API server in alone, or set webhooks.auth',
    ),
  ];
}

/** Each server and bundle that our entries name, once. */
export async function checkCertificates(
  entries: readonly LiveEntry[],
  shakeHands: ShakeHands | undefined,
  nowMs: number,
): Promise<readonly Finding[]> {
  const targets = new Map<string, { readonly entry: LiveEntry; readonly target: HandshakeTarget }>();
  for (const entry of entries) {
    const target = entry.ours ? targetOf(entry.client) : undefined;
    if (target !== undefined) {
      const id = `${target.host}:${String(target.port)} ${target.bundle ?? ''}`;
      if (!targets.has(id)) targets.set(id, { entry, target });
    }
  }
  const found: Finding[] = [];
  for (const { entry, target } of targets.values())
    found.push(...(await checkCertificate(entry, target, shakeHands, nowMs)));
  return found;
}

/** The API server calls a Service by this name (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference). */
function targetOf({ url, service, caBundle }: LiveClient): HandshakeTarget | undefined {
  const bundle = caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString('utf8');
  if (service !== undefined)
    return { host: `${service.name}.${service.namespace}.svc`, port: service.port, bundle };
  const parsed = url === undefined ? null : URL.parse(url);
  if (parsed === null) return undefined;
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(parsed.port || '443'), bundle };
}

async function checkCertificate(
  entry: LiveEntry,
  target: HandshakeTarget,
  shakeHands: ShakeHands | undefined,
  nowMs: number,
): Promise<readonly Finding[]> {
  const where = addressOf(entry.client).replace(/(:\d+)\/.*$/, '$1');
  const answer: Handshake = (await shakeHands?.(target)) ?? {
    reached: false,
    why: 'files have no servers',
  };
  if (!answer.reached)
    return [
      finding(
        'PREFLIGHT_CERTIFICATE_NOT_CHECKED',
        where,
        `the certificate was not checked: ${answer.why}`,
        'whether the API server trusts the server is not known from here',
        'run preflight where the server can be reached, or look at the certificate with pacto-gate certs inspect',
      ),
    ];
  const found: Finding[] = [];
  if (!answer.trusted)
    found.push(
      finding(
        'PREFLIGHT_CERTIFICATE_UNTRUSTED',
        where,
        `the caBundle of ${entry.configuration} does not verify the certificate: ${answer.why}`,
        'the API server calls nobody whom it does not trust, so that no request reaches the gate',
        'write the CA of the certificate into the entries, or issue a certificate of that CA',
      ),
    );
  const days = Math.floor((answer.notAfterMs - nowMs) / DAY_MS);
  if (days < LEAST_LIFE_DAYS)
    found.push(
      finding(
        'PREFLIGHT_CERTIFICATE_EXPIRES',
        where,
        days < 0
          ? 'the certificate has expired'
          : `the certificate expires in less than ${String(days + 1)} day${days === 0 ? '' : 's'}`,
        'from then on no request reaches the gate',
        'renew it, and look why nobody has',
      ),
    );
  return found;
}
