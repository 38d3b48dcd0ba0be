import type { AdmissionRequest } from '../../cluster/objects.ts';
import type { FindingCode } from '../finding.ts';
import { quote } from '../quote.ts';
import { allow, deny, type Finding, type Verdict } from '../verdict.ts';
import type { Evidence, Need } from './evidence.ts';
import { at, isEmpty, isRecord, sameJson, typeName } from './foreign.ts';
import type { IdentitySettings } from './settings.ts';

/** Set by a kubelet on the API server's picture of a static Pod. */
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** Both name the account; the API server keeps them equal, so either one counts. */
const ACCOUNT_FIELDS = ['serviceAccountName', 'serviceAccount'] as const;

/** What runs with the account's token. */
const CONTAINER_FIELDS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/**
 * Pods that use an agent account are made by the DaemonSet controller for the agent's DaemonSet, and their containers
 * stay as they are: otherwise whoever may create Pods gets a genuine claim of any node (node-identity.md NI08).
 * Other Pods are allowed.
 *
 * @returns a verdict, or the DaemonSet it needs to see: an ownerReference alone is free text to any Pod creator.
 */
export function decideAgentPod(
  request: AdmissionRequest,
  settings: Pick<IdentitySettings, 'agents' | 'pods'>,
  evidence: Evidence,
): Verdict | Need {
  if (!isPodWrite(request)) return allow();
  const namespace = at(request, 'namespace');
  const accounts = settings.agents.filter((agent) => agent.namespace === namespace);
  if (typeof namespace !== 'string' || accounts.length === 0) return allow();
  const states =
    request.operation === 'CREATE'
      ? [{ where: 'object', pod: request.object }]
      : [
          { where: 'object', pod: request.object },
          { where: 'oldObject', pod: request.oldObject },
        ];
  const [malformed, ...more] = states.flatMap(({ where, pod }) => shapeFindings(where, pod));
  if (malformed !== undefined) return deny([malformed, ...more]);
  const names = accounts.map((agent) => agent.serviceAccount);
  if (!states.some(({ pod }) => uses(pod, names))) return allow();
  return request.operation === 'CREATE'
    ? decideCreate(request, namespace, settings.pods, evidence)
    : decideUpdate(request);
}

function isPodWrite(request: AdmissionRequest): boolean {
  if (at(request, 'resource', 'group') !== '' || at(request, 'resource', 'resource') !== 'pods') return false;
  const subresource = at(request, 'subResource') ?? '';
  if (request.operation === 'CREATE') return subresource === '';
  return request.operation === 'UPDATE' && (subresource === '' || subresource === 'ephemeralcontainers');
}

function shapeFindings(where: string, pod: unknown): Finding[] {
  const malformed = (path: string, value: unknown, needed: string): Finding =>
    finding(
      'AGENT_OBJECT_MALFORMED',
      `${where}${path}`,
      `found ${typeName(value)}, needed ${needed}; send a complete Pod`,
    );
  if (!isRecord(pod)) return [malformed('', pod, 'an object')];
  const findings: Finding[] = [];
  if (!isRecord(at(pod, 'metadata'))) findings.push(malformed('.metadata', at(pod, 'metadata'), 'an object'));
  if (!isRecord(at(pod, 'spec'))) findings.push(malformed('.spec', at(pod, 'spec'), 'an object'));
  for (const field of ACCOUNT_FIELDS) {
    const account = at(pod, 'spec', field) ?? '';
    if (typeof account !== 'string') findings.push(malformed(`.spec.${field}`, account, 'a string'));
  }
  return findings;
}

function uses(pod: unknown, names: readonly string[]): boolean {
  const accounts = ACCOUNT_FIELDS.map((field) => at(pod, 'spec', field)).filter((account) => !unset(account));
  // Without an account a Pod gets the one called default.
  return accounts.length === 0 ? names.includes('default') : names.some((name) => accounts.includes(name));
}

