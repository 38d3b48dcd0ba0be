import type { UserInfo } from '../../cluster/objects.ts';
import { at } from './foreign.ts';

/** The account that a node agent runs under. */
export interface AgentAccount {
  readonly namespace: string;
  readonly serviceAccount: string;
}

type PodLookup = 'auto' | 'always' | 'never';

export interface IdentitySettings {
  readonly agents: readonly AgentAccount[];
  /** Where agents may keep Leases and observations. Left out: each agent in its own namespace. */
  readonly namespaces?: readonly string[];
  /**
   * Whether a token without node claim may be proved by its Pod: `auto` only on an API server older than 1.30, which
   * does not issue the claim (node-identity.md §3.1).
   */
  readonly podLookup: PodLookup;
  /** Refuse tokens that are not bound to a Pod, that is, node-bound ones (NI07). */
  readonly requirePodClaims: boolean;
  /** Demand the node-uid claim, and that it is the uid of the Node of today (NI19, NI20). */
  readonly requireNodeUid: boolean;
  readonly pods: {
    /** Exact usernames that may create agent Pods: the DaemonSet controller. */
    readonly controllerUsernames: readonly string[];
    /** The agents' DaemonSets. */
    readonly daemonSets: readonly { readonly namespace: string; readonly name: string }[];
  };
}

/** As people write them in the configuration: accounts and DaemonSets as `namespace/name`. */
export interface IdentityInput {
  readonly agents: readonly string[];
  /** Empty: each agent in its own namespace. */
  readonly namespaces: readonly string[];
  readonly podLookup: PodLookup;
  readonly requirePodClaims: boolean;
  readonly requireNodeUid: boolean;
  readonly pods: {
    readonly controllerUsernames: readonly string[];
    /** Empty: for each agent the DaemonSet of the same namespace and name. */
    readonly daemonSets: readonly string[];
  };
}

export function identitySettings(input: IdentityInput): IdentitySettings {
  const { agents, namespaces, pods, podLookup, requirePodClaims, requireNodeUid } = input;
  return {
    podLookup,
    requirePodClaims,
    requireNodeUid,
    agents: agents.map((text) => {
      const { namespace, name } = namespacedName(text);
      return { namespace, serviceAccount: name };
    }),
    ...(namespaces.length > 0 && { namespaces }),
    pods: {
      controllerUsernames: pods.controllerUsernames,
      daemonSets: (pods.daemonSets.length > 0 ? pods.daemonSets : agents).map(namespacedName),
    },
  };
}

function namespacedName(text: string): { namespace: string; name: string } {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

export function usernameOf(agent: AgentAccount): string {
  return `system:serviceaccount:${agent.namespace}:${agent.serviceAccount}`;
}

/** The agent whose username this is, compared exactly: never by prefix, case or group (NI23). */
export function agentOf(
  user: UserInfo | undefined,
  agents: readonly AgentAccount[],
): AgentAccount | undefined {
  const username = at(user, 'username');
  return agents.find((agent) => usernameOf(agent) === username);
}

/** Namespaces in which this agent may write. */
export function namespacesOf(agent: AgentAccount, settings: IdentitySettings): readonly string[] {
  return settings.namespaces ?? [agent.namespace];
}

export function hasGroup(user: UserInfo | undefined, group: string): boolean {
  const groups = at(user, 'groups');
  return Array.isArray(groups) && groups.includes(group);
}
