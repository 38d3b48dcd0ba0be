import { describe, expect, it } from 'vitest';
import type { SchemaAnswer } from '../../../src/policies/contract/schema-checks.ts';
import { instancePlace } from '../../../src/policies/contract/instance-place.ts';
import { structuralFindings } from '../../../src/policies/contract/validate.ts';
import { FewKeywords } from './few-keywords.ts';
import { judge, resolver, told } from './validating.ts';

const A = 'oci://r.test/a';
const B = 'oci://r.test/b';
const STRICT = { 'policy/schema.json': 'false' };

const one = (ref: string): string => `policies: [{name: p, ref: "${ref}"}]`;

/** A folder or an artifact whose only policy is another. */
function link(ref: string, base?: string): { files: Readonly<Record<string, string>>; base?: string } {
  return { files: { policies: one(ref) }, ...(base !== undefined && { base }) };
}

describe('policies without a resolver', () => {
  it('warns of each reference, and enforces the rest', async () => {
    const { errors, warnings } = await judge(
      `policies: [{name: a, ref: "${A}"}, {name: b, schema: s.json}, {name: c, ref: ./c}]`,
      { 's.json': 'false' },
    );
    expect(told(errors)).toEqual(['POLICY_VIOLATION']);
    expect(told(warnings)).toEqual([
      'POLICY_REF_NOT_ENFORCED policies[0].ref',
      'POLICY_REF_NOT_ENFORCED policies[2].ref',
    ]);
  });

  it('says nothing of a contract without a bundle', async () => {
    const { errors, warnings } = await judge(
      `policies: [{name: a, ref: "${A}"}, {name: b, schema: s.json}]`,
      {},
      {
        files: undefined,
      } as never,
    );
    expect([errors, warnings]).toEqual([[], []]);
  });

  it('denies each reference where they are demanded, and enforces nothing', async () => {
    const { errors, warnings } = await judge(
      `policies: [{name: a, ref: "${A}"}, {name: b, schema: s.json}, {name: c, ref: ./c}]`,
      { 's.json': 'false' },
      { resolver: 'none-but-demanded' },
    );
    expect(told(errors)).toEqual(['POLICY_REF_UNRESOLVED', 'POLICY_REF_UNRESOLVED']);
    expect(warnings).toEqual([]);
  });

  it('keeps a warning of layer 2 beside a violation', async () => {
    const { warnings } = await judge(
      `dependencies: [{name: d, ref: "${A}:1", required: true, compatibility: "*"}]\npolicies: [{name: b, schema: s.json}]`,
      { 's.json': 'false' },
    );
    expect(told(warnings)).toEqual(['TAG_NOT_DIGEST dependencies[0].ref']);
  });
});