function unset(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function decideCreate(
  request: AdmissionRequest,
  namespace: string,
  settings: IdentitySettings['pods'],
  evidence: Evidence,
): Verdict | Need {
  const pod = request.object;
  const findings: Finding[] = [];
  const annotations = at(pod, 'metadata', 'annotations');
  if (isRecord(annotations) && Object.hasOwn(annotations, MIRROR_ANNOTATION))
    findings.push(
      finding(
        'AGENT_POD_MIRROR',
        `metadata.annotations[${MIRROR_ANNOTATION}]`,
        'a static Pod may not use an agent account; run the agent as a DaemonSet',
      ),
    );
  const username = at(request.userInfo, 'username');
  if (typeof username !== 'string' || !settings.controllerUsernames.includes(username))
    findings.push(
      finding(
        'AGENT_POD_CREATOR',
        'userInfo.username',
        `found ${typeof username === 'string' ? quote(username) : typeName(username)}, needed ${settings.controllerUsernames.map(quote).join(' or ')}; run the agent as a DaemonSet, or use another account`,
      ),
    );
  // The DaemonSet controller leaves the choice to the scheduler, by node affinity.
  if (!unset(at(pod, 'spec', 'nodeName')))
    findings.push(
      finding(
        'AGENT_POD_NODE_NAME',
        'spec.nodeName',
        'a Pod with an agent account may not choose its node itself; leave the field out',
      ),
    );
  const owner = ownerOf(pod, namespace, settings.daemonSets, evidence);
  if ('code' in owner) findings.push(owner);
  const [first, ...rest] = findings;
  if (first !== undefined) return deny([first, ...rest]);
  return 'need' in owner ? owner : allow();
}

/** The controller owner is one of the agents' DaemonSets, by uid. */
function ownerOf(
  pod: unknown,
  namespace: string,
  daemonSets: IdentitySettings['pods']['daemonSets'],
  evidence: Evidence,
): Finding | Need | { readonly owned: true } {
  const foreign = (message: string): Finding =>
    finding('AGENT_POD_OWNER', 'metadata.ownerReferences', message);
  const names = daemonSets.filter((set) => set.namespace === namespace).map((set) => set.name);
  const needed = `needed DaemonSet ${names.map(quote).join(' or ') || 'none in this namespace'} as the one controller`;
  const references = at(pod, 'metadata', 'ownerReferences');
  const controllers = (Array.isArray(references) ? references : []).filter(
    (reference) => at(reference, 'controller') === true,
  );
  const [controller] = controllers;
  if (controllers.length !== 1)
    return foreign(
      `found ${String(controllers.length)} controllers, ${needed}; run the agent as that DaemonSet, or change identity.pods.daemonSets`,
    );
  const name = at(controller, 'name');
  if (
    at(controller, 'apiVersion') !== 'apps/v1' ||
    at(controller, 'kind') !== 'DaemonSet' ||
    typeof name !== 'string' ||
    !names.includes(name)
  )
    return foreign(
      `found ${typeof name === 'string' ? quote(name) : typeName(name)}, ${needed}; run the agent as that DaemonSet, or change identity.pods.daemonSets`,
    );
  if (evidence.daemonset === undefined) return { need: 'daemonset', namespace, name };
  const uid = at(evidence.daemonset.object, 'metadata', 'uid');
  if (typeof uid !== 'string' || uid !== at(controller, 'uid'))
    return foreign(
      `the reference does not carry the uid of DaemonSet ${quote(`${namespace}/${name}`)} (${evidence.daemonset.object === undefined ? 'there is none' : 'it differs'}); let the DaemonSet controller create the Pod`,
    );
  return { owned: true };
}

/** An image or a container that is put in later runs with the same token: no change for anybody. */
function decideUpdate(request: AdmissionRequest): Verdict {
  const changed = [...CONTAINER_FIELDS, ...ACCOUNT_FIELDS].filter((field) => {
    const [before, after] = [at(request.oldObject, 'spec', field), at(request.object, 'spec', field)];
    return !(isEmpty(before) && isEmpty(after)) && !sameJson(before, after);
  });
  const [first, ...rest] = changed.map((field) =>
    finding(
      'AGENT_POD_CHANGED',
      `spec.${field}`,
      'may not change in a Pod with an agent account; change the DaemonSet, and debug on the node instead of in the Pod',
    ),
  );
  return first === undefined ? allow() : deny([first, ...rest]);
}

function finding(code: FindingCode, where: string, message: string): Finding {
  return { code, where, message };
}
