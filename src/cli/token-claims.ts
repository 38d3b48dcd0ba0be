/** What a ServiceAccount token says of itself, and why it does or does not name its node (node-identity.md §3.1). */

/** What the token is tied to. `foreign`: not made by a Kubernetes API server for a ServiceAccount. */
export type Binding = 'pod' | 'node' | 'secret' | 'none' | 'legacy' | 'foreign';

interface NamedObject {
  readonly name: string;
  readonly uid: string | undefined;
}

export interface TokenClaims {
  readonly binding: Binding;
  /** `namespace/name` of the ServiceAccount. */
  readonly account: string | undefined;
  readonly namespace: string | undefined;
  readonly pod: NamedObject | undefined;
  readonly node: NamedObject | undefined;
  /** Seconds since the Unix epoch, as in the token. */
  readonly issuedSeconds: number | undefined;
  readonly expiresSeconds: number | undefined;
  readonly notBeforeSeconds: number | undefined;
  /** When the kubelet has replaced it: 80 % of its life (NI25). Undefined where that cannot be told. */
  readonly refreshSeconds: number | undefined;
  readonly hasId: boolean;
}

/** Longer than any token an API server makes; header lines end at about as much. */
export const MAX_TOKEN_BYTES = 64 * 1024;

/**
 * Reads the claims without checking the signature: good for finding out, worthless as a proof.
 * @returns undefined where this is no JSON Web Token.
 */
export function readClaims(token: string): TokenClaims | undefined {
  const parts = token.split('.');
  const [, payload = ''] = parts;
  if (parts.length !== 3 || !/^[A-Za-z0-9_-]+$/.test(payload)) return undefined;
  let claims: unknown;
  try {
    claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) return undefined;
  const own = at(claims, 'kubernetes.io');
  const issuedSeconds = seconds(at(claims, 'iat'));
  const expiresSeconds = seconds(at(claims, 'exp'));
  // An API server may stretch a token to a year for old clients; `warnafter` then holds the life that was asked for.
  const lifeEnds = seconds(at(own, 'warnafter')) ?? expiresSeconds;
  const pod = named(at(own, 'pod'));
  const node = named(at(own, 'node'));
  const account = named(at(own, 'serviceaccount'));
  const namespace = text(at(own, 'namespace'));
  const legacyName = text(at(claims, 'kubernetes.io/serviceaccount/service-account.name'));
  const legacyNamespace = text(at(claims, 'kubernetes.io/serviceaccount/namespace'));
  return {
    binding: bindingOf({ account, pod, node, secret: named(at(own, 'secret')), legacyName }),
    account: join(namespace, account?.name) ?? join(legacyNamespace, legacyName),
    namespace: namespace ?? legacyNamespace,
    pod,
    node,
    issuedSeconds,
    expiresSeconds,
    notBeforeSeconds: seconds(at(claims, 'nbf')),
    refreshSeconds:
      issuedSeconds === undefined || lifeEnds === undefined
        ? undefined
        : Math.round(issuedSeconds + (lifeEnds - issuedSeconds) * 0.8),
    hasId: text(at(claims, 'jti')) !== undefined,
  };
}

function bindingOf(of: {
  readonly account: NamedObject | undefined;
  readonly pod: NamedObject | undefined;
  readonly node: NamedObject | undefined;
  readonly secret: NamedObject | undefined;
  readonly legacyName: string | undefined;
}): Binding {
  if (of.account === undefined) return of.legacyName === undefined ? 'foreign' : 'legacy';
  if (of.pod !== undefined) return 'pod';
  if (of.node !== undefined) return 'node';
  return of.secret === undefined ? 'none' : 'secret';
}

/** The `userInfo.extra` keys that an API server makes of these claims, from 1.30 on. */
export function extraKeysOf(claims: TokenClaims): readonly string[] {
  const keys: string[] = [];
  if (claims.hasId) keys.push('credential-id');
  if (claims.pod !== undefined) keys.push('pod-name', 'pod-uid');
  if (claims.node !== undefined) keys.push('node-name');
  if (claims.node?.uid !== undefined) keys.push('node-uid');
  return keys.map((key) => `authentication.kubernetes.io/${key}`);
}

