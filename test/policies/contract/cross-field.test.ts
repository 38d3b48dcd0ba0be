import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../src/policies/contract/contract.ts';
import { checkCrossField } from '../../../src/policies/contract/cross-field.ts';
import { SchemaRun } from '../../../src/policies/contract/schema-run.ts';
import { FewKeywords } from './few-keywords.ts';
import { bundle, CART, judge, loaded, told } from './validating.ts';

const CLAIM = 'type: url, status: done, weight: 1';
const FILES = { 'web.yaml': 'a: 1', 'web.json': '{}', 's.json': '{}', 'd/x.yaml': '' };

type Row = readonly [what: string, yaml: string, expected: readonly string[]];

const NAMES: readonly Row[] = [
  [
    'an interface twice',
    'interfaces: [{name: a, type: grpc, ref: web.json}, {name: a, type: grpc, ref: web.json}]',
    ['DUPLICATE_INTERFACE_NAME interfaces[1].name'],
  ],
  [
    'a configuration twice',
    'configurations: [{name: a, required: true, schema: s.json}, {name: a, required: true, ref: ./x}]',
    ['DUPLICATE_CONFIGURATION_NAME configurations[1].name'],
  ],
  [
    'a policy three times',
    'policies: [{name: a, schema: s.json}, {name: a, schema: s.json}, {name: a, schema: s.json}]',
    ['DUPLICATE_POLICY_NAME policies[1].name', 'DUPLICATE_POLICY_NAME policies[2].name'],
  ],
  [
    'a dependency twice',
    'dependencies: [{name: a, ref: a, required: true, compatibility: "*"}, {name: a, ref: b, required: true, compatibility: "*"}]',
    ['DUPLICATE_DEPENDENCY_NAME dependencies[1].name'],
  ],
  [
    'names that differ in case',
    'interfaces: [{name: a, type: grpc, ref: web.json}, {name: A, type: grpc, ref: web.json}]',
    [],
  ],
  [
    'one name in two sections',
    'configurations: [{name: a, required: true, schema: s.json}]\npolicies: [{name: a, schema: s.json}]',
    [],
  ],
  [
    'a name that objects have by nature',
    'configurations: [{name: __proto__, required: true, schema: s.json}]',
    [],
  ],
];

const CAPABILITIES: readonly Row[] = [
  ['an interface that is declared', capability('web', '/x'), []],
  [
    'an interface in another case',
    capability('WEB', '/x'),
    ['CAPABILITY_INTERFACE_UNKNOWN capabilities[0].binding.interface'],
  ],
  ['an unsafe path', capability('web', '/%2Fx'), ['CAPABILITY_PATH_INVALID capabilities[0].binding.path']],
  ['a namespaced extension', 'capabilities: [{type: extension, ref: a.test/x}]', []],
  ['an extension with nothing behind the slash', 'capabilities: [{type: extension, ref: a.test/}]', []],
  ['an extension that is a path', 'capabilities: [{type: extension, ref: ./x}]', []],
  [
    'an extension without a dot',
    'capabilities: [{type: extension, ref: acme/x}]',
    ['CAPABILITY_REF_INVALID capabilities[0].ref'],
  ],
  [
    'an extension with its dot too late',
    'capabilities: [{type: extension, ref: a/b.c}]',
    ['CAPABILITY_REF_INVALID capabilities[0].ref'],
  ],
  [
    'an extension named as a capability',
    'capabilities: [{type: health}, {type: extension, ref: health}]',
    ['CAPABILITY_REF_INVALID capabilities[1].ref', 'DUPLICATE_CAPABILITY capabilities[1]'],
  ],
];

const REFERENCES: readonly Row[] = [
  [
    'a malformed configuration',
    'configurations: [{name: a, required: true, ref: "oci://x"}]',
    ['INVALID_CONFIG_REF configurations[0].ref'],
  ],
  ['a local configuration', 'configurations: [{name: a, required: true, ref: ../x}]', []],
  [
    'a malformed policy',
    'policies: [{name: a, ref: "oci://r.test/a:-"}]',
    ['INVALID_POLICY_REF policies[0].ref'],
  ],
  [
    'a malformed dependency, whose range is not read',
    dependency('oci://x', 'no range'),
    ['INVALID_OCI_REF dependencies[0].ref'],
  ],
  [
    'a bad range of a local dependency',
    dependency('./x', '>1 <'),
    ['INVALID_COMPATIBILITY dependencies[0].compatibility'],
  ],
  ['a range with two branches', dependency('./x', '^1 || ^2'), []],
];

