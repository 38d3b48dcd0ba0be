/** The CustomResourceDefinition of `Pacto`: every field, default and check of operator.md §1.1. `npm run crds` writes it out. */
import { PACTO } from '../../cluster/kinds.ts';
import { CONTRACT_STATUSES } from '../../policies/contract/status-ladder.ts';
import { WORKLOAD_KINDS } from '../target.ts';
import {
  CONDITIONS,
  choice,
  crd,
  flag,
  int32,
  int64,
  intOrString,
  listOf,
  mapOf,
  object,
  text,
  time,
  type Schema,
} from './crd-schema.ts';

/** operator.md §1.1.2, in the order that recorded refusals name them. */
const STATUSES = [
  'Compliant',
  'Warning',
  'NonCompliant',
  'Reference',
  'Unknown',
  'Invalid',
  'NotEvaluated',
].filter((status) => CONTRACT_STATUSES.some((known) => known === status));

const SPEC = object(
  'What is promised, and by whom it is kept.',
  {
    contractRef: object('Where the contract is.', {
      oci: text('Reference to a bundle: without a tag the highest version, :tag, or @sha256:…'),
      inline: text('The contract itself, as YAML; wins over oci.'),
      pullSecretRef: text('Secret of this namespace with the credentials of the registry.'),
    }),
    target: object('What is looked at; without a target the contract is a reference.', {
      serviceName: text('Service of this namespace.'),
      workloadRef: object(
        'Workload of this namespace; left out it is a Deployment with the name of the Service.',
        {
          name: text('Its name.'),
          kind: choice(
            'Its kind. Left out it is read as Deployment, and its type is not held against the contract.',
            WORKLOAD_KINDS.map(({ kind }) => kind),
          ),
        },
        ['name'],
      ),
      interfaceBindings: listOf(
        'Which Service port is which interface of the contract.',
        object(
          'One interface.',
          {
            interface: text('Name of the interface.'),
            servicePort: intOrString('Number of the Service port, or its name.'),
          },
          ['interface', 'servicePort'],
        ),
      ),
      configBindings: listOf(
        'Which object holds which configuration of the contract.',
        object(
          'One configuration.',
          {
            configuration: text('Name of the configuration.'),
            kind: choice('Kind of the object. The content of a Secret is never read.', [
              'ConfigMap',
              'Secret',
            ]),
            name: text('Name of the object.'),
            key: text('Key whose content is held against the schema; left out only existence counts.'),
            format: choice('How the content is written.', ['yaml', 'json']),
          },
          ['configuration', 'kind', 'name'],
        ),
      ),
    }),
    overrides: object('What is laid over the contract before it is validated.', {
      configurations: listOf(
        'Values of configurations, by name.',
        object(
          'One configuration.',
          {
            name: text('A configuration of the contract.', { minLength: 1 }),
            values: mapOf('Laid over its values, as texts.', { type: 'string' }, { minProperties: 1 }),
          },
          ['name', 'values'],
        ),
      ),
    }),
    checkIntervalSeconds: int32('How often is looked at the latest.', { default: 300, minimum: 30 }),
  },
  ['contractRef'],
);

const count = (description: string): Schema => int32(description);

const PROPERTIES = listOf(
  'What it holds, in dot notation.',
  object(
    'One property.',
    { key: text('Its name.'), type: text('Its type.'), value: text('Its value or default.') },
    ['key'],
  ),
);

const ISSUES = (description: string): Schema =>
  listOf(
    description,
    object(
      'One issue.',
      { code: text('Its code.'), path: text('Where in the contract.'), message: text('What is wrong.') },
      ['message'],
    ),
  );

