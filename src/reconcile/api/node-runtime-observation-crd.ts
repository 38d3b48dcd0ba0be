/** The CustomResourceDefinition of `NodeRuntimeObservation`; its shape is ours (operator.md §13.5). */
import { NODE_RUNTIME_OBSERVATION } from '../../cluster/kinds.ts';
import { choice, crd, flag, int32, listOf, object, text, time } from './crd-schema.ts';

const PORT = { minimum: 1, maximum: 65_535 };

const PODS = listOf(
  'Each Pod of the node.',
  object(
    'One Pod.',
    {
      uid: text('Its uid.'),
      namespace: text('Its namespace.'),
      name: text('Its name.'),
      hostNetwork: flag('Whether it has the network of the node.'),
      listeners: listOf(
        'Ports that it listens on.',
        object(
          'One port.',
          {
            port: int32('Its number.', PORT),
            protocol: text('TCP.'),
            loopbackOnly: flag('Whether only the Pod itself reaches it.'),
          },
          ['port', 'protocol'],
        ),
      ),
      connections: listOf(
        'Connections that it made.',
        object(
          'One peer.',
          {
            destIP: text('Address of the peer.'),
            destPort: int32('Port of the peer.', PORT),
            lastSuccess: time('When one last came about.'),
            lastFailure: time('When one last failed.'),
          },
          ['destIP', 'destPort'],
        ),
      ),
    },
    ['name', 'namespace', 'uid'],
  ),
);

export const NODE_RUNTIME_OBSERVATION_CRD: object = crd({
  ...NODE_RUNTIME_OBSERVATION,
  description: 'What the agent of one node saw, named after the node.',
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Published', type: 'date', jsonPath: '.status.lastPublished' },
  ],
  status: object('What was seen.', {
    nodeName: text('The node.'),
    lastPublished: time('When it was written.'),
    state: choice('Whether the agent can see.', ['Ready', 'Failed']),
    reason: text('Why it cannot.'),
    pods: PODS,
  }),
});
