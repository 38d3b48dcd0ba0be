/** The worked examples of contract.md §18.1 that the layers answer, by their numbers. */
import { expect, it } from 'vitest';
import { judge, judgeText, resolver, told } from './validating.ts';

const WEB = 'interfaces: [{name: web, type: openapi, ref: web.yaml}]\n';
const DIGEST = `sha256:${'a'.repeat(64)}`;
const OWNED = '{"properties": {"service": {"required": ["owner"]}}}';
const NOT_OWNED = '{"properties": {"service": {"not": {"required": ["owner"]}}}}';

it('6: denies by layer 1 alone, and by layer 2 once layer 1 passes', async () => {
  const contract = (more: string): string =>
    'interfaces: [{name: web, type: openapi, ref: web.yaml}, {name: web, type: openapi, ref: web.yaml}]\n' +
    `dependencies: [{name: pay, ref: "oci://r.test/pay:1.0.0", compatibility: "^1.0.0"${more}}]\n` +
    'policies: [{name: never, schema: never.json}]\n';
  const files = { 'web.yaml': 'a: 1', 'never.json': 'false' };
  const first = await judge(contract(''), files);
  expect(told(first.errors)).toEqual(['SCHEMA_VIOLATION dependencies.0']);
  expect(first.warnings).toEqual([]);
  const second = await judge(contract(', required: true'), files);
  expect(told(second.errors)).toEqual(['DUPLICATE_INTERFACE_NAME interfaces[1].name']);
  expect(told(second.warnings)).toEqual(['TAG_NOT_DIGEST dependencies[0].ref']);
});

it.each([
  ['policies: []', ['SCHEMA_VIOLATION policies']],
  ['interfaces: []', []],
  ['dependencies: []', []],
  ['configurations: []', []],
  ['capabilities: []', []],
  ['readiness: {expires: "2027-01-01", claims: []}', ['SCHEMA_VIOLATION readiness.claims']],
])('8: judges the empty list in %s', async (more, expected) => {
  expect(told((await judge(more)).errors)).toEqual(expected);
});

it('9: denies values beside a ref, even empty ones', async () => {
  const { errors } = await judge(
    'configurations: [{name: app, required: true, ref: "oci://r.test/cfg", values: {}}]',
  );
  expect(new Set(told(errors))).toEqual(new Set(['SCHEMA_VIOLATION configurations.0']));
});

it.each([
  ['{}', []],
  ['{DB_PORT: "x"}', ['CONFIG_VALUES_VALIDATION_FAILED configurations[0].values']],
])('10: judges values %s', async (values, expected) => {
  const schema = '{"required": ["DB_HOST"], "properties": {"DB_PORT": {"type": "integer"}}}';
  const { errors } = await judge(
    `configurations: [{name: app, required: true, schema: cfg.json, values: ${values}}]`,
    { 'cfg.json': schema },
  );
  expect(told(errors)).toEqual(expected);
});

it.each([
  ['cart.proto', ['INVALID_INTERFACE_SPEC interfaces[0].ref']],
  ['cart.yaml', []],
])('11: reads a descriptor at %s', async (file, expected) => {
  const ref = `interfaces/${file}`;
  const { errors } = await judge(`interfaces: [{name: rpc, type: grpc, ref: ${ref}}]`, {
    [ref]: 'syntax = "proto3";',
  });
  expect(told(errors)).toEqual(expected);
});

it('12: denies a path with dot-slash', async () => {
  const { errors } = await judge('interfaces: [{name: web, type: openapi, ref: ./interfaces/web.yaml}]', {
    'interfaces/web.yaml': 'a: 1',
  });
  expect(told(errors)).toEqual(['FILE_NOT_FOUND interfaces[0].ref']);
});

it.each([
  ['oci://r.test/a:1.0.0', ['TAG_NOT_DIGEST dependencies[0].ref']],
  ['oci://r.test/a', []],
  [`oci://r.test/a@${DIGEST}`, []],
  [`oci://r.test/a:1.0.0@${DIGEST}`, []],
  ['../a', []],
  ['r.test/a:1.0.0', []],
])('13: judges the tag of %s', async (ref, expected) => {
  const { errors, warnings } = await judge(
    `dependencies: [{name: a, ref: "${ref}", required: true, compatibility: "^1.0.0"}]`,
  );
  expect([errors, told(warnings)]).toEqual([[], expected]);
});

it.each([
  ['oci://r.test/a@sha256:XYZ', ['INVALID_OCI_REF dependencies[0].ref']],
  [`oci://r.test/a@${DIGEST}`, ['INVALID_COMPATIBILITY dependencies[0].compatibility']],
])('14: judges a bad range behind %s', async (ref, expected) => {
  const { errors } = await judge(
    `dependencies: [{name: a, ref: "${ref}", required: true, compatibility: latest}]`,
  );
  expect(told(errors)).toEqual(expected);
});

it('15: warns of the tag alone where pin and range differ', async () => {
  const result = await judge(
    'dependencies: [{name: a, ref: "oci://r.test/a:1.0.0", required: true, compatibility: "^2.0.0"}]',
  );
  expect([told(result.errors), told(result.warnings)]).toEqual([[], ['TAG_NOT_DIGEST dependencies[0].ref']]);
});

