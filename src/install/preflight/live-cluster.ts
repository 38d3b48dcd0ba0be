/** What `preflight` reads of a cluster; whatever it may not or cannot read is unknown, and never fine. */
import type { Cluster, SelectOptions } from '../../cluster/cluster.ts';
import {
  MUTATING_WEBHOOK_CONFIGURATION,
  NAMESPACE,
  NATIVE_POLICY,
  NATIVE_POLICY_BINDING,
  VALIDATING_WEBHOOK_CONFIGURATION,
  type Kind,
} from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import { GateError, messageOf } from '../../errors.ts';
import { liveEntriesOf, type LiveEntry } from './live-entry.ts';
import {
  APPLICATION,
  DEPLOYMENT,
  ENDPOINT_SLICE,
  HELM_RELEASE,
  KUSTOMIZATION,
  NETWORK_POLICY,
  SERVICE,
} from './recovery-kinds.ts';
import type { Unknown } from './preflight-finding.ts';

/** Everything that may be read; what `preflight` needs as RBAC is made of it. */
const CLUSTER_WIDE = [
  VALIDATING_WEBHOOK_CONFIGURATION,
  MUTATING_WEBHOOK_CONFIGURATION,
  NAMESPACE,
  NATIVE_POLICY,
  NATIVE_POLICY_BINDING,
];
const IN_OWN_NAMESPACE = [DEPLOYMENT, SERVICE, ENDPOINT_SLICE, NETWORK_POLICY];
/** Looked at where the gate's objects say that one of them deploys it. */
const POINTERS = [HELM_RELEASE, KUSTOMIZATION, APPLICATION];

/** A rule as a ClusterRole has it. */
export interface Right {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * What whoever runs `preflight` must be allowed to.
 * @param sources kinds that policies come from.
 */
export function preflightRights(sources: readonly Kind[]): readonly Right[] {
  return [
    ...[...CLUSTER_WIDE, ...IN_OWN_NAMESPACE, ...sources].map((kind) => rightOf(kind, 'list')),
    ...POINTERS.map((kind) => rightOf(kind, 'get')),
  ];
}

function rightOf({ group, resource }: Kind, verb: string): Right {
  return { apiGroups: [group], resources: [resource], verbs: [verb] };
}

const PAGE_SIZE = 500;

/** Reads, and remembers what could not be read. */
export class LiveCluster {
  readonly #cluster: Pick<Cluster, 'get' | 'list' | 'doubt'>;
  readonly unknown: Unknown[] = [];

  constructor(cluster: Pick<Cluster, 'get' | 'list' | 'doubt'>) {
    this.#cluster = cluster;
  }

  /** @returns undefined where it could not be found out; nothing where the cluster does not serve the kind. */
  async list(kind: Kind, select: SelectOptions = {}): Promise<readonly KubeObject[] | undefined> {
    const items: KubeObject[] = [];
    try {
      let continueToken: string | undefined;
      do {
        const page = await this.#cluster.list(kind, {
          ...select,
          limit: PAGE_SIZE,
          ...(continueToken !== undefined && { continueToken }),
        });
        items.push(...page.items);
        ({ continueToken } = page);
      } while (continueToken !== undefined);
      // Of files, one that is broken may hold what the others do not.
      const doubt = this.#cluster.doubt?.(kind);
      if (doubt !== undefined) this.#note(kind, select.namespace, doubt);
      return items;
    } catch (error) {
      if (isNotServed(error)) return [];
      this.#note(kind, select.namespace, error);
      return undefined;
    }
  }

  /** @returns undefined where there is none, or where it could not be found out. */
  async get(kind: Kind, namespace: string, name: string): Promise<KubeObject | undefined> {
    try {
      return await this.#cluster.get(kind, { namespace, name });
    } catch (error) {
      if (!isNotServed(error)) this.#note(kind, namespace, error);
      return undefined;
    }
  }

  /** @returns undefined where either kind could not be listed: what they hold is then unknown. */
  async entries(): Promise<
    { readonly entries: readonly LiveEntry[]; readonly present: ReadonlySet<string> } | undefined
  > {
    const validating = await this.list(VALIDATING_WEBHOOK_CONFIGURATION);
    const mutating = await this.list(MUTATING_WEBHOOK_CONFIGURATION);
    if (validating === undefined || mutating === undefined) return undefined;
    return {
      entries: [...validating, ...mutating].flatMap(liveEntriesOf),
      present: new Set(validating.map(({ metadata }) => metadata.name ?? '')),
    };
  }

  #note({ resource }: Kind, namespace: string | undefined, error: unknown): void {
    const where = namespace === undefined ? '' : ` of namespace ${namespace}`;
    this.unknown.push({ what: `${resource}${where}`, why: messageOf(error) });
  }
}

function isNotServed(error: unknown): boolean {
  return error instanceof GateError && error.code === 'GATE_CLUSTER_UNSUPPORTED';
}
