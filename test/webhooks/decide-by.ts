/** Decisions through the list of webhooks, with a reader over a list of objects. */
import type { Reader } from '../../src/cluster/cluster.ts';
import type { AdmissionRequest, KubeObject } from '../../src/cluster/objects.ts';
import { labelPredicate } from '../../src/cluster/selectors.ts';
import { Cel } from '../../src/policies/cel/cel.ts';
import type { Verdict } from '../../src/policies/verdict.ts';
import { policyWritersWebhook, type PolicyWritersParts } from '../../src/webhooks/policy-writers.webhook.ts';
import { createWebhooks, type WebhookParts } from '../../src/webhooks/registry.ts';
import type { DecisionContext, Webhook } from '../../src/webhooks/webhook.ts';

/** `identity` of the configuration: its defaults, with changes. */
export function identity(changes: Partial<WebhookParts['identity']> = {}): WebhookParts['identity'] {
  return {
    enabled: true,
    failurePolicy: 'Fail',
    agents: ['pacto-node-agent/pacto-node-agent'],
    namespaces: [],
    podLookup: 'auto',
    requirePodClaims: false,
    requireNodeUid: false,
    tokens: { enabled: true, failurePolicy: 'Fail' },
    ...changes,
    pods: {
      enabled: true,
      failurePolicy: 'Fail',
      controllerUsernames: ['system:serviceaccount:kube-system:daemon-set-controller'],
      daemonSets: [],
      ...changes.pods,
    },
  };
}

/** With nothing in force, and nobody who could be asked for rights. */
export function policyWriters(changes: Partial<PolicyWritersParts> = {}): Webhook {
  return policyWritersWebhook({
    cel: new Cel(),
    minor: 36,
    paramKinds: [],
    inForce: () => Promise.resolve({ policies: [], bindings: [], problems: [] }),
    ...changes,
  });
}

/** Every webhook, with defaults for whatever a test says nothing of: a new part needs its default here alone. */
export function webhooksWith(parts: Partial<WebhookParts> = {}): readonly Webhook[] {
  return createWebhooks({ identity: identity(), serverVersion: () => undefined, ...parts });
}

/** @param reads collects what was asked for, as `Kind namespace/name`. */
export function readerOver(objects: readonly KubeObject[], reads: string[] = []): Reader {
  return {
    get(kind, { namespace, name }, { signal }) {
      signal?.throwIfAborted();
      reads.push(`${kind.kind} ${namespace ?? ''}/${name}`);
      const found = objects.find(
        (object) =>
          object.kind === kind.kind &&
          object.metadata.name === name &&
          (!kind.namespaced || object.metadata.namespace === namespace),
      );
      return Promise.resolve(found);
    },
    list(kind, { namespace, labelSelector }, { signal }) {
      signal?.throwIfAborted();
      reads.push(`${kind.kind} ${namespace ?? ''}/?${labelSelector ?? ''}`);
      const selects = labelPredicate(labelSelector);
      return Promise.resolve(
        objects.filter(
          (object) =>
            object.kind === kind.kind &&
            (!kind.namespaced || object.metadata.namespace === namespace) &&
            selects(object),
        ),
      );
    },
  };
}

/** The path on which the generated entries send a request. */
function pathOf({ resource, subResource }: AdmissionRequest): string {
  if (resource.resource === 'serviceaccounts' && subResource === 'token')
    return '/validate/node-identity/tokens';
  return resource.resource === 'pods' && subResource !== 'eviction'
    ? '/validate/node-identity/pods'
    : '/validate/node-identity';
}

/** A context without end. */
export function contextOf(reader: Reader): DecisionContext {
  const { signal } = new AbortController();
  return { signal, reader, share: () => ({ signal, clear: () => undefined }) };
}

export async function decideBy(
  configuration: WebhookParts['identity'],
  request: AdmissionRequest,
  { reader = readerOver([]), minor = 36 }: { reader?: Reader; minor?: number | undefined } = {},
): Promise<Verdict> {
  const webhooks = webhooksWith({ identity: configuration, serverVersion: () => ({ major: 1, minor }) });
  const entry = webhooks.find((webhook) => webhook.path === pathOf(request))?.entry({});
  if (entry === undefined) throw new Error(`no webhook for ${pathOf(request)}`);
  return entry.decide(request, contextOf(reader));
}
