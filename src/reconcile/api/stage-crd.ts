/** The CustomResourceDefinition of `Stage` (delivery.md §3.1). `npm run crds` writes it out. */
import { STAGE } from '../../cluster/kinds.ts';
import { REASON_CODES } from '../../policies/delivery/decision.ts';
import { POINTER_FIELDS } from '../../policies/delivery/stage.ts';
import {
  CONDITIONS,
  choice,
  crd,
  duration,
  flag,
  int32,
  int64,
  listMap,
  listOf,
  object,
  rules,
  text,
  time,
  type Schema,
} from './crd-schema.ts';
import { TEMPLATES, name, pin } from './delivery-schema.ts';

const POINTERS = listMap(
  'What names the release, moved in this order and reverted in reverse.',
  'name',
  8,
  object(
    'One object with the one value in it that names a release.',
    {
      name: name('Of the pointer within the Stage.'),
      target: object(
        'The object, which names this Stage by its label.',
        {
          apiVersion: text('Such as source.toolkit.fluxcd.io/v1.', { minLength: 1, maxLength: 253 }),
          kind: choice('Its kind.', [
            'OCIRepository',
            'GitRepository',
            'Kustomization',
            'HelmRelease',
            'ConfigMap',
          ]),
          name: name('Its name.'),
          namespace: text("Left out: the Stage's own.", { maxLength: 63 }),
        },
        ['apiVersion', 'kind', 'name'],
      ),
      field: choice('Which value of it.', POINTER_FIELDS),
      key: text('Name of the image or key of the ConfigMap.', { maxLength: 253, default: '' }),
      artifact: text("What the target's URL must be.", { maxLength: 2_048, default: '' }),
    },
    ['field', 'name', 'target'],
    rules(
      [
        "(self.field in ['kustomizeImageDigest', 'configKey']) == (has(self.key) && self.key != '')",
        'key names the image or the key, for kustomizeImageDigest and configKey alone',
      ],
      [
        "{'ociDigest': 'OCIRepository', 'gitCommit': 'GitRepository', 'chartVersion': 'HelmRelease', 'kustomizeImageDigest': 'Kustomization', 'configKey': 'ConfigMap'}[self.field] == self.target.kind",
        'field is of another kind than target',
      ],
    ),
  ),
  { minItems: 1 },
);

const UPSTREAM = object(
  'A Stage that a release must have been in before.',
  {
    stage: text('Name of the Stage; of a remote one namespace/name.', { minLength: 1, maxLength: 317 }),
    namespace: text("Of the Stage; left out: this Stage's own.", { maxLength: 63 }),
    minCompliantFor: duration('How long its verdict must have been Compliant.'),
    remote: text('Entry of the trust configuration, for a Stage of another cluster.', { maxLength: 63 }),
    maxRecordAge: duration('How old its record may be.'),
  },
  ['stage'],
  rules(
    ['!has(self.remote) || !has(self.__namespace__)', 'a remote stage is named namespace/name'],
    ['has(self.remote) || !has(self.maxRecordAge)', 'maxRecordAge is of remote stages alone'],
  ),
);

const WINDOW = object(
  'A span of time that recurs.',
  {
    kind: choice('Whether moves are allowed in it, or are not.', ['Allow', 'Deny']),
    schedule: text('When it begins: five fields of cron.', { minLength: 9, maxLength: 128 }),
    timeZone: text('IANA name; left out: UTC.', { maxLength: 64, default: '' }),
    duration: duration('How long it lasts.'),
  },
  ['duration', 'kind', 'schedule'],
);