it.each([
  ['/healthz', []],
  ['/', []],
  ['/x?verbose=1', []],
  ['/a/../b', []],
  ['//evil.test/x', ['SCHEMA_VIOLATION capabilities.0.binding.path']],
  ['/%2Fevil.test', ['CAPABILITY_PATH_INVALID capabilities[0].binding.path']],
  ['/x#y', ['CAPABILITY_PATH_INVALID capabilities[0].binding.path']],
])('16: judges the path %s', async (path, expected) => {
  const { errors } = await judge(
    `${WEB}capabilities: [{type: health, binding: {type: http, interface: web, path: "${path}"}}]`,
    { 'web.yaml': 'a: 1' },
  );
  expect(told(errors)).toEqual(expected);
});

it.each([
  ['{type: health}, {type: health}', ['DUPLICATE_CAPABILITY capabilities[1]']],
  ['{type: extension, ref: a.test/x}, {type: extension, ref: a.test/y}', []],
  ['{type: extension, ref: backup}', ['CAPABILITY_REF_INVALID capabilities[0].ref']],
])('17: judges the capabilities %s', async (capabilities, expected) => {
  expect(told((await judge(`capabilities: [${capabilities}]`)).errors)).toEqual(expected);
});

it('17: denies a ref of a capability that is no extension', async () => {
  const { errors } = await judge('capabilities: [{type: health, ref: a.test/x}]');
  expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['SCHEMA_VIOLATION']));
});

it('18: denies a stateless service with a disk by layer 1', async () => {
  const { errors } = await judge(
    'state: {type: stateless, persistence: {scope: local, durability: persistent}, dataCriticality: low}',
  );
  expect(told(errors)).toEqual(['SCHEMA_VIOLATION state.persistence.durability']);
});

it.each([
  ['2027-02-30', ['INVALID_READINESS_EXPIRES readiness.expires']],
  ['2027-2-3', ['INVALID_READINESS_EXPIRES readiness.expires']],
  ['2001-01-01', []],
])('19: judges the date %s', async (date, expected) => {
  const { errors } = await judge(
    `readiness: {expires: "${date}", claims: [{id: a, type: url, status: done, evidence: x, weight: 1}]}`,
  );
  expect(told(errors)).toEqual(expected);
});

it.each([
  ['', 'policies["needs"]'],
  [', owner: {team: a}', 'policies["forbids"]'],
])('20: denies by one of two policies that contradict each other (service%s)', async (owner, origin) => {
  const { errors } = await judgeText(
    `pactoVersion: "2.0"\nservice: {name: cart, version: 1.4.0${owner}}\n` +
      'policies: [{name: needs, schema: a.json}, {name: forbids, schema: b.json}]',
    { 'a.json': OWNED, 'b.json': NOT_OWNED },
  );
  expect(told(errors)).toEqual(['POLICY_VIOLATION']);
  expect(errors[0]?.message).toContain(origin);
});

it('21: lets one policy that cannot be had silence the others', async () => {
  const contract = 'policies: [{name: own, schema: p1.json}, {name: gone, ref: "oci://r.test/gone:1.0.0"}]';
  const files = { 'p1.json': OWNED };
  const resolved = await judge(contract, files, { resolver: resolver({}) });
  expect([told(resolved.errors), resolved.warnings]).toEqual([['POLICY_REF_UNRESOLVED'], []]);
  const local = await judge(contract, files);
  expect([told(local.errors), told(local.warnings)]).toEqual([
    ['POLICY_VIOLATION'],
    ['POLICY_REF_NOT_ENFORCED policies[1].ref'],
  ]);
});

it('22: denies a cycle', async () => {
  const bundles = resolver({
    'oci://r.test/a': { files: { policies: 'policies: [{name: x, ref: "oci://r.test/b"}]' } },
    'oci://r.test/b': { files: { policies: 'policies: [{name: x, ref: "oci://r.test/a"}]' } },
  });
  const { errors } = await judge('policies: [{name: p, ref: "oci://r.test/a"}]', {}, { resolver: bundles });
  expect(told(errors)).toEqual(['POLICY_REF_CYCLE']);
});

it('22: enforces twice what two ways lead to', async () => {
  const toC = { files: { policies: 'policies: [{name: x, ref: "oci://r.test/c"}]' } };
  const bundles = resolver({
    'oci://r.test/a': toC,
    'oci://r.test/b': toC,
    'oci://r.test/c': { files: { 'policy/schema.json': OWNED } },
  });
  const { errors } = await judge(
    'policies: [{name: p, ref: "oci://r.test/a"}, {name: q, ref: "oci://r.test/b"}]',
    {},
    { resolver: bundles },
  );
  expect(told(errors)).toEqual(['POLICY_VIOLATION', 'POLICY_VIOLATION']);
});

it('23: takes the fixed path only where no policy is declared', async () => {
  const judged = async (files: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const bundles = resolver({ 'oci://r.test/a': { files } });
    const { errors } = await judge('policies: [{name: p, ref: "oci://r.test/a"}]', {}, { resolver: bundles });
    return told(errors);
  };
  const policies = 'policies: [{name: x, schema: rules/strict.json}]';
  expect(await judged({ policies, 'rules/strict.json': '{}', 'policy/schema.json': 'false' })).toEqual([]);
  expect(await judged({ policies, 'rules/strict.json': 'false', 'policy/schema.json': '{}' })).toEqual([
    'POLICY_VIOLATION',
  ]);
  expect(await judged({})).toEqual(['POLICY_REF_UNRESOLVED']);
});

it('74: denies by layer 1 what loads and can be pulled', async () => {
  const { errors } = await judge('interfaces: [{name: w, type: grpc, ref: w.yaml, visibility: secret}]');
  expect(told(errors)).toEqual(['SCHEMA_VIOLATION interfaces.0.visibility']);
});