describe('policies with a resolver', () => {
  it('holds the contract, not the bundle, to what it finds', async () => {
    const schemas = new FewKeywords();
    const bundles = resolver({ [A]: { files: { 'policy/schema.json': '{"required": ["workload"]}' } } });
    const { errors } = await judge(`workload: job\n${one(A)}`, {}, { resolver: bundles, schemas });
    expect(errors).toEqual([]);
    expect(schemas.asked.at(-1)?.instance).toMatchObject({ workload: 'job' });
    expect(bundles.asked).toEqual([{ ref: A, from: '' }]);
  });

  it('names the reference and then the policy that is not kept', async () => {
    const files = { policies: 'policies: [{name: strict, schema: s.json}]', 's.json': 'false' };
    const { errors } = await judge(one(A), {}, { resolver: resolver({ [A]: { files } }) });
    expect(errors[0]?.message).toBe(`"${A}" → policies["strict"] ("s.json"): the contract is not allowed`);
  });

  it('names the file that the bundle of a reference has for its policy', async () => {
    const files = { 'policy/schema.json': 'false' };
    const { errors } = await judge(one(A), {}, { resolver: resolver({ [A]: { files } }) });
    expect(errors[0]?.message).toContain(` ("policy/schema.json" of "${A}"): the contract is not allowed`);
  });

  it.each([
    ['a bundle that cannot be had', {}],
    ['a registry that refuses', { [A]: 'access denied' }],
    ['a bundle without the file', { [A]: { files: {} } }],
    ['a file that is not JSON', { [A]: { files: { 'policy/schema.json': 'type: object' } } }],
    [
      'a declared file that is missing',
      { [A]: { files: { policies: 'policies: [{name: x, schema: s.json}]' } } },
    ],
    ['a policy that demands nothing', { [A]: { files: { policies: 'policies: [{name: x}]' } } }],
    [
      'a policy with empty texts',
      { [A]: { files: { policies: 'policies: [{name: x, schema: "", ref: ""}]' } } },
    ],
    [
      'a policy with both',
      {
        [A]: {
          files: { policies: 'policies: [{name: x, schema: s.json, ref: "oci://r.test/b"}]', 's.json': '{}' },
        },
      },
    ],
    ['a malformed reference', { [A]: link('oci://x') }],
    [
      'a path out of the bundle',
      { [A]: { files: { policies: 'policies: [{name: x, schema: ../s.json}]', '../s.json': '{}' } } },
    ],
  ])('denies %s, and enforces nothing', async (_what, bundles) => {
    const { errors } = await judge(
      `policies: [{name: l, schema: l.json}, {name: r, ref: "${A}"}]`,
      { 'l.json': 'false' },
      { resolver: resolver(bundles) },
    );
    expect(told(errors)).toEqual(['POLICY_REF_UNRESOLVED']);
  });

  it('keeps what a registry says on one short line', async () => {
    const { errors } = await judge(
      one(A),
      {},
      { resolver: resolver({ [A]: `no\n\u001b[31m${'x'.repeat(9999)}` }) },
    );
    expect(errors[0]?.message).toMatch(
      /^policies\["p"\]: "oci:\/\/r.test\/a" cannot be fetched: no\\u000a\\u001b\[31mx+$/,
    );
    expect(errors[0]?.message.length).toBeLessThan(600);
  });

  it('denies a schema that went over a limit', async () => {
    const slow: SchemaAnswer = { outcome: 'refused', reason: 'it takes too long' };
    const { errors } = await judge(
      one(A),
      {},
      {
        resolver: resolver({ [A]: { files: { 'policy/schema.json': 'slow' } } }),
        schemas: new FewKeywords({ slow }),
      },
    );
    expect(told(errors)).toEqual(['POLICY_REF_UNRESOLVED']);
    expect(errors[0]?.message).toContain('it takes too long');
  });

  it('denies a contract that a policy compiled but could not judge', async () => {
    const schemas = new FewKeywords();
    const slow = {
      compile: (text: string) => schemas.compile(text),
      validate: (): Promise<SchemaAnswer> =>
        Promise.resolve({ outcome: 'refused', reason: 'it takes too long' }),
    };
    const { errors } = await judge(
      'policies: [{name: p, schema: s.json}]',
      { 's.json': '{}' },
      { schemas: slow },
    );
    expect(told(errors)).toEqual(['POLICY_ENFORCEMENT_ERROR']);
    expect(errors[0]?.message).toContain('it takes too long');
  });

  it('sorts the lines of one policy and leaves policies in their order', async () => {
    const { errors } = await judge('policies: [{name: z, schema: z.json}, {name: a, schema: a.json}]', {
      'z.json': '{"required": ["y", "x"]}',
      'a.json': '{"required": ["w"]}',
    });
    expect(errors.map(({ message }) => message)).toEqual([
      'policies["z"] ("z.json"): the contract misses x',
      'policies["z"] ("z.json"): the contract misses y',
      'policies["a"] ("a.json"): the contract misses w',
    ]);
  });

  it('tells no more than 100 lines of one policy', async () => {
    const required = JSON.stringify({ required: Array.from({ length: 500 }, (_, index) => `k${index}`) });
    const { errors } = await judge('policies: [{name: p, schema: s.json}]', { 's.json': required });
    expect(errors).toHaveLength(100);
  });
});

describe('where a reference leads', () => {
  it('asks for each relative reference from where it is written', async () => {
    const bundles = resolver({
      ' ./a': link('./b', '/root/a'),
      '/root/a ./b': { files: { 'policy/schema.json': '{}' }, base: '/root/a/b' },
    });
    expect((await judge(one('./a'), {}, { resolver: bundles })).errors).toEqual([]);
    expect(bundles.asked).toEqual([
      { ref: './a', from: '' },
      { ref: './b', from: '/root/a' },
    ]);
  });

  it.each(['../../etc', './x', 'file:///etc', '/etc', 'r.test/a:1'])(
    'denies the local path %s of a contract from a registry, unasked',
    async (ref) => {
      const bundles = resolver({ [A]: link(ref), [ref]: { files: STRICT } });
      const { errors } = await judge(one(A), {}, { resolver: bundles });
      expect(told(errors)).toEqual(['POLICY_REF_UNRESOLVED']);
      expect(errors[0]?.message).toContain('may not name the local path');
      expect(bundles.asked).toEqual([{ ref: A, from: '' }]);
    },
  );

  it('denies a local path of the contract itself where it came from a registry', async () => {
    const bundles = resolver({ './a': { files: STRICT } });
    const { errors } = await judge(one('./a'), {}, { resolver: bundles, base: undefined } as never);
    expect(told(errors)).toEqual(['POLICY_REF_UNRESOLVED']);
    expect(bundles.asked).toEqual([]);
  });

  it('denies a contract that leads to itself', async () => {
    const { errors } = await judge(one('./a'), {}, { resolver: resolver({ './a': link('./a', '') }) });
    expect(told(errors)).toEqual(['POLICY_REF_CYCLE']);
  });

  it('takes one text for two things where it is written at two places', async () => {
    const bundles = resolver({
      ' ./a': link('./a', '/a'),
      '/a ./a': link('./a', '/a/a'),
      '/a/a ./a': { files: { 'policy/schema.json': '{}' }, base: '/a/a/a' },
    });
    expect((await judge(one('./a'), {}, { resolver: bundles })).errors).toEqual([]);
  });

  it('denies a cycle between registries', async () => {
    const bundles = resolver({ [A]: link(B), [B]: link(A) });
    const { errors } = await judge(one(A), {}, { resolver: bundles });
    expect(told(errors)).toEqual(['POLICY_REF_CYCLE']);
    expect(bundles.asked.length).toBeLessThanOrEqual(3);
  });

  it('denies a chain that does not end, at 16 references', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`oci://r.test/${index}`, link(`oci://r.test/${index + 1}`)]),
    );
    const bundles = resolver(chain);
    const { errors } = await judge(one('oci://r.test/0'), {}, { resolver: bundles });
    expect(told(errors)).toEqual(['POLICY_REF_UNRESOLVED']);
    expect(errors[0]?.message).toContain('more than 16 references away');
    expect(bundles.asked).toHaveLength(16);
  });

  it('denies a tree that doubles at each step, after 64 references', async () => {
    const twice = (level: number): { files: Readonly<Record<string, string>> } => ({
      files: {
        policies: `policies: [{name: l, ref: "oci://r.test/${level + 1}"}, {name: r, ref: "oci://r.test/${level + 1}"}]`,
      },
    });
    const bundles = resolver({
      ...Object.fromEntries(
        Array.from({ length: 15 }, (_, level) => [`oci://r.test/${level}`, twice(level)]),
      ),
      'oci://r.test/15': { files: { 'policy/schema.json': '{}' } },
    });
    const { errors } = await judge(one('oci://r.test/0'), {}, { resolver: bundles });
    expect(told(errors)).toEqual(['POLICY_REF_UNRESOLVED']);
    expect(errors[0]?.message).toContain('64 references were before it');
    expect(bundles.asked).toHaveLength(64);
  });
});

