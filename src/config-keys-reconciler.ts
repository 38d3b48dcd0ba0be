/** The keys of the reconciler and of its API; config-keys.ts has all of them. */
import { count, flag, list, optional, optionalText, port } from './config-keys-kinds.ts';
import { label } from './config-keys-texts.ts';

export const RECONCILER_KEYS = {
  reconciler: {
    namespaces: list(
      label,
      [],
      'namespaces',
      'Namespaces whose Pactos, and whose objects, count. Default: all.',
    ),
    stabilizationSeconds: count(
      120,
      0,
      86_400,
      'How long something must have been absent before that is a violation.',
    ),
    probing: flag(
      false,
      'Asks the ports of watched Services: health endpoints over HTTP, and what protocol an interface speaks.',
    ),
    metricsObservation: flag(
      false,
      'Looks for the metrics that a contract promises; reads ServiceMonitors and PodMonitors where they are served.',
    ),
    nameMatchDiscovery: flag(
      false,
      'Takes a Service port of the name of an interface that has no binding. It can confirm an interface, never deny it.',
    ),
    nodeAgentNamespace: optional(
      label,
      'a namespace',
      'Namespace of the node agents, whose observations then count beside what Kubernetes says. Default: there are none.',
    ),
    connectionMinutes: count(
      10,
      1,
      1_440,
      'How long a connection that a node agent saw says something of a dependency.',
    ),
    workers: count(8, 1, 256, 'Pactos that are looked at at the same time.'),
    mirrorSeconds: count(
      300,
      10,
      86_400,
      'How often the tags of the repositories are compared with what they were, and new ones become revisions.',
    ),
    namespace: optional(
      label,
      'a namespace',
      'Namespace of the Lease by which one reconciler of several writes. Default: POD_NAMESPACE, else pacto-operator-system.',
    ),
  },
  api: {
    host: optionalText('an address', 'Address of the HTTPS API of a reconciler. Default: as webhooks.host.'),
    port: port(9444, 'Port of the HTTPS API of a reconciler: verdicts, and events from outside.'),
    fluxKeyFile: optionalText(
      'a file name',
      'Key with which the notification controller of Flux signs what it sends (generic-hmac). Read again when it changes.',
    ),
    fluxTokenFile: optionalText('a file name', 'Token that Flux sends instead of a signature.'),
    registryTokenFile: optionalText('a file name', 'Token that registries send with their events.'),
  },
} as const;
