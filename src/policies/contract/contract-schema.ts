/**
 * The JSON Schema of contract v2.0 (contract.md §1): what layer 1 judges by, and, written as JSON, what
 * manifests/schema/pacto-v2.0.schema.json publishes for editors. It uses only the keywords of `Schema`.
 */

/** The keywords of draft 2020-12 that the contract's schema needs; `format` is not asserted (contract.md §3.2). */
export interface Schema {
  readonly $schema?: string;
  readonly $id?: string;
  readonly title?: string;
  /** Of an object with `oneOf`, it is also the reason that a violation gives. */
  readonly description?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly minProperties?: 1;
  readonly items?: Schema;
  readonly minItems?: 1;
  /** Lengths count code points. */
  readonly minLength?: 1;
  readonly maxLength?: number;
  readonly pattern?: SchemaPattern;
  readonly format?: 'date';
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly not?: Schema;
  readonly if?: Schema;
  readonly then?: Schema;
}

/**
 * What each pattern means in RE2, where `.` is anything but a line feed, said as an expression of this language: all are
 * anchored and of linear time.
 */
export const SCHEMA_PATTERNS = {
  '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$': /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  '^[a-zA-Z0-9._/-]+$': /^[a-zA-Z0-9._/-]+$/,
  '^[a-zA-Z0-9._@/-]+$': /^[a-zA-Z0-9._@/-]+$/,
  '^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$': /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/,
  '^/([^/].*)?$': /^\/([^/][^\n]*)?$/,
} as const satisfies Record<string, RegExp>;

export type SchemaPattern = keyof typeof SCHEMA_PATTERNS;

const TEXT: Schema = { type: 'string', minLength: 1 };

function closed(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
  more: Schema = {},
): Schema {
  return { ...more, type: 'object', properties, required, additionalProperties: false };
}

function oneWord(...words: readonly string[]): Schema {
  return { type: 'string', enum: words };
}

