/** What must pass in the gate's own namespace for it to serve: addresses, certificates, Leases, the Namespace itself. */
import { NAMESPACE_NAME_LABEL } from '../../policies/entry.ts';
import { CONFIG_MAP, LEASE, NAMESPACE } from '../../cluster/kinds.ts';
import { EMPTY_SLICE, leaseFields } from './recovery-bodies.ts';
import {
  CERTIFICATE,
  CERTIFICATE_REQUEST,
  CORE_EVENT,
  ENDPOINT_SLICE,
  ENDPOINTS,
  EVENT,
  NETWORK_POLICY,
  SECRET,
  SERVICE,
} from './recovery-kinds.ts';
import { about, type HousedSite, type StepDraft } from './recovery-step.ts';
import { ADMINISTRATOR, controller, KUBELET, SCHEDULER, serviceAccount } from './recovery-users.ts';

export function networkDrafts(site: HousedSite): readonly StepDraft[] {
  const { namespace, name, labels, podLabels } = site;
  const own = { namespace, name: `${name}-preflight`, labels, need: 'necessary' } as const;
  const slice = about({
    ...own,
    kind: ENDPOINT_SLICE,
    labels: { 'kubernetes.io/service-name': name },
    fields: EMPTY_SLICE,
  });
  const addresses = about({ ...own, kind: ENDPOINTS, fields: { subsets: [] }, need: 'comfort' });
  const ports = [{ port: 443, targetPort: 9443 }];
  const service = about({ ...own, kind: SERVICE, fields: { spec: { selector: podLabels, ports } } });
  const policy = about({
    ...own,
    kind: NETWORK_POLICY,
    fields: { spec: { podSelector: {}, policyTypes: ['Ingress'] } },
    need: 'comfort',
  });
  const slices = controller('endpointslice-controller');
  const old = controller('endpoint-controller');
  const fresh = { name: `${name}-preflight-new` };
  return [
    slice('gate-endpointslice-create', 'CREATE', slices, "the gate's Service gets its addresses", fresh),
    slice('gate-endpointslice-update', 'UPDATE', slices, "the addresses of the gate's Service are kept"),
    slice('gate-endpointslice-delete', 'DELETE', slices, "addresses of the gate's Service are taken away", {
      need: 'comfort',
    }),
    addresses(
      'gate-endpoints',
      'UPDATE',
      old,
      "the addresses of the gate's Service are kept in their old form",
    ),
    service('gate-service-create', 'CREATE', ADMINISTRATOR, 'an administrator makes the Service anew', fresh),
    service('gate-service-update', 'UPDATE', ADMINISTRATOR, "an administrator mends the gate's Service"),
    policy('gate-networkpolicy', 'CREATE', ADMINISTRATOR, 'an administrator makes a NetworkPolicy', fresh),
  ];
}

export function secretDrafts({ namespace, name, labels }: HousedSite): readonly StepDraft[] {
  const own = { namespace, name: `${name}-preflight`, labels, need: 'necessary' } as const;
  const secret = about({ ...own, kind: SECRET, fields: { type: 'Opaque' } });
  const issuerRef = { name };
  const certificate = about({
    ...own,
    kind: CERTIFICATE,
    fields: { spec: { secretName: name, issuerRef } },
  });
  const request = about({ ...own, kind: CERTIFICATE_REQUEST, fields: { spec: { request: '', issuerRef } } });
  const issuer = serviceAccount('cert-manager', 'cert-manager');
  const fresh = { name: `${name}-preflight-new` };
  return [
    secret(
      'gate-secret-create',
      'CREATE',
      ADMINISTRATOR,
      'an administrator makes the certificate anew',
      fresh,
    ),
    secret(
      'gate-secret-update',
      'UPDATE',
      issuer,
      "cert-manager renews the Secret of the gate's certificate",
    ),
    certificate('gate-certificate', 'UPDATE', issuer, "cert-manager renews the gate's Certificate"),
    request('gate-certificate-request', 'CREATE', issuer, 'cert-manager asks for a certificate', fresh),
  ];
}

export function stateDrafts({ namespace, name, labels }: HousedSite): readonly StepDraft[] {
  const own = { namespace, name: `${name}-preflight`, labels, need: 'necessary' } as const;
  const gate = serviceAccount(namespace, name);
  const map = about({ ...own, kind: CONFIG_MAP, fields: {} });
  const lease = about({ ...own, kind: LEASE, fields: leaseFields(name) });
  const comfort = { ...own, need: 'comfort' } as const;
  const coreEvent = about({ ...comfort, kind: CORE_EVENT, fields: coreEventFields(namespace, name) });
  const event = about({ ...comfort, kind: EVENT, fields: eventFields(namespace, name) });
  const fresh = { name: `${name}-preflight-new` };
  return [
    map('gate-configmap', 'UPDATE', ADMINISTRATOR, "an administrator mends the gate's configuration"),
    lease('gate-lease-create', 'CREATE', gate, 'the gate makes the Lease of its leader', fresh),
    lease('gate-lease-update', 'UPDATE', gate, 'the gate renews the Lease of its leader'),
    coreEvent(
      'gate-event-core',
      'CREATE',
      KUBELET,
      'the kubelet records an event of a Pod of the gate',
      fresh,
    ),
    event('gate-event', 'CREATE', SCHEDULER, 'the scheduler records an event of a Pod of the gate', fresh),
  ];
}

export function coreEventFields(namespace: string, name: string): Readonly<Record<string, unknown>> {
  return { reason: 'Preflight', involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name } };
}

/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/: what `events.k8s.io/v1` requires. */
function eventFields(namespace: string, name: string): Readonly<Record<string, unknown>> {
  return {
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'default-scheduler',
    reportingInstance: 'preflight',
    action: 'Binding',
    reason: 'Scheduled',
    type: 'Normal',
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name },
  };
}

export function namespaceDrafts({ namespace, namespaceLabels }: HousedSite): readonly StepDraft[] {
  const own = about({
    kind: NAMESPACE,
    name: namespace,
    labels: { ...namespaceLabels, [NAMESPACE_NAME_LABEL]: namespace },
    fields: { spec: { finalizers: ['kubernetes'] } },
    need: 'necessary',
  });
  const finalizer = controller('namespace-controller');
  const comfort = { need: 'comfort' } as const;
  return [
    own('gate-namespace-create', 'CREATE', ADMINISTRATOR, "an administrator makes the gate's Namespace anew"),
    own('gate-namespace-update', 'UPDATE', ADMINISTRATOR, 'an administrator mends its labels', comfort),
    own(
      'gate-namespace-delete',
      'DELETE',
      ADMINISTRATOR,
      "an administrator deletes the gate's Namespace",
      comfort,
    ),
    own(
      'gate-namespace-finalize',
      'UPDATE',
      finalizer,
      "the deletion of the gate's Namespace comes to its end",
      {
        subResource: 'finalize',
      },
    ),
  ];
}