const READINESS: readonly Row[] = [
  [
    'two claims of one id',
    readiness(`{id: a, evidence: x, ${CLAIM}}, {id: a, evidence: y, ${CLAIM}}`),
    ['DUPLICATE_READINESS_ID readiness.claims[1].id'],
  ],
  [
    'blank evidence',
    readiness(`{id: a, evidence: "\\u2003", ${CLAIM}}`),
    ['EMPTY_READINESS_EVIDENCE readiness.claims[0].evidence'],
  ],
  ['evidence that is a byte order mark', readiness(`{id: a, evidence: "\\ufeff", ${CLAIM}}`), []],
  [
    'a blank description',
    readiness(`{id: a, evidence: x, description: " ", ${CLAIM}}`),
    ['EMPTY_READINESS_DESCRIPTION readiness.claims[0].description'],
  ],
  [
    'a revision with everything wrong',
    `${readiness(`{id: a, evidence: x, ${CLAIM}}`)}\n  history: [{date: 2027-02-30, version: " ", author: "\\t", description: "\\u0085"}]`,
    ['date', 'version', 'author', 'description'].map(
      (field) => `INVALID_READINESS_REVISION readiness.history[0].${field}`,
    ),
  ],
];

function capability(name: string, path: string): string {
  return (
    'interfaces: [{name: web, type: openapi, ref: web.yaml}]\n' +
    `capabilities: [{type: health, binding: {type: http, interface: ${name}, path: "${path}"}}]`
  );
}

function dependency(ref: string, compatibility: string): string {
  return `dependencies: [{name: a, ref: "${ref}", required: true, compatibility: "${compatibility}"}]`;
}

function readiness(claims: string): string {
  return `readiness:\n  expires: 2027-01-01\n  claims: [${claims}]`;
}