/** contract.md §1.2 */
const SERVICE = closed(
  {
    name: { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' },
    version: { ...TEXT, description: 'A semantic version; parts may be missing.' },
    owner: {
      ...closed(
        {
          team: { ...TEXT, pattern: '^[a-zA-Z0-9._/-]+$' },
          dri: { ...TEXT, pattern: '^[a-zA-Z0-9._@/-]+$', description: 'The directly responsible person.' },
          contacts: {
            type: 'array',
            minItems: 1,
            items: closed(
              {
                type: oneWord('email', 'url', 'group', 'oncall', 'chat', 'other'),
                value: TEXT,
                purpose: oneWord('ownership', 'support', 'escalation', 'oncall', 'notifications'),
              },
              ['type', 'value'],
            ),
          },
        },
        [],
      ),
      minProperties: 1,
    },
  },
  ['name', 'version'],
);

/** contract.md §1.3 */
const INTERFACE = closed(
  {
    name: TEXT,
    type: oneWord('openapi', 'asyncapi', 'grpc'),
    ref: { ...TEXT, description: 'The path of the description inside the bundle.' },
    visibility: { ...oneWord('public', 'internal'), description: 'Absent means internal.' },
  },
  ['name', 'type', 'ref'],
);

/** contract.md §1.4 */
const CONFIGURATION = closed(
  {
    name: TEXT,
    required: { type: 'boolean' },
    schema: { ...TEXT, description: 'The path of a JSON Schema file inside the bundle.' },
    ref: { ...TEXT, description: 'A reference to the contract that owns the configuration.' },
    values: { type: 'object' },
  },
  ['name', 'required'],
  {
    description: 'a configuration has exactly one of "schema" and "ref", and "values" only beside "schema"',
    oneOf: [
      { required: ['schema'], not: { required: ['ref'] } },
      { required: ['ref'], not: { anyOf: [{ required: ['schema'] }, { required: ['values'] }] } },
    ],
  },
);

/** contract.md §1.5 */
const POLICY = closed(
  {
    name: TEXT,
    schema: { ...TEXT, description: 'The path of a JSON Schema file inside the bundle.' },
    ref: { ...TEXT, description: 'A reference to a contract that holds policies.' },
    target: { ...oneWord('contract'), description: 'Absent means contract.' },
  },
  ['name'],
  {
    description: 'a policy has exactly one of "schema" and "ref"',
    oneOf: [
      { required: ['schema'], not: { required: ['ref'] } },
      { required: ['ref'], not: { required: ['schema'] } },
    ],
  },
);

/** contract.md §1.6 */
const DEPENDENCY = closed(
  {
    name: TEXT,
    ref: TEXT,
    required: { type: 'boolean' },
    compatibility: {
      ...TEXT,
      description: 'The versions that will do, such as ^1.2.0, where the reference names none.',
    },
  },
  ['name', 'ref', 'required', 'compatibility'],
);

/** contract.md §1.8. As `if` goes, a state without a type is held to the rule too. */
const STATE = closed(
  {
    type: oneWord('stateless', 'stateful', 'hybrid'),
    persistence: closed(
      { scope: oneWord('local', 'shared'), durability: oneWord('ephemeral', 'persistent') },
      ['scope', 'durability'],
    ),
    dataCriticality: oneWord('low', 'medium', 'high'),
  },
  ['type', 'persistence', 'dataCriticality'],
  {
    if: { properties: { type: { const: 'stateless' } } },
    // oxlint-disable-next-line no-thenable -- the keyword of JSON Schema; nobody awaits it
    then: { properties: { persistence: { properties: { durability: { const: 'ephemeral' } } } } },
  },
);

/** contract.md §1.9 */
const CAPABILITY = closed(
  {
    type: oneWord('health', 'metrics', 'extension'),
    ref: { ...TEXT, description: 'The name of an extension, such as example.com/backup.' },
    binding: closed(
      {
        type: { type: 'string', const: 'http' },
        interface: { ...TEXT, description: 'The name of an interface of this contract.' },
        path: { ...TEXT, pattern: '^/([^/].*)?$' },
      },
      ['type', 'interface'],
    ),
  },
  ['type'],
  {
    description:
      '"health" and "metrics" may have a "binding" and have no "ref"; an "extension" has a "ref" and no "binding"',
    oneOf: [
      { properties: { type: { enum: ['health', 'metrics'] } }, not: { required: ['ref'] } },
      { properties: { type: { const: 'extension' } }, required: ['ref'], not: { required: ['binding'] } },
    ],
  },
);

/** contract.md §1.10 */
const CLAIM = closed(
  {
    id: { type: 'string', pattern: '^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$' },
    type: oneWord('url', 'document', 'ticket', 'report', 'artifact', 'identifier', 'other'),
    status: oneWord('done', 'partial', 'not-done', 'deferred'),
    evidence: {
      ...TEXT,
      maxLength: 2048,
      description: 'Where a reader finds the proof; it is never fetched.',
    },
    weight: { type: 'integer', minimum: 0, maximum: 100 },
    category: oneWord(
      'architecture',
      'testing',
      'code-quality',
      'observability',
      'security',
      'documentation',
      'infrastructure',
      'ci-cd',
      'deployment',
      'resilience',
      'backup-recovery',
      'incident-response',
      'compliance',
      'other',
    ),
    description: TEXT,
  },
  ['id', 'type', 'status', 'evidence', 'weight'],
);

const READINESS = closed(
  {
    expires: { type: 'string', format: 'date' },
    claims: { type: 'array', minItems: 1, items: CLAIM },
    minScore: { type: 'integer', minimum: 0, maximum: 100, description: 'Absent means 100.' },
    partialCredit: { type: 'number', minimum: 0, maximum: 1, description: 'Absent means 0.5.' },
    history: {
      type: 'array',
      items: closed(
        { date: { type: 'string', format: 'date' }, version: TEXT, author: TEXT, description: TEXT },
        ['date', 'version', 'author', 'description'],
      ),
    },
  },
  ['expires', 'claims'],
);

/** contract.md §1.1 */
export const CONTRACT_SCHEMA: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'https://pacto.trianalab.com/schema/v2.0',
  title: 'Pacto Service Contract v2.0',
  ...closed(
    {
      pactoVersion: { type: 'string', enum: ['2.0'] },
      service: SERVICE,
      interfaces: { type: 'array', items: INTERFACE },
      configurations: { type: 'array', items: CONFIGURATION },
      policies: { type: 'array', minItems: 1, items: POLICY },
      dependencies: { type: 'array', items: DEPENDENCY },
      workload: oneWord('service', 'job', 'scheduled'),
      state: STATE,
      capabilities: { type: 'array', items: CAPABILITY },
      readiness: READINESS,
      metadata: { type: 'object' },
      extensions: { type: 'object' },
    },
    ['pactoVersion', 'service'],
  ),
};
