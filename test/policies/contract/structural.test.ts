import { describe, expect, it } from 'vitest';
import { readDocument } from '../../../src/policies/contract/load.ts';
import { validateStructure } from '../../../src/policies/contract/structural.ts';
import { CART, told } from './validating.ts';

function structure(yaml: string): readonly string[] {
  return told(validateStructure(readDocument(yaml)));
}

const CLAIM = 'id: a, type: url, status: done, evidence: x, weight: 1';
const CONFIGURATION_RULE =
  'a configuration has exactly one of "schema" and "ref", and "values" only beside "schema"';
const CAPABILITY_RULE =
  '"health" and "metrics" may have a "binding" and have no "ref"; an "extension" has a "ref" and no "binding"';
const REVISION = 'date: "2026-01-01", version: "1", author: a, description: d';

/** Keys beside `pactoVersion` and `service`, and the places that break the schema. */
const TABLE: readonly (readonly [what: string, yaml: string, paths: readonly string[]])[] = [
  ['an unknown key, at the object', 'verification: {}', ['']],
  ['metadata of any shape', 'metadata: {a: [1, {__proto__: x, constructor: [null]}]}', []],
  ['metadata that is a list', 'metadata: []', ['metadata']],
  ['extensions of any shape', 'extensions: {acme.test/x: {a: 1}}', []],
  ['extensions that are a text', 'extensions: x', ['extensions']],
  ['a null list', 'interfaces:', ['interfaces']],
  ['an item that is no mapping', 'interfaces: [x]', ['interfaces.0']],
  ['each type of interface', interfaces('openapi', 'asyncapi', 'grpc'), []],
  ['an unknown type of interface', interfaces('http'), ['interfaces.0.type']],
  ['the second of two interfaces', interfaces('grpc', 'soap'), ['interfaces.1.type']],
  ['a public interface', 'interfaces: [{name: a, type: grpc, ref: a, visibility: public}]', []],
  [
    'a secret interface',
    'interfaces: [{name: a, type: grpc, ref: a, visibility: no-one}]',
    ['interfaces.0.visibility'],
  ],
  ['an interface without anything', 'interfaces: [{}]', ['interfaces.0']],
  ['an empty name', 'interfaces: [{name: "", type: grpc, ref: a}]', ['interfaces.0.name']],
  ['an empty ref', 'interfaces: [{name: a, type: grpc, ref: ""}]', ['interfaces.0.ref']],
  ['a configuration by schema', 'configurations: [{name: a, required: false, schema: a}]', []],
  ['a configuration by ref', 'configurations: [{name: a, required: false, ref: a}]', []],
  ['values beside a schema', 'configurations: [{name: a, required: true, schema: a, values: {x: 1}}]', []],
  [
    'values beside a ref',
    'configurations: [{name: a, required: true, ref: a, values: {}}]',
    ['configurations.0'],
  ],
  [
    'values that are a list',
    'configurations: [{name: a, required: true, schema: a, values: []}]',
    ['configurations.0.values'],
  ],
  [
    'a configuration with both',
    'configurations: [{name: a, required: true, schema: a, ref: a}]',
    ['configurations.0'],
  ],
  ['a configuration with neither', 'configurations: [{name: a, required: true}]', ['configurations.0']],
  ['required left out', 'configurations: [{name: a, schema: a}]', ['configurations.0']],
  ['required: yes', 'configurations: [{name: a, required: yes, schema: a}]', ['configurations.0.required']],
  ['no policies', 'policies: []', ['policies']],
  ['a policy by schema', 'policies: [{name: a, schema: a, target: contract}]', []],
  ['a policy by ref', 'policies: [{name: a, ref: a}]', []],
  ['a policy with both', 'policies: [{name: a, ref: a, schema: a}]', ['policies.0']],
  ['a policy with neither', 'policies: [{name: a}]', ['policies.0']],
  ['another target', 'policies: [{name: a, ref: a, target: runtime}]', ['policies.0.target']],
  ['a dependency', 'dependencies: [{name: a, ref: a, required: true, compatibility: a}]', []],
  ['a dependency without all', 'dependencies: [{}]', ['dependencies.0']],
  [
    'an empty range',
    'dependencies: [{name: a, ref: a, required: true, compatibility: ""}]',
    ['dependencies.0.compatibility'],
  ],
  ['the workload scheduled', 'workload: scheduled', []],
  ['the workload daemon', 'workload: daemon', ['workload']],
  ['a workload that is null', 'workload:', ['workload']],
  ['a stateless service', state('stateless', 'ephemeral'), []],
  ['a stateless service that persists', state('stateless', 'persistent'), ['state.persistence.durability']],
  ['a stateful service that does not persist', state('stateful', 'ephemeral'), []],
  ['a hybrid service', state('hybrid', 'persistent'), []],
  ['an unknown state', state('none', 'persistent'), ['state.type']],
  ['a state without persistence', 'state: {type: stateful, dataCriticality: high}', ['state']],
  ['capabilities', 'capabilities: [{type: health}, {type: metrics}, {type: extension, ref: x}]', []],
  [
    'an extension without ref',
    'capabilities: [{type: extension}]',
    ['capabilities.0.type', 'capabilities.0'],
  ],
  [
    'an extension with a binding',
    'capabilities: [{type: extension, ref: x, binding: {type: http, interface: a}}]',
    ['capabilities.0.type', 'capabilities.0'],
  ],
  [
    'a health check with a ref',
    'capabilities: [{type: health, ref: x}]',
    ['capabilities.0', 'capabilities.0.type'],
  ],
  ['a binding', 'capabilities: [{type: health, binding: {type: http, interface: a, path: /x}}]', []],
  [
    'a binding of another type',
    'capabilities: [{type: health, binding: {type: grpc, interface: a}}]',
    ['capabilities.0.binding.type'],
  ],
  ['a path that names a host', path('//x'), ['capabilities.0.binding.path']],
  ['a path that is none', path('x'), ['capabilities.0.binding.path']],
  ['an empty path', path(''), ['capabilities.0.binding.path', 'capabilities.0.binding.path']],
  ['a path with a line feed after its first character', path('/a\\nb'), ['capabilities.0.binding.path']],
  ['a path with a line feed as its first character, as RE2 does', path('/\\nb'), []],
  ['a path with a carriage return, as RE2 does', path('/a\\rb'), []],
  ['a path with a line separator, as RE2 does', path('/a\\u2028b'), []],
  ['a claim', readiness({}), []],
  ['no claims', 'readiness: {expires: "2027-01-01", claims: []}', ['readiness.claims']],
  ['an impossible date, as layer 2 says it', readiness({ expires: '"2027-13-45"' }), []],
  ['a score of 100', readiness({ minScore: '100' }), []],
  ['a score of 80.0', readiness({ minScore: '80.0' }), []],
  ['a score of 8e1', readiness({ minScore: '8e1' }), []],
  ['a score of 80.5', readiness({ minScore: '80.5' }), ['readiness.minScore']],
  ['a score of 101', readiness({ minScore: '101' }), ['readiness.minScore']],
  ['a score of -1', readiness({ minScore: '-1' }), ['readiness.minScore']],
  ['a score beyond 2^53', readiness({ minScore: '9007199254740993' }), ['readiness.minScore']],
  ['a credit of 1', readiness({ partialCredit: '1' }), []],
  ['a credit of 0.5', readiness({ partialCredit: '0.5' }), []],
  ['a credit of 1.1', readiness({ partialCredit: '1.1' }), ['readiness.partialCredit']],
  ['a credit that is a text', readiness({ partialCredit: 'half' }), ['readiness.partialCredit']],
  ['a claim with dots in its id', readiness({ claims: `[{${CLAIM.replace('id: a', 'id: a.b_c-9')}}]` }), []],
  [
    'a claim that ends with a dash',
    readiness({ claims: `[{${CLAIM.replace('id: a', 'id: a-')}}]` }),
    ['readiness.claims.0.id'],
  ],
  [
    'a claim of another status',
    readiness({ claims: `[{${CLAIM.replace('done', 'open')}}]` }),
    ['readiness.claims.0.status'],
  ],
  [
    'a claim without weight',
    readiness({ claims: `[{${CLAIM.replace(', weight: 1', '')}}]` }),
    ['readiness.claims.0'],
  ],
  [
    'a claim of another category',
    readiness({ claims: `[{${CLAIM}, category: x}]` }),
    ['readiness.claims.0.category'],
  ],
  [
    'an empty description',
    readiness({ claims: `[{${CLAIM}, description: ""}]` }),
    ['readiness.claims.0.description'],
  ],
  ['a history without entries', readiness({ history: '[]' }), []],
  ['a history', readiness({ history: `[{${REVISION}}]` }), []],
  [
    'a revision without an author',
    readiness({ history: `[{${REVISION.replace(', author: a', '')}}]` }),
    ['readiness.history.0'],
  ],
];