describe('layer 2', () => {
  const rows = [...NAMES, ...CAPABILITIES, ...REFERENCES, ...READINESS];

  it.each(rows.filter(([, , expected]) => expected.length === 0))('allows %s', async (_what, yaml) => {
    expect((await judge(yaml, FILES)).errors).toEqual([]);
  });

  it.each(rows.filter(([, , expected]) => expected.length > 0))(
    'denies %s',
    async (_what, yaml, expected) => {
      expect(told((await judge(yaml, FILES)).errors)).toEqual(expected);
    },
  );

  it('names the last place before a repeated name', async () => {
    const { errors } = await judge(
      'policies: [{name: a, schema: s.json}, {name: a, schema: s.json}, {name: a, schema: s.json}]',
      FILES,
    );
    expect(errors.map(({ message }) => message.split(' ')[0])).toEqual(['policies[0]', 'policies[1]']);
  });

  it.each([
    ['1.2', []],
    ['v1', []],
    ['1', []],
    ['1.x', ['INVALID_SEMVER service.version']],
    ['V1.0.0', ['INVALID_SEMVER service.version']],
    ['latest', ['INVALID_SEMVER service.version']],
  ])('judges the version %s', async (version, expected) => {
    const { contract } = loaded(`pactoVersion: "2.0"\nservice: {name: a, version: "${version}"}`);
    const { errors } = await checkCrossField(contract, undefined, new SchemaRun(new FewKeywords()));
    expect(told(errors)).toEqual(expected);
  });

  it('denies what layer 1 says first, should it ever not', async () => {
    const { contract } = loaded(CART + dependency('./x', ''));
    const odd: Contract = {
      ...contract,
      configurations: [{ name: 'a', required: true, values: { a: 1 } }],
      state: {
        type: 'stateless',
        persistence: { scope: 'local', durability: 'persistent' },
        dataCriticality: 'low',
      },
    };
    const { errors } = await checkCrossField(odd, undefined, new SchemaRun(new FewKeywords()));
    expect(told(errors)).toEqual([
      'EMPTY_COMPATIBILITY dependencies[0].compatibility',
      'VALUES_WITHOUT_SCHEMA configurations[0].values',
      'STATELESS_PERSISTENT_CONFLICT state.persistence.durability',
    ]);
  });

  it('tells everything in the order of the checks', async () => {
    const { errors, warnings } = await judge(
      [
        'readiness: {expires: never, claims: [{id: a, type: url, status: done, evidence: x, weight: 1}]}',
        `configurations: [{name: c, required: true, schema: t.json, values: {n: "x"}}, {name: d, required: true, ref: "oci://x"}]`,
        'policies: [{name: p, schema: none.json}, {name: p, ref: "oci://x"}]',
        'dependencies: [{name: d, ref: "oci://r.test/a:1", required: true, compatibility: none}]',
        'interfaces: [{name: i, type: grpc, ref: none.json}]',
        'capabilities: [{type: extension, ref: x}]',
      ].join('\n'),
      { 't.json': '{"properties": {"n": {"type": "integer"}}}' },
    );
    expect(told(errors)).toEqual([
      'DUPLICATE_POLICY_NAME policies[1].name',
      'CAPABILITY_REF_INVALID capabilities[0].ref',
      'FILE_NOT_FOUND interfaces[0].ref',
      'INVALID_CONFIG_REF configurations[1].ref',
      'INVALID_POLICY_REF policies[1].ref',
      'FILE_NOT_FOUND policies[0].schema',
      'INVALID_COMPATIBILITY dependencies[0].compatibility',
      'CONFIG_VALUES_VALIDATION_FAILED configurations[0].values',
      'INVALID_READINESS_EXPIRES readiness.expires',
    ]);
    expect(told(warnings)).toEqual(['TAG_NOT_DIGEST dependencies[0].ref']);
  });
});