const FINDINGS = listOf(
  'What was found, structural ones first.',
  object(
    'One finding.',
    {
      code: text('Its code.'),
      severity: choice('How severe it is.', ['error', 'warning', 'info', 'unknown']),
      category: text('Its category.'),
      subject: text('What it is about, as kind/name.'),
      contractPath: text('Where the contract says so.'),
      message: text('What was found.'),
      evidenceRefs: listOf(
        'What it rests on.',
        object('One source.', { source: text('Who saw it.'), observedAt: text('When.') }, [
          'observedAt',
          'source',
        ]),
      ),
    },
    ['category', 'code', 'message', 'severity'],
  ),
);

const CONTRACT = object(
  'Who is looked at.',
  {
    serviceName: text('Name of the service.'),
    version: text('Version of the service.'),
    resolvedRef: text('Reference as it was resolved, without a scheme.'),
    owner: object(
      'Who answers for it.',
      {
        team: text('Team.'),
        dri: text('Person.'),
        contacts: listOf(
          'Ways to reach them.',
          object(
            'One way.',
            { type: text('What it is.'), value: text('Where.'), purpose: text('For what.') },
            ['type', 'value'],
          ),
        ),
      },
      [],
      { minProperties: 1 },
    ),
    ownerDisplay: text('Team, else person.'),
  },
  ['serviceName', 'version'],
);

const resource = (description: string): Schema =>
  object(
    description,
    {
      name: text('Its name.'),
      kind: text('Its kind; said of a workload.'),
      exists: flag('Whether it is there.'),
    },
    ['exists', 'name'],
  );

const RESOURCES = object('Whether the target is there.', {
  service: resource('The Service.'),
  workload: resource('The workload.'),
});

const RUNTIME = object(
  'How the workload is run; shown, and never judged.',
  {
    workloadKind: text('Its kind.'),
    deploymentStrategy: text('Of a Deployment.'),
    podManagementPolicy: text('Of a StatefulSet.'),
    terminationGracePeriodSeconds: int64('Of its Pods.'),
    containerImages: listOf('Of its containers.', { type: 'string' }),
    hasPVC: flag('Whether it has a volume that outlives a Pod.'),
    hasEmptyDir: flag('Whether it has a volume that ends with its Pod.'),
    healthProbeInitialDelaySeconds: int32('Of the readiness probe, else of the liveness probe.'),
  },
  ['hasEmptyDir', 'hasPVC'],
);

const READINESS = object('The score that the service gives itself.', {
  score: int32('0 to 100.'),
  minScore: int32('What is needed.'),
  passing: flag('Whether that is reached.'),
  totalWeight: int32('Of all claims that count.'),
  earnedWeight: int32('Of what is done.'),
  expires: text('Day on which the assessment ends.'),
  expired: flag('Whether it has.'),
  daysRemaining: int32('Until then.'),
  doneCount: int32('Claims that are done.'),
  partialCount: int32('Claims that are partly done.'),
  notDoneCount: int32('Claims that are not done.'),
  deferredCount: int32('Claims that are put off.'),
  claims: listOf(
    'Each claim.',
    object(
      'One claim.',
      {
        id: text('Its name.'),
        type: text('Its type.'),
        category: text('Its category.'),
        status: choice('How far it is.', ['done', 'partial', 'not-done', 'deferred']),
        evidence: text('What shows it.'),
        description: text('What it says.'),
        weight: int32('What it weighs.'),
        earnedWeight: int32('What of it counts.'),
        excluded: flag('Whether it is left out.'),
      },
      ['id', 'status', 'type', 'weight'],
    ),
  ),
  revisions: listOf(
    'What became of the assessment.',
    object(
      'One revision.',
      { date: text('When.'), version: text('Which.'), author: text('By whom.'), description: text('What.') },
      ['author', 'date', 'description', 'version'],
    ),
  ),
});

const NAMED = { name: text('Its name.') };