const SPEC: Schema = object(
  'One service in one environment.',
  {
    pacto: object(
      'Whose verdict counts.',
      {
        name: name('Of the Pacto.'),
        namespace: text('Left out: this one; another must be allowed by the identity policy.', {
          maxLength: 63,
        }),
      },
      ['name'],
    ),
    pointers: POINTERS,
    consumers: {
      ...listOf(
        'What must have applied a release; left out: those that name the pointers as their source.',
        object(
          'One consumer.',
          {
            kind: choice('Its kind.', ['Kustomization', 'HelmRelease']),
            name: name('Its name.'),
            namespace: text("Left out: the Stage's own.", { maxLength: 63 }),
          },
          ['kind', 'name'],
        ),
      ),
      maxItems: 16,
    },
    upstreams: object('Where a release must have been before.', {
      strategy: { ...choice('Of several, all or any.', ['All', 'Any']), default: 'All' },
      from: { ...listOf('The Stages.', UPSTREAM), maxItems: 16 },
    }),
    gate: {
      ...object('What the gate does.', {
        mode: {
          ...choice('Refuse, only say so, or nothing.', ['Enforce', 'Warn', 'Off']),
          default: 'Enforce',
        },
        scope: {
          ...choice('What is gated.', ['Pointer', 'Workload', 'Strict']),
          default: 'Pointer',
        },
        target: {
          ...choice("What a violation of the Stage's own means.", ['AllowCures', 'Block', 'Ignore']),
          default: 'AllowCures',
        },
        onUnknown: {
          ...choice('What is done where nothing can be observed.', ['Wait', 'Deny', 'Allow']),
          default: 'Wait',
        },
        maxVerdictAge: { ...duration('How old a verdict may be.'), default: '15m' },
        requireReadiness: {
          ...flag('The readiness gate of the contract must be satisfied.'),
          default: false,
        },
      }),
      default: {},
    },
    approvals: {
      ...object('Who must agree.', {
        required: listMap(
          'Roles of the identity policy, and how many of each.',
          'role',
          16,
          object(
            'One role.',
            {
              role: name('Of the identity policy.'),
              count: int32('How many people.', { minimum: 1, maximum: 16, default: 1 }),
            },
            ['role'],
          ),
        ),
        separationOfDuties: {
          ...choice('Whose own approval does not count.', ['None', 'Requester', 'RequesterAndAuthor']),
          default: 'Requester',
        },
        validFor: { ...duration('How long an approval counts.'), default: '24h' },
        onVerdictChange: {
          ...choice('What a worse verdict makes of approvals.', ['Invalidate', 'Keep']),
          default: 'Invalidate',
        },
      }),
      default: {},
    },
    promotion: object('What is promoted without being asked for.', {
      auto: { ...flag('Whether anything is.'), default: false },
      select: { ...choice('Which release.', ['Newest', 'MatchUpstream']), default: 'Newest' },
      queue: { ...choice('Of several that wait, the latest or all.', ['Latest', 'All']), default: 'Latest' },
    }),
    verification: {
      ...object('What follows a move.', {
        soak: {
          ...duration('How long the verdict must be Compliant; 0, or no less than the window of absences.'),
          default: '10m',
        },
        deadline: { ...duration('How long that may take.'), default: '30m' },
      }),
      default: {},
    },
    rollback: object('What follows a violation.', {
      automatic: {
        ...choice('When to go back without being asked.', ['Never', 'OnNonCompliant']),
        default: 'Never',
      },
      window: { ...duration('How long after a success.'), default: '1h' },
    }),
    recording: { ...choice('Whether a record is owed.', ['Required', 'BestEffort']), default: 'Required' },
    freeze: object('Nothing goes forward for a while.', {
      until: { ...time('When it ends; null: not frozen.'), nullable: true },
      reason: text('Why, for people.', { maxLength: 256, default: '' }),
      allowCures: { ...flag('Whether what is proved to be a cure may go forward.'), default: false },
    }),
    windows: { ...listOf('Spans of time that recur.', WINDOW), maxItems: 16 },
    historyLimit: int32('How many good releases are remembered.', { minimum: 1, maximum: 64, default: 20 }),
    suspend: { ...flag('Whether the gate keeper leaves the Stage alone.'), default: false },
  },
  ['pacto', 'pointers'],
  rules([
    "!has(self.gate) || self.gate.target != 'Ignore' || (has(self.upstreams) && has(self.upstreams.from) && size(self.upstreams.from) > 0)",
    'gate.target Ignore without upstreams would be no gate at all',
  ]),
);

