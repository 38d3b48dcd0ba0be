import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/policies/contract/json-value.ts';
import type { ContractProjection } from '../../src/reconcile/api/pacto.ts';
import { projectionOf } from '../../src/reconcile/projection.ts';
import { CART, bundle, loaded } from '../policies/contract/validating.ts';

interface Given {
  readonly files?: Readonly<Record<string, string>>;
  readonly overridden?: Readonly<Record<string, readonly string[]>>;
  readonly resolvedRef?: string;
}

/** Of `CART` and more, as the pass projects it. */
function project(more: string, { files, overridden = {}, resolvedRef = '' }: Given = {}): ContractProjection {
  const { contract, document } = loaded(CART + more);
  const generic = document.generic.ok ? (document.generic.value as Record<string, JsonValue>) : {};
  return projectionOf({
    contract,
    files: files === undefined ? undefined : bundle(files),
    resolvedRef,
    overridden: new Map(Object.entries(overridden)),
    metadataAsWritten: generic['metadata'],
    configurationsAsWritten: generic['configurations'],
  });
}

describe('a contract in a status', () => {
  it('is its name and its version where it declares nothing else', () => {
    expect(project('')).toEqual({
      contractVersion: '1.4.0',
      contract: { serviceName: 'cart', version: '1.4.0' },
    });
  });

  it('says where it came from', () => {
    expect(project('', { resolvedRef: 'r.test/cart:1.4.0' }).contract).toMatchObject({
      resolvedRef: 'r.test/cart:1.4.0',
    });
  });

  it.each([
    ['{team: t/a, dri: x@y.test}', { team: 't/a', dri: 'x@y.test' }, 't/a'],
    ['{dri: x@y.test}', { dri: 'x@y.test' }, 'x@y.test'],
    [
      '{contacts: [{type: email, value: a@b.test, purpose: support}, {type: url, value: u}]}',
      {
        contacts: [
          { type: 'email', value: 'a@b.test', purpose: 'support' },
          { type: 'url', value: 'u' },
        ],
      },
      undefined,
    ],
    ['{}', undefined, undefined],
  ])('names its owner: %s', (written, owner, display) => {
    const { contract } = loaded(
      `pactoVersion: "2.0"\nservice: {name: c, version: 1.0.0, owner: ${written}}\n`,
    );
    const projected = projectionOf({
      contract,
      files: undefined,
      resolvedRef: '',
      overridden: new Map(),
      metadataAsWritten: undefined,
      configurationsAsWritten: undefined,
    }).contract;
    expect(projected?.owner).toEqual(owner);
    expect(projected?.ownerDisplay).toBe(display);
  });

  it('lists what it declares, as it declares it', () => {
    const projected = project(
      [
        'interfaces: [{name: api, type: openapi, ref: a.yaml, visibility: public}, {name: ev, type: asyncapi, ref: b.yaml}]',
        'capabilities: [{type: health}, {type: extension, ref: acme.test/x}]',
        'dependencies: [{name: d, ref: "oci://r.test/d", required: false, compatibility: ^1.0.0}]',
      ].join('\n'),
    );
    expect(projected).toMatchObject({
      interfaces: [
        { name: 'api', type: 'openapi', ref: 'a.yaml', visibility: 'public' },
        { name: 'ev', type: 'asyncapi', ref: 'b.yaml' },
      ],
      capabilities: [{ type: 'health' }, { type: 'extension', ref: 'acme.test/x' }],
      dependencies: [{ name: 'd', ref: 'oci://r.test/d', required: false, compatibility: '^1.0.0' }],
    });
    expect(projected.interfaces?.[1]).not.toHaveProperty('visibility');
  });

  it('has its metadata as Go prints it', () => {
    const metadata =
      '{tier: 1, on: yes, f: 1.0, list: [1, 2], nil: null, date: 2027-01-02, text: "2027-01-02"}';
    expect(project(`metadata: ${metadata}`).metadata).toEqual({
      date: '2027-01-02 00:00:00 +0000 UTC',
      f: '1',
      list: '[1 2]',
      nil: '<nil>',
      on: 'yes',
      text: '2027-01-02',
      tier: '1',
    });
    expect(project('metadata: {}')).not.toHaveProperty('metadata');
  });
});