const STATUS = object('What came of it.', {
  contractStatus: choice('The verdict.', STATUSES),
  contractVersion: text('Version of the service.'),
  resolutionPolicy: choice('How the reference is resolved.', ['Latest', 'PinnedTag', 'PinnedDigest']),
  currentRevision: text('PactoRevision of the contract.'),
  observedGeneration: int64('Generation that was looked at.'),
  lastReconciledAt: time('When it was looked at.'),
  contract: CONTRACT,
  validation: object(
    'Whether the contract is one.',
    { valid: flag('Whether it is.'), errors: ISSUES('What is wrong.'), warnings: ISSUES('What is loose.') },
    ['valid'],
  ),
  summary: object(
    'Findings by severity.',
    {
      errorCount: count('Errors.'),
      warningCount: count('Warnings.'),
      infoCount: count('Hints.'),
      unknownCount: count('What could not be told.'),
    },
    ['errorCount', 'infoCount', 'unknownCount', 'warningCount'],
  ),
  findings: FINDINGS,
  evaluationCoverage: object(
    'Of how many required assertions something was seen.',
    { evaluated: int32('Of so many.'), required: int32('Of all.') },
    ['evaluated', 'required'],
  ),
  observationWindows: listOf(
    'Absences that have not lasted long enough to count, or that have.',
    object(
      'One absence.',
      {
        kind: text('interface, dependency, configuration or capability.'),
        subject: text('What is absent.'),
        firstObservedNegativeAt: time('Since when.'),
      },
      ['firstObservedNegativeAt', 'kind', 'subject'],
    ),
  ),
  resources: RESOURCES,
  interfaces: listOf(
    'Interfaces of the contract.',
    object(
      'One interface.',
      {
        ...NAMED,
        type: choice('Its type.', ['openapi', 'asyncapi', 'grpc']),
        ref: text('Its file.'),
        visibility: text('As declared.'),
      },
      ['name', 'type'],
    ),
  ),
  capabilities: listOf(
    'Capabilities of the contract.',
    object('One capability.', { type: text('Its type.'), ref: text('Of an extension.') }, ['type']),
  ),
  configurations: listOf(
    'Configurations of the contract.',
    object(
      'One configuration.',
      {
        ...NAMED,
        hasSchema: flag('Whether it has a schema of its own.'),
        ref: text('Where it is described.'),
        valueKeys: listOf('Keys of its values.', { type: 'string' }),
        secretKeys: listOf('Keys whose value refers to a secret.', { type: 'string' }),
        overriddenKeys: listOf('Keys that the Pacto sets.', { type: 'string' }),
        properties: PROPERTIES,
      },
      ['hasSchema', 'name'],
    ),
  ),
  dependencies: listOf(
    'Dependencies of the contract.',
    object(
      'One dependency.',
      {
        ...NAMED,
        ref: text('Its reference.'),
        required: flag('Whether it must be there.'),
        compatibility: text('Versions that fit.'),
      },
      ['name', 'ref', 'required'],
    ),
  ),
  policies: listOf(
    'Policies of the contract.',
    object(
      'One policy.',
      {
        ...NAMED,
        hasSchema: flag('Whether it is in the bundle.'),
        schema: text('Its file.'),
        ref: text('Where it is.'),
        title: text('Its title.'),
        description: text('Its description.'),
        properties: PROPERTIES,
      },
      ['hasSchema', 'name'],
    ),
  ),
  observedRuntime: RUNTIME,
  readiness: READINESS,
  metadata: mapOf('Metadata of the contract, as texts.', { type: 'string' }),
  conditions: CONDITIONS,
});

export const PACTO_CRD: object = crd({
  ...PACTO,
  description: 'A contract, and whether a service of this cluster keeps it.',
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.contractStatus' },
    { name: 'Service', type: 'string', jsonPath: '.spec.target.serviceName' },
    { name: 'Version', type: 'string', jsonPath: '.status.contractVersion' },
    { name: 'Errors', type: 'integer', jsonPath: '.status.summary.errorCount' },
    { name: 'Warnings', type: 'integer', jsonPath: '.status.summary.warningCount' },
    { name: 'Last Reconciled', type: 'date', jsonPath: '.status.lastReconciledAt' },
  ],
  spec: SPEC,
  status: STATUS,
});