describe('files that layer 2 reads', () => {
  it.each([
    ['web.yaml', 'a: 1', []],
    ['web.YML', '- 1', []],
    ['web.yaml', '', []],
    ['web.yaml', 'just text', []],
    ['web.yaml', 'n: .nan', []],
    ['web.yaml', 'a: [', ['INVALID_INTERFACE_SPEC interfaces[0].ref']],
    ['web.yaml', 'a: 1\na: 2', ['INVALID_INTERFACE_SPEC interfaces[0].ref']],
    ['web.json', '{"a": 1, "a": 2}', []],
    ['web.json', '', ['INVALID_INTERFACE_SPEC interfaces[0].ref']],
    ['web.json', 'a: 1', ['INVALID_INTERFACE_SPEC interfaces[0].ref']],
    ['web.json', '\ufeff{}', ['INVALID_INTERFACE_SPEC interfaces[0].ref']],
    ['web', '{}', []],
    ['web.yaml.json', 'a: 1', ['INVALID_INTERFACE_SPEC interfaces[0].ref']],
    ['dir/web.proto', 'syntax = "proto3";', ['INVALID_INTERFACE_SPEC interfaces[0].ref']],
  ])('reads the interface %s holding %j', async (ref, text, expected) => {
    const { errors } = await judge(`interfaces: [{name: a, type: grpc, ref: "${ref}"}]`, { [ref]: text });
    expect(told(errors)).toEqual(expected);
  });

  it.each([
    '/d/x.yaml',
    './d/x.yaml',
    'd/./x.yaml',
    'd//x.yaml',
    'd/../d/x.yaml',
    '../d/x.yaml',
    'd/x.yaml/',
    'd',
    '.',
    '..',
  ])('finds no file at %s, even if there were one', async (ref) => {
    const { errors } = await judge(`interfaces: [{name: a, type: grpc, ref: "${ref}"}]`, {
      'd/x.yaml': 'a: 1',
      ...(ref !== 'd' && { [ref]: 'a: 1' }),
    });
    expect(told(errors)).toEqual(['FILE_NOT_FOUND interfaces[0].ref']);
  });

  it.each([
    ['./d/x.yaml', 'write "d/x.yaml"'],
    ['d//x.yaml', 'write "d/x.yaml"'],
    ['d/../d/x.yaml', 'write "d/x.yaml"'],
    ['d\\\\x.yaml', 'write "d/x.yaml"'],
    ['d\\\\y', 'folders are separated by "/"'],
    ['/d/x.yaml', 'a path starts in the folder of the bundle, not in that of a machine'],
    ['C:\\\\x.yaml', 'a path starts in the folder of the bundle, not in that of a machine'],
    ['../x.yaml', 'a path with ".." may not leave the folder of the bundle'],
    ['d', 'it is a folder'],
    ['.', 'it is a folder'],
    ['d/e/', 'it is a folder'],
    ['D/X.yaml', 'did you mean "d/x.yaml"?'],
    ['d/x.yml', 'did you mean "d/x.yaml"?'],
    ['other.json', 'add the file, or correct the path'],
  ])('says of %j what may be wrong', async (ref, next) => {
    const { errors } = await judge(`interfaces: [{name: a, type: grpc, ref: "${ref}"}]`, {
      'd/x.yaml': 'a: 1',
      'd/e/f.json': '{}',
    });
    expect(errors.map(({ message }) => message.split(', which is no file of the bundle: ')[1])).toEqual([
      next,
    ]);
  });

  it('says which values do not fit, and of the whole what it lacks', async () => {
    const { errors } = await judge(
      'configurations: [{name: a, required: true, schema: s.json, values: {POOL: x}}]',
      { 's.json': '{"required": ["URL"], "properties": {"POOL": {"type": "integer"}}}' },
    );
    expect(errors.map(({ message }) => message)).toEqual([
      'do not fit "s.json": the mapping misses URL; "/POOL" must be an integer',
    ]);
  });

  it('says the same of schemas, and has an end to comparing them', async () => {
    const names = Array.from({ length: 21 }, (_, at) => `{name: n${at}, required: true, schema: x.jso}`);
    const { errors } = await judge(
      `policies: [{name: a, schema: ./x.json}]\nconfigurations: [${names.join(', ')}]`,
      { 'x.json': '{}' },
    );
    expect(told(errors)).toHaveLength(22);
    expect(errors.filter(({ message }) => message.endsWith('did you mean "x.json"?'))).toHaveLength(20);
    expect(errors.at(-1)?.message).toBe('names "./x.json", which is no file of the bundle: write "x.json"');
  });

  it.each([
    [
      'a.proto',
      '; a .proto file is read as JSON too: name a description in JSON or YAML, such as a descriptor made of it',
    ],
    [
      'a.txt',
      '; a file that ends neither in .yaml nor in .json is read as JSON too: name a description in JSON or YAML, such as a descriptor made of it',
    ],
    ['a.JSON', ''],
    ['a.yaml', ''],
  ])('says of the broken %s which forms are read', async (ref, remedy) => {
    const { errors } = await judge(`interfaces: [{name: a, type: grpc, ref: ${ref}}]`, { [ref]: '[' });
    expect(/; .*$/.exec(errors[0]?.message ?? '')?.[0] ?? '').toBe(remedy);
  });

  it.each([
    ['{"a": hunter2}', 'a character is out of place'],
    ['{"a": "hunter2"} hunter2', 'it stops being JSON at character 17'],
    ['{"a": "hunter2"', 'it stops being JSON at character 15'],
    ['', 'the text ends too early'],
  ])('shows no piece of a file that does not read, such as %s', async (text, reason) => {
    const { errors } = await judge('interfaces: [{name: a, type: grpc, ref: a.json}]', { 'a.json': text });
    expect(errors.map(({ message }) => message)).toEqual([`"a.json" does not read as JSON: ${reason}`]);
  });

  it('reads no more than 2 MiB of YAML, and says so', async () => {
    const names = ['a', 'b', 'c'];
    const { errors } = await judge(
      `interfaces: [${names.map((name) => `{name: ${name}, type: grpc, ref: ${name}.yaml}`).join(', ')}]`,
      Object.fromEntries(names.map((name) => [`${name}.yaml`, `# ${'x'.repeat(1024 * 1024 - 2)}`])),
    );
    expect(told(errors)).toEqual(['INVALID_INTERFACE_SPEC interfaces[2].ref']);
    expect(errors[0]?.message).toContain('than is read of one contract');
  });

  it('opens no file of a contract without a bundle', async () => {
    const { contract } = loaded(
      `${CART}interfaces: [{name: a, type: grpc, ref: none}]\n` +
        'configurations: [{name: a, required: true, schema: none, values: {a: 1}}]\npolicies: [{name: a, schema: none}]',
    );
    const schemas = new FewKeywords();
    expect((await checkCrossField(contract, undefined, new SchemaRun(schemas))).errors).toEqual([]);
    expect(schemas.asked).toEqual([]);
  });
});