const RELEASE = {
  digest: pin('What it is.'),
  tag: text('What it is called.', { maxLength: 256 }),
  verifiedAt: time('When its verdict had been Compliant for the soak.'),
  templates: TEMPLATES,
};

const STATUS: Schema = {
  ...object('What the gate keeper found.', {
    observedGeneration: int64('Generation of the Stage that this is about.'),
    conditions: CONDITIONS,
    current: object('What the pointers stand on.', {
      ...RELEASE,
      contractRevision: text('Revision of the contract.', { maxLength: 253 }),
      since: time('Since when.'),
      convergedAt: time('Since when the consumers run it.'),
      compliantSince: time('Since when its verdict is Compliant without a break.'),
      operation: text('Operation that moved it.', { maxLength: 253 }),
    }),
    candidate: object('What is waiting.', {
      digest: pin('What it is.'),
      tag: text('What it is called.', { maxLength: 256 }),
      source: text('Where it was seen.', { maxLength: 317 }),
      availableSince: time('Since when.'),
      decision: choice('What the gate says of it.', ['Allow', 'Wait', 'Deny']),
      reasonCode: choice('Why, as a code.', REASON_CODES),
      message: text('Why, as a sentence.', { maxLength: 1_024 }),
    }),
    gate: object('What the gate says.', {
      decision: choice('The decision.', ['Allow', 'Wait', 'Deny']),
      reasonCode: choice('Why, as a code.', REASON_CODES),
      message: text('Why, as a sentence.', { maxLength: 1_024 }),
      verdict: text('Status of the Pacto.', { maxLength: 63 }),
      verdictObservedAt: time('When it was found.'),
      verdictResourceVersion: text('Version of the Pacto.', { maxLength: 64 }),
      subjectDigest: pin('What the decision is about.'),
      evaluatedAt: time('When it was made.'),
      expiresAt: time('When it stops counting.'),
      nextChange: time('When it may be another without any change.'),
      policySha256: text('Of the identity policy.', { pattern: '^([a-f0-9]{64})?$' }),
    }),
    lastGood: {
      ...listOf(
        'Releases that may always be gone back to, the newest first.',
        object('One release.', RELEASE, ['digest']),
      ),
      maxItems: 64,
    },
    ungated: object('A value that a pointer stands on without having been allowed.', {
      digest: pin('The value.'),
      since: time('Since when.'),
    }),
    hold: object('What must not come back.', {
      active: flag('Whether it counts.'),
      since: time('Since when.'),
      by: text('Who holds it.', { maxLength: 1_024 }),
      excludeDigests: { ...listOf('What it is.', pin('One.')), maxItems: 64 },
    }),
    activeOperation: object('The Operation under way.', {
      name: text('Its name.', { maxLength: 253 }),
      uid: text('Its uid.', { maxLength: 64 }),
    }),
    recordHead: object('The last record of the chain.', {
      seq: int64('Its number.'),
      sha256: digestHex('Its digest.'),
      kid: text('Key that signed it.', { maxLength: 256 }),
    }),
    lastHandledReconcileAt: text('The token that was answered last.', { maxLength: 256 }),
  }),
  // kstatus takes a Stage of which nothing is known for one that is in progress (delivery.md §3.1, §4.1).
  default: {
    conditions: [
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'Pending',
        message: 'the gate keeper has not looked at it yet',
        lastTransitionTime: '1970-01-01T00:00:00Z',
      },
    ],
  },
};

function digestHex(description: string): Schema {
  return text(description, { pattern: '^([a-f0-9]{64})?$' });
}

export const STAGE_CRD: object = crd({
  ...STAGE,
  description: 'One service in one environment, and the gate in front of it.',
  columns: [
    { name: 'Gate', type: 'string', jsonPath: '.status.gate.decision' },
    { name: 'Reason', type: 'string', jsonPath: '.status.gate.reasonCode' },
    { name: 'Current', type: 'string', jsonPath: '.status.current.digest' },
  ],
  spec: SPEC,
  status: STATUS,
});