function interfaces(...types: readonly string[]): string {
  return `interfaces: [${types.map((type) => `{name: a, type: ${type}, ref: a}`).join(', ')}]`;
}

function state(type: string, durability: string): string {
  return `state: {type: ${type}, persistence: {scope: shared, durability: ${durability}}, dataCriticality: medium}`;
}

function path(text: string): string {
  return `capabilities: [{type: health, binding: {type: http, interface: a, path: "${text}"}}]`;
}

function readiness(fields: Readonly<Record<string, string>>): string {
  const all = { expires: '"2027-01-01"', claims: `[{${CLAIM}}]`, ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `readiness: {${lines.join(', ')}}`;
}

describe('layer 1', () => {
  it.each(TABLE.filter(([, , paths]) => paths.length === 0))('allows %s', (_what, yaml) => {
    expect(structure(CART + yaml)).toEqual([]);
  });

  it.each(TABLE.filter(([, , paths]) => paths.length > 0))('denies %s', (_what, yaml, paths) => {
    const expected = paths.map((each) => (each === '' ? 'SCHEMA_VIOLATION' : `SCHEMA_VIOLATION ${each}`));
    expect([...new Set(structure(CART + yaml))]).toEqual([...new Set(expected)]);
  });

  it.each([
    ['name: a', 'service'],
    ['name: A, version: "1"', 'service.name'],
    ['name: a-, version: "1"', 'service.name'],
    ['name: a.b, version: "1"', 'service.name'],
    ['name: "a\\n", version: "1"', 'service.name'],
    ['name: a, version: ""', 'service.version'],
    ['name: a, version: 1.0', 'service.version'],
    ['name: a, version: "1", owner: {}', 'service.owner'],
    ['name: a, version: "1", owner: x', 'service.owner'],
    ['name: a, version: "1", owner: {team: a@b}', 'service.owner.team'],
    ['name: a, version: "1", owner: {dri: a b}', 'service.owner.dri'],
    ['name: a, version: "1", owner: {contacts: []}', 'service.owner.contacts'],
    ['name: a, version: "1", owner: {contacts: [{type: fax, value: x}]}', 'service.owner.contacts.0.type'],
    ['name: a, version: "1", owner: {contacts: [{type: url}]}', 'service.owner.contacts.0'],
    ['name: a, version: "1", lead: x', 'service'],
  ])('denies the service {%s}', (service, where) => {
    expect(structure(`pactoVersion: "2.0"\nservice: {${service}}`)).toEqual([`SCHEMA_VIOLATION ${where}`]);
  });

  it.each([
    ['name: a--b, version: latest'],
    [`name: ${'a'.repeat(5000)}, version: "1"`],
    ['name: a, version: "1", owner: {team: a/b.c_d-E9, dri: a@b.test}'],
    ['name: a, version: "1", owner: {contacts: [{type: chat, value: x, purpose: escalation}]}'],
  ])('allows the service {%s}', (service) => {
    expect(structure(`pactoVersion: "2.0"\nservice: {${service}}`)).toEqual([]);
  });

  it.each([
    ['', 'is missing'],
    ['[]', 'is missing'],
    ['just text', 'is missing'],
    ['pactoVersion: 2.0\nservice: []', 'is a number'],
    ['pactoVersion: "1.1"\nverification: {}', 'is "1.1"'],
    ['pactoVersion:', 'is null'],
  ])('denies the version of %j and says nothing else', (yaml, found) => {
    const problems = validateStructure(readDocument(yaml));
    expect(told(problems)).toEqual(['UNSUPPORTED_PACTO_VERSION pactoVersion']);
    expect(problems[0]?.message).toContain(found);
  });

  it.each([['a: ['], ['a: 1\na: 2'], [`${CART}metadata: {n: .nan}`]])('denies %j as no YAML', (yaml) => {
    expect(structure(yaml)).toEqual(['YAML_PARSE_ERROR']);
  });

  it.each([
    ['allows', '😀', 2048, []],
    ['denies', '😀', 2049, ['SCHEMA_VIOLATION readiness.claims.0.evidence']],
    ['allows', 'é', 2048, []],
    ['denies', 'e', 2049, ['SCHEMA_VIOLATION readiness.claims.0.evidence']],
  ])('%s evidence of the character %s %i times', (_verdict, character, times, expected) => {
    const claim = CLAIM.replace('evidence: x', `evidence: "${character.repeat(times)}"`);
    expect(structure(CART + readiness({ claims: `[{${claim}}]` }))).toEqual(expected);
  });

  it('denies keys that objects have by nature', () => {
    expect(structure(`${CART}__proto__: {}`)).toEqual(['SCHEMA_VIOLATION']);
    expect(
      structure(`${CART}interfaces: [{constructor: a, toString: b, name: a, type: grpc, ref: a}]`),
    ).toEqual(['SCHEMA_VIOLATION interfaces.0']);
    expect(structure('pactoVersion: "2.0"\nservice: {__proto__: {name: a}, version: "1"}')).toEqual([
      'SCHEMA_VIOLATION service',
      'SCHEMA_VIOLATION service',
    ]);
  });

  it('says why a form is wrong, and never shows what values hold', () => {
    const problems = validateStructure(
      readDocument(`${CART}configurations: [{name: a, required: true, ref: a, values: hunter2}]`),
    );
    expect(problems.map(({ message }) => message)).toEqual([
      'must be a mapping, but is a text',
      'has "ref" and "values": a configuration has exactly one of "schema" and "ref", and "values" only beside "schema"',
    ]);
  });

  it.each<readonly [yaml: string, messages: readonly (readonly [path: string, message: string])[]]>([
    [
      'configurations: [{name: a, required: true}]',
      [['configurations.0', `misses "schema" or "ref": ${CONFIGURATION_RULE}`]],
    ],
    [
      'configurations: [{name: a, required: true, values: {}}]',
      [['configurations.0', `misses "schema" or "ref": ${CONFIGURATION_RULE}`]],
    ],
    [
      'configurations: [{name: a, required: true, schema: a, ref: a}]',
      [['configurations.0', `has "schema" and "ref": ${CONFIGURATION_RULE}`]],
    ],
    [
      'policies: [{name: a}]',
      [['policies.0', 'misses "schema" or "ref": a policy has exactly one of "schema" and "ref"']],
    ],
    ['policies: [{name: a, ref: ""}]', [['policies.0.ref', 'must not be empty']]],
    [
      'capabilities: [{type: healthz}]',
      [
        ['capabilities.0.type', 'must be one of "health", "metrics", "extension", but is "healthz"'],
        ['capabilities.0', `has none of its forms: ${CAPABILITY_RULE}`],
      ],
    ],
    [
      'capabilities: [{type: extension}]',
      [
        ['capabilities.0.type', `does not go with the keys beside it: ${CAPABILITY_RULE}`],
        ['capabilities.0', `misses "ref": ${CAPABILITY_RULE}`],
      ],
    ],
    [
      'capabilities: [{type: health, ref: x}]',
      [
        ['capabilities.0', `has "ref": ${CAPABILITY_RULE}`],
        ['capabilities.0.type', `does not go with the keys beside it: ${CAPABILITY_RULE}`],
      ],
    ],
    [
      state('stateless', 'persistent'),
      [
        [
          'state.persistence.durability',
          'must be "ephemeral", but is "persistent", because type is "stateless"',
        ],
      ],
    ],
    [
      'state: {persistence: {scope: shared, durability: persistent}, dataCriticality: low}',
      [
        ['state', 'misses "type"'],
        ['state.persistence.durability', 'must be "ephemeral", but is "persistent"'],
      ],
    ],
    [readiness({ minScore: '80.5' }), [['readiness.minScore', 'must be a whole number, but is 80.5']]],
    [readiness({ minScore: 'all' }), [['readiness.minScore', 'must be a whole number, but is a text']]],
    ['workload: 5', [['workload', 'must be a text, but is a number: put it in quotes']]],
    [
      'colour: red',
      [
        [
          '',
          expect.stringMatching(
            /^the contract must not have "colour": it may have "pactoVersion",/,
          ) as string,
        ],
      ],
    ],
    [
      path('x'),
      [
        [
          'capabilities.0.binding.path',
          'must be a path in one line that begins with "/", and not with "//", but is "x"',
        ],
      ],
    ],
    [
      readiness({ claims: `[{${CLAIM.replace('id: a', 'id: a-')}}]` }),
      [
        [
          'readiness.claims.0.id',
          'must have only lower-case letters, digits and the characters . _ -, a letter or digit at either end, but is "a-"',
        ],
      ],
    ],
  ])('says of %s what is wrong, once for each place', (yaml, messages) => {
    const problems = validateStructure(readDocument(CART + yaml));
    expect(problems.map((problem) => [problem.path, problem.message])).toEqual(messages);
  });

  it('tells no more than 1,000 problems', () => {
    expect(structure(`${CART}interfaces: [${'x,'.repeat(3000)}]`)).toHaveLength(1000);
  });
});