describe('a configuration in a status', () => {
  const of = (more: string, given?: Given): unknown =>
    project(`configurations: [{name: app, required: true, ${more}}]`, given).configurations?.[0];

  it('shows its values with what they are', () => {
    expect(
      of('schema: c.json, values: {B: secret://v/x, A: 1, F: 1.5, T: true, L: [1, a], M: {k: v}, N: null}'),
    ).toEqual({
      name: 'app',
      hasSchema: true,
      valueKeys: ['A', 'B', 'F', 'L', 'M', 'N', 'T'],
      secretKeys: ['B'],
      properties: [
        { key: 'A', type: 'number', value: '1' },
        { key: 'B', type: 'string', value: 'secret://v/x' },
        { key: 'F', type: 'number', value: '1.5' },
        { key: 'L', type: 'object', value: '[1 a]' },
        { key: 'M', type: 'object', value: 'map[k:v]' },
        { key: 'N', type: 'any', value: '(any)' },
        { key: 'T', type: 'boolean', value: 'true' },
      ],
    });
  });

  it('shows a date as one', () => {
    expect(
      of('schema: c.json, values: {D: 2027-01-02, S: "2027-01-02", N: 12345678901234567890}'),
    ).toMatchObject({
      properties: [
        { key: 'D', type: 'object', value: '2027-01-02 00:00:00 +0000 UTC' },
        { key: 'N', type: 'number', value: '12345678901234567890' },
        { key: 'S', type: 'string', value: '2027-01-02' },
      ],
    });
  });

  it('calls a secret only what begins like a reference to one', () => {
    expect(of('schema: c.json, values: {A: secret://x, B: " secret://x", C: [secret://x]}')).toMatchObject({
      secretKeys: ['A'],
    });
    expect(of('schema: c.json, values: {A: secrets}')).not.toHaveProperty('secretKeys');
  });

  it('names the keys that the Pacto sets', () => {
    expect(
      of('schema: c.json, values: {A: 1}', { overridden: { app: ['Z', 'B'], other: ['C'] } }),
    ).toMatchObject({
      overriddenKeys: ['B', 'Z'],
    });
    expect(of('schema: c.json')).not.toHaveProperty('overriddenKeys');
  });

  it.each<[string, string, unknown]>([
    [
      'defaults, leaves and what says nothing',
      '{"properties":{"PORT":{"type":"integer","default":80},"cors":{"type":"object","properties":{"on":{"type":"boolean"}}},"free":{}}}',
      [
        { key: 'PORT', type: 'integer', value: '80' },
        { key: 'cors.on', type: 'boolean', value: '(any)' },
        { key: 'free', value: '(any)' },
      ],
    ],
    [
      'an object without properties',
      '{"properties":{"o":{"type":"object","properties":{}}}}',
      [{ key: 'o', type: 'object', value: '(any)' }],
    ],
    [
      'several types',
      '{"properties":{"x":{"type":["string","null"],"default":null}}}',
      [{ key: 'x', value: '<nil>' }],
    ],
    ['a property that is no schema', '{"properties":{"x":true}}', [{ key: 'x', value: '(any)' }]],
    ['no properties', '{"type":"object"}', undefined],
    ['properties that are none', '{"properties":[1]}', undefined],
    ['no JSON', '{', undefined],
    ['no object', '[]', undefined],
  ])('without values shows its schema: %s', (_name, schema, properties) => {
    expect(of('schema: c.json', { files: { 'c.json': schema } })).toEqual({
      name: 'app',
      hasSchema: true,
      ...(properties !== undefined && { properties }),
    });
  });

  it('shows no schema that is not there', () => {
    const plain = { name: 'app', hasSchema: true };
    expect(of('schema: c.json')).toEqual(plain);
    expect(of('schema: c.json', { files: { 'd.json': '{"properties":{"a":{}}}' } })).toEqual(plain);
    expect(of('ref: "oci://r.test/c:1.0.0"')).toEqual({
      name: 'app',
      hasSchema: false,
      ref: 'oci://r.test/c:1.0.0',
    });
  });

  it('shows its values and no schema where it has both', () => {
    const files = { 'c.json': '{"properties":{"PORT":{"default":80}}}' };
    expect(of('schema: c.json, values: {HOST: a}', { files })).toMatchObject({
      properties: [{ key: 'HOST', type: 'string', value: 'a' }],
    });
  });
});