/** What the cluster told, as far as it was asked. */
export interface ClusterFacts {
  /** `v1.29.6`. */
  readonly gitVersion: string;
  readonly minor: number;
  /** `absent`: no such Pod; `unscheduled`: it has no node; undefined: not asked or not answered. */
  readonly pod: 'absent' | 'unscheduled' | 'scheduled' | undefined;
}

export interface Reason {
  readonly why: string;
  readonly next: string;
}

/** The one token of an agent account that our own rule lets anybody have (node-identity.md NI07). */
export const MOUNTED_TOKEN =
  "the token that the kubelet mounts into the agent's Pod, /var/run/secrets/kubernetes.io/serviceaccount/token";

/** The first release whose tokens name their node without a feature gate. */
const FIRST_MINOR_WITH_NODE = 30;

/** Why the node is not in the token: the one reason where it is known, else each that may be. */
export function whyNoNode(claims: TokenClaims, cluster: ClusterFacts | undefined): readonly Reason[] {
  const { binding } = claims;
  if (binding === 'foreign')
    return [
      {
        why: 'this is no ServiceAccount token of a Kubernetes API server',
        next: `give ${MOUNTED_TOKEN}`,
      },
    ];
  if (binding === 'legacy' || binding === 'secret')
    return [
      {
        why: 'the token comes from a Secret, and those never name a node',
        next: `let the agent use ${MOUNTED_TOKEN}, and delete the Secret`,
      },
    ];
  if (binding === 'none')
    return [
      {
        why: 'the token is bound to no object, as those of "kubectl create token" are',
        next: `let the agent use ${MOUNTED_TOKEN}; the token rule refuses agent accounts any other`,
      },
    ];
  return whyNoNodeForPod(claims, cluster);
}

function whyNoNodeForPod(claims: TokenClaims, cluster: ClusterFacts | undefined): readonly Reason[] {
  const renewed =
    claims.refreshSeconds === undefined ? '' : `, at ${new Date(claims.refreshSeconds * 1000).toISOString()}`;
  const old: Reason = {
    why: `API servers before 1.${String(FIRST_MINOR_WITH_NODE)} do not put the node into tokens`,
    next: 'leave identity.podLookup at auto, which looks up the Pod there',
  };
  const unscheduled: Reason = {
    why: 'the Pod had no node when the token was issued',
    next: `wait until the Pod runs, and use ${MOUNTED_TOKEN}`,
  };
  const stale: Reason = {
    why: `the token is older than the API server's upgrade to 1.${String(FIRST_MINOR_WITH_NODE)}`,
    next: `wait until the kubelet renews it, at 80 % of its life${renewed}, or restart the Pod; identity.podLookup always bridges the time`,
  };
  if (cluster === undefined) return [old, unscheduled, stale];
  if (cluster.minor < FIRST_MINOR_WITH_NODE)
    return [{ ...old, why: `${old.why}, and this one is ${cluster.gitVersion}` }];
  switch (cluster.pod) {
    case 'absent':
      return [
        {
          why: 'the Pod that the token is bound to is gone',
          next: `take ${MOUNTED_TOKEN}, of one that runs`,
        },
      ];
    case 'unscheduled':
      return [unscheduled];
    case 'scheduled':
      return [stale, unscheduled];
    default:
      return [unscheduled, stale];
  }
}

function at(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function seconds(value: unknown): number | undefined {
  // Beyond the year 9999 no date can be written.
  return typeof value === 'number' && value >= 0 && value < 253_402_300_800 ? value : undefined;
}

function named(value: unknown): NamedObject | undefined {
  const name = text(at(value, 'name'));
  return name === undefined ? undefined : { name, uid: text(at(value, 'uid')) };
}

function join(namespace: string | undefined, name: string | undefined): string | undefined {
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`;
}