describe('what has no end', () => {
  const many = (entry: string): string => `policies: [${`${entry}, `.repeat(4000)}]`;

  it.each([
    ['policies that demand nothing', '{name: x}', 1000, 'demands nothing'],
    ['policies of one schema', '{name: x, schema: s.json}', 1, '1000 policies were before it'],
    ['references to itself', `{name: x, ref: "${A}"}`, 1000, 'leads back to itself'],
  ])('denies a contract with thousands of %s', async (_what, entry, problems, reason) => {
    const bundles = resolver({ [A]: { files: { policies: many(entry), 's.json': 'false' } } });
    const { errors } = await judge(one(A), {}, { resolver: bundles });
    expect(errors).toHaveLength(problems);
    expect(errors[0]?.message).toContain(reason);
  });

  it('follows 64 of a thousand references', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `{name: p${index}, ref: "${A}"}`);
    const bundles = resolver({ [A]: { files: { 'policy/schema.json': '{}' } } });
    const { errors } = await judge(`policies: [${names.join(', ')}]`, {}, { resolver: bundles });
    expect(told(errors)).toEqual(['POLICY_REF_UNRESOLVED']);
    expect(bundles.asked).toHaveLength(64);
  });

  it('tells no more than 1,000 errors, in whichever layer', async () => {
    const fields = await judge(`capabilities: [${'{type: extension, ref: x}, '.repeat(2000)}]`);
    expect(fields.errors).toHaveLength(1000);
    const required = JSON.stringify({ required: Array.from({ length: 100 }, (_, index) => `k${index}`) });
    const policies = Array.from({ length: 20 }, (_, index) => `{name: p${index}, schema: s.json}`);
    const enforced = await judge(`policies: [${policies.join(', ')}]`, { 's.json': required });
    expect(enforced.errors).toHaveLength(1000);
  });
});

describe('the place of a violation', () => {
  it.each([
    ['', ''],
    ['/service/owner', 'service.owner'],
    ['/interfaces/10/ref', 'interfaces[10].ref'],
    ['/extensions/acme.test~1x/y', 'extensions'],
    ['/metadata/a~1b/c~0d', 'metadata.a/b.c~d'],
    ['/metadata//x', 'metadata'],
  ])('of %j is %j', (pointer, place) => {
    expect(instancePlace(pointer)).toBe(place);
  });

  it('stands beside an empty path, where there is one', async () => {
    const schema = '{"properties": {"service": {"required": ["owner"]}}, "required": ["workload"]}';
    const { errors } = await judge('policies: [{name: p, schema: s.json}]', { 's.json': schema });
    expect(errors.map(({ path, place }) => [path, place])).toEqual([
      ['', 'service'],
      ['', undefined],
    ]);
  });
});

describe('findings of a result', () => {
  it('puts errors before warnings, with what is registered of their codes', async () => {
    const result = await judge(`policies: [{name: a, ref: "${A}"}, {name: b, schema: s.json}]`, {
      's.json': 'false',
    });
    expect(structuralFindings(result)).toEqual([
      {
        code: 'POLICY_VIOLATION',
        severity: 'error',
        category: 'PolicyViolation',
        contractPath: '',
        message: 'policies["b"] ("s.json"): the contract is not allowed',
        evidenceRefs: [],
      },
      {
        code: 'POLICY_REF_NOT_ENFORCED',
        severity: 'warning',
        category: 'UnresolvedReference',
        contractPath: 'policies[0].ref',
        message: expect.any(String) as string,
        evidenceRefs: [],
      },
    ]);
  });
});