describe('a policy in a status', () => {
  const of = (more: string, files?: Given['files']): unknown =>
    project(`policies: [{name: p, ${more}}]`, files && { files }).policies?.[0];

  it('shows what its schema says of itself', () => {
    const schema =
      '{"title":"Owners","description":"must be owned","properties":{"service":{"properties":{"owner":{"type":"object"}}}}}';
    expect(of('schema: p.json', { 'p.json': schema })).toEqual({
      name: 'p',
      hasSchema: true,
      schema: 'p.json',
      title: 'Owners',
      description: 'must be owned',
      properties: [{ key: 'service.owner', type: 'object', value: '(any)' }],
    });
  });

  it.each([
    ['without a bundle', 'schema: p.json', undefined, { name: 'p', hasSchema: true, schema: 'p.json' }],
    [
      'with a title that is none',
      'schema: p.json',
      { 'p.json': '{"title":1,"description":["x"]}' },
      { name: 'p', hasSchema: true, schema: 'p.json' },
    ],
    [
      'of elsewhere',
      'ref: "oci://r.test/p"',
      undefined,
      { name: 'p', hasSchema: false, ref: 'oci://r.test/p' },
    ],
  ])('shows no more than there is: %s', (_name, more, files, shown) => {
    expect(of(more, files)).toEqual(shown);
  });
});

describe('what has no end', () => {
  const many = (count: number, each: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => each(index)).join(', ');

  it('is cut', () => {
    const keys = many(300, (index) => `k${String(index)}: ${'x'.repeat(1_500)}`);
    const projected = project(
      `metadata: {${keys}}\nconfigurations: [{name: app, required: true, schema: c, values: {${keys}}}]`,
    );
    expect(Object.keys(projected.metadata ?? {})).toHaveLength(200);
    expect(projected.metadata?.['k0']).toHaveLength(1_025);
    expect(projected.configurations?.[0]?.valueKeys).toHaveLength(200);
    expect(projected.configurations?.[0]?.properties).toHaveLength(100);
  });

  it('does not grow by repeating itself', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [
        `${'k'.repeat(1_000)}${String(index)}`,
        { default: 'x'.repeat(1_000) },
      ]),
    );
    const policies = many(200, (index) => `{name: p${String(index)}, schema: p.json}`);
    const projected = project(`policies: [${policies}]`, {
      files: { 'p.json': JSON.stringify({ title: 'T', properties }) },
    });
    expect(JSON.stringify(projected).length).toBeLessThan(600 * 1024);
    expect(projected.policies?.[0]?.properties).toHaveLength(100);
    expect(projected.policies?.[199]).toEqual({
      name: 'p199',
      hasSchema: true,
      schema: 'p.json',
      title: 'T',
    });
  });

  it('is not shown, a schema of more than 1 MiB', () => {
    const files = { 'p.json': JSON.stringify({ title: 'T', description: 'x'.repeat(1024 * 1024) }) };
    expect(project('policies: [{name: p, schema: p.json}]', { files }).policies).toEqual([
      { name: 'p', hasSchema: true, schema: 'p.json' },
    ]);
  });

  it('is not followed, in a schema that nests', () => {
    let schema = '{}';
    for (let depth = 0; depth < 100; depth += 1) schema = `{"properties":{"a":${schema}}}`;
    const projected = project('configurations: [{name: app, required: true, schema: c.json}]', {
      files: { 'c.json': schema },
    });
    expect(projected.configurations?.[0]?.properties).toEqual([{ key: 'a.a.a.a.a.a.a.a', value: '(any)' }]);
  });
});
