/** The CustomResourceDefinition of `PactoRevision` (operator.md §1.2). */
import { PACTO_REVISION } from '../../cluster/kinds.ts';
import { CONDITIONS, crd, flag, object, text, time } from './crd-schema.ts';

const SPEC = object(
  'Which contract, and where it came from.',
  {
    version: text('Version of the service.', { minLength: 1 }),
    pactoRef: text('Name of its Pacto.', { minLength: 1 }),
    source: object('Where it came from.', {
      oci: text('Reference as it was resolved, without a scheme.'),
      digest: text('Digest of the manifest when the revision was made.'),
      inline: flag('Whether the Pacto held the contract itself.'),
    }),
    serviceName: text('Name of the service.'),
  },
  ['pactoRef', 'source', 'version'],
);

const STATUS = object(
  'What became of it.',
  {
    resolved: flag('Whether the contract was obtained.'),
    contractHash: text('SHA-256 of the text of the contract, in hexadecimal.'),
    createdAt: time('When it was obtained first.'),
    conditions: CONDITIONS,
  },
  ['resolved'],
);

export const PACTO_REVISION_CRD: object = crd({
  ...PACTO_REVISION,
  description: 'One contract that a Pacto has had; it never changes.',
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.spec.version' },
    { name: 'Pacto', type: 'string', jsonPath: '.spec.pactoRef' },
    { name: 'Resolved', type: 'boolean', jsonPath: '.status.resolved' },
  ],
  spec: SPEC,
  status: STATUS,
});