describe('schemas that layer 2 reads', () => {
  const SLOW = 'slow';
  const ODD = 'odd';
  const checks = (): FewKeywords =>
    new FewKeywords({
      [SLOW]: { outcome: 'refused', reason: 'it takes too long' },
      [ODD]: { outcome: 'not-a-schema', reason: 'its type is unknown' },
    });

  it.each([
    ['{}', undefined, []],
    ['type: object', undefined, ['INVALID_CONFIG_JSON configurations[0].schema']],
    [ODD, undefined, ['INVALID_CONFIG_SCHEMA configurations[0].schema']],
    [SLOW, undefined, ['INVALID_CONFIG_SCHEMA configurations[0].schema']],
    [ODD, '{a: 1}', ['INVALID_CONFIG_SCHEMA configurations[0].schema']],
    [SLOW, '{a: 1}', ['INVALID_CONFIG_SCHEMA configurations[0].schema']],
    ['false', '{}', []],
    ['false', '{a: 1}', ['CONFIG_VALUES_VALIDATION_FAILED configurations[0].values']],
    ['{"required": ["a", "b"]}', '{c: 1}', ['CONFIG_VALUES_VALIDATION_FAILED configurations[0].values']],
    ['{"required": ["a"]}', '{a: 1}', []],
  ])('judges the configuration schema %s with values %s', async (schema, values, expected) => {
    const { errors } = await judge(
      `configurations: [{name: a, required: true, schema: s.json${values === undefined ? '' : `, values: ${values}`}}]`,
      { 's.json': schema },
      { schemas: checks() },
    );
    expect(told(errors)).toEqual(expected);
  });

  it.each([
    ['{}', []],
    ['no JSON', ['INVALID_POLICY_JSON policies[0].schema']],
    [ODD, ['INVALID_POLICY_SCHEMA policies[0].schema']],
    [SLOW, ['INVALID_POLICY_SCHEMA policies[0].schema']],
  ])('judges the policy schema %s', async (schema, expected) => {
    const { errors } = await judge(
      'policies: [{name: a, schema: s.json}]',
      { 's.json': schema },
      { schemas: checks() },
    );
    expect(told(errors)).toEqual(expected);
  });

  it('says that nothing was judged by a schema over a limit', async () => {
    const { errors } = await judge(
      'policies: [{name: a, schema: s.json}]',
      { 's.json': SLOW },
      { schemas: checks() },
    );
    expect(errors[0]?.message).toBe('"s.json" is refused, and nothing was judged by it: it takes too long');
  });

  it('reads a schema with its byte order mark, which is no JSON', async () => {
    const schemas = checks();
    await judge('policies: [{name: a, schema: s.json}]', { 's.json': '\ufeff{}' }, { schemas });
    expect(schemas.asked).toEqual([{ text: '\ufeff{}' }]);
  });

  it('finds no schema by a path that leaves the bundle', async () => {
    const { errors } = await judge(
      'configurations: [{name: a, required: true, schema: ../s.json}]\npolicies: [{name: a, schema: /etc/s.json}]',
      {},
      { files: bundle({ '../s.json': '{}', '/etc/s.json': '{}' }) },
    );
    expect(told(errors)).toEqual([
      'FILE_NOT_FOUND configurations[0].schema',
      'FILE_NOT_FOUND policies[0].schema',
    ]);
  });
});
