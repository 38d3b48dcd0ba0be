import type { AdmissionRequest, UserInfo } from '../../cluster/objects.ts';
import type { FindingCode } from '../finding.ts';
import { quote } from '../quote.ts';
import { allow, deny, type Finding, type Verdict } from '../verdict.ts';
import { at, typeName } from './foreign.ts';
import { hasGroup, type IdentitySettings } from './settings.ts';

// How the Node authorizer tells kubelets (node-identity.md §3.2): both, as either alone is free text to somebody.
const KUBELET_GROUP = 'system:nodes';
const KUBELET_USERNAME = 'system:node:';

/**
 * Tokens of agent accounts are asked for by a kubelet, for a Pod: anybody else could have one bound to a Node of their
 * choice, which carries that Node's claim (node-identity.md NI07). Tokens of other accounts are allowed.
 */
export function decideAgentToken(
  request: AdmissionRequest,
  settings: Pick<IdentitySettings, 'agents'>,
): Verdict {
  if (!isTokenRequest(request)) return allow();
  const namespace = at(request, 'namespace');
  const accounts = settings.agents.filter((agent) => agent.namespace === namespace);
  if (accounts.length === 0) return allow();
  const name = at(request, 'name');
  if (typeof name !== 'string' || name === '')
    return deny([
      finding(
        'AGENT_OBJECT_MALFORMED',
        'request.name',
        `found ${name === '' ? quote(name) : typeName(name)}, needed the name of a ServiceAccount; send the request through the API server`,
      ),
    ]);
  const names = new Set([name, at(request, 'object', 'metadata', 'name')]);
  const account = accounts.find((agent) => names.has(agent.serviceAccount));
  if (account === undefined) return allow();
  const findings = findingsOf(request, `${account.namespace}/${account.serviceAccount}`);
  const [first, ...rest] = findings;
  return first === undefined ? allow() : deny([first, ...rest]);
}

function isTokenRequest(request: AdmissionRequest): boolean {
  return (
    request.operation === 'CREATE' &&
    at(request, 'resource', 'group') === '' &&
    at(request, 'resource', 'resource') === 'serviceaccounts' &&
    at(request, 'subResource') === 'token'
  );
}

function findingsOf(request: AdmissionRequest, account: string): Finding[] {
  const findings: Finding[] = [];
  const kind = at(request, 'object', 'spec', 'boundObjectRef', 'kind');
  if (kind !== 'Pod')
    findings.push(
      finding(
        'AGENT_TOKEN_UNBOUND',
        'spec.boundObjectRef.kind',
        `found ${typeof kind === 'string' ? quote(kind) : typeName(kind)}, needed "Pod" for ServiceAccount ${quote(account)}; read a token inside the agent's Pod instead`,
      ),
    );
  if (!isKubelet(request.userInfo))
    findings.push(
      finding(
        'AGENT_TOKEN_REQUESTER',
        'userInfo',
        `tokens of ServiceAccount ${quote(account)} are for kubelets to ask for; read a token inside the agent's Pod instead`,
      ),
    );
  return findings;
}

function isKubelet(user: UserInfo | undefined): boolean {
  const username = at(user, 'username');
  return (
    typeof username === 'string' &&
    username.startsWith(KUBELET_USERNAME) &&
    username.length > KUBELET_USERNAME.length &&
    hasGroup(user, KUBELET_GROUP)
  );
}

function finding(code: FindingCode, where: string, message: string): Finding {
  return { code, where, message };
}
