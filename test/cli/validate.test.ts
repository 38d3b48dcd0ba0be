import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readContract } from '../../src/app/contract-reader.ts';
import { writeLayoutBundle } from '../../src/registry/layout.ts';
import { packBundle } from '../../src/registry/pack.ts';
import { runCommand, type Ran } from './run-command.ts';

const GOOD = `pactoVersion: "2.0"
service: {name: cart, version: 1.4.0, owner: {team: shop}}
interfaces: [{name: web, type: openapi, ref: web.yaml}]
readiness: {expires: "2027-06-30", claims: [{id: a, type: url, status: done, evidence: x, weight: 1}]}
`;
const CART = 'examples/contracts/cart';
const FILES: Readonly<Record<string, string>> = {
  'good/pacto.yaml': GOOD,
  'good/web.yaml': 'openapi: 3.1.0\n',
  'bad/pacto.yaml': 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.x}\n',
  'unloaded/pacto.yaml': 'pactoVersion: "1.1"\nservice: {name: cart, version: 1.0.0}\n',
  'warned/pacto.yaml': `pactoVersion: "2.0"
service: {name: cart, version: 1.0.0}
dependencies:
  - {name: pay, ref: "oci://r.test/pay:1.0.0", required: true, compatibility: ^1.0.0}
`,
  'policed/pacto.yaml': `pactoVersion: "2.0"
service: {name: cart, version: 1.0.0}
policies: [{name: owned, ref: ../rules}]
`,
  'rules/pacto.yaml': 'pactoVersion: "2.0"\nservice: {name: rules, version: 1.0.0}\n',
  'rules/policy/schema.json': '{"properties": {"service": {"required": ["owner"]}}}',
  'alone.yaml': GOOD,
  'values.yaml': 'service: {version: not-one}\n',
};

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gate-validate-'));
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  const files = new Map([
    ['pacto.yaml', Buffer.from(GOOD)],
    ['web.yaml', Buffer.from('openapi: 3.1.0\n')],
  ]);
  const packed = packBundle(files, readContract);
  await writeFile(join(directory, 'packed'), packed.layer.bytes);
  await writeLayoutBundle(join(directory, 'layout'), packed, '1.4.0');
});
afterAll(() => rm(directory, { recursive: true }));

const validate = (name: string, ...flags: string[]): Promise<Ran> =>
  runCommand(['validate', name === '-' ? name : join(directory, name), ...flags], { stdin: GOOD });

describe('validate', () => {
  it.each([
    ['a folder', 'good', 'valid: no findings'],
    ['the contract of a folder', 'good/pacto.yaml', 'valid: no findings'],
    ['an archive, whatever its name', 'packed', 'valid: no findings'],
    ['an image layout', 'layout', 'valid: no findings'],
    ['a tag of an image layout', 'layout:1.4.0', 'valid: no findings'],
    [
      'a contract alone, and says what that leaves out',
      'alone.yaml',
      'nothing that needs its files was checked',
    ],
    ['standard input', '-', 'nothing that needs its files was checked'],
    ['a contract with a warning', 'warned', '(line 4): '],
  ])('takes %s', async (_what, name, shown) => {
    const ran = await validate(name);
    expect(ran.out).toContain(shown);
    expect(ran.code).toBe(0);
  });

  it.each([
    ['a broken field, with its line', 'bad', [], 'service.version (line 2): ', 'INVALID_SEMVER'],
    ['what does not load', 'unloaded', [], '"1.1"', 'PARSE_ERROR'],
    ['a policy of the folder beside it', 'policed', [], 'lacks "owner"', 'POLICY_VIOLATION'],
    ['a value that a file gives', 'good', ['--values', 'values.yaml'], 'service.version: ', 'INVALID_SEMVER'],
    [
      'a value that is set',
      'good',
      ['--set', 'service.version=2.0'],
      'service.version: ',
      'SCHEMA_VIOLATION',
    ],
    ['an override that does not fit', 'good', ['--set', 'policies[0].name=x'], '--set', 'PARSE_ERROR'],
    [
      'readiness that expired',
      'good',
      ['--readiness', '--now', '2027-07-01T00:00:00Z'],
      'until 2027-06-30',
      'READINESS_GATE_UNMET',
    ],
  ])('refuses %s', async (_what, name, flags, message, code) => {
    const ran = await validate(
      name,
      ...flags.map((flag) => (flag === 'values.yaml' ? join(directory, flag) : flag)),
    );
    expect(ran.out).toContain(message);
    expect(ran.out).toContain(`[${code}]`);
    expect(ran.out).toContain(': invalid: 1 error');
    expect(ran.code).toBe(1);
  });

  it('passes readiness that holds, and lets one that expired pass where nobody asks', async () => {
    expect((await validate('good', '--readiness', '--now', '2027-06-30T23:00:00Z')).code).toBe(0);
    expect((await validate('good', '--now', '2027-07-01T00:00:00Z')).code).toBe(0);
  });

  it.each([
    ['a registry without its scheme', 'registry.example/shop/payments:1.0', 'LOCAL_REFERENCE'],
    ['a URL', 'https://r.test/x', 'LOCAL_REFERENCE'],
    ['a scheme in capitals', 'OCI://registry.example/x', 'LOCAL_REFERENCE'],
    ['a repository in capitals', 'oci://registry.example/Shop/payments', 'REFERENCE_UNUSABLE'],
  ])('warns of a reference that is %s, and takes it', async (_what, ref, code) => {
    const ran = await validate('warned', '--set', `dependencies[0].ref=${ref}`);
    expect(ran.out).toContain(`warning  dependencies[0].ref: `);
    expect(ran.out).toContain(`[${code}]`);
    expect(ran.code).toBe(0);
  });

  it('tells the line of what a policy is about', async () => {
    const ran = await runCommand(['validate', CART, '--values', 'examples/contracts/stricter.yaml']);
    expect(ran.out).toContain('service.owner (line 6): policies["owned-by-a-person"]');
  });

  it('tells the lines of what an override left alone', async () => {
    const ran = await validate('warned', '--set', 'service.version=1.0.1');
    expect(ran.out).toContain('dependencies[0].ref (line 4): ');
  });

  it('is undecided where a policy could not be asked for and nothing else is wrong', async () => {
    // An address of this machine that nobody allowed: refused before any call.
    const policy = ['--set', 'policies[0].ref=oci://127.0.0.1:1/rules:1.0.0'];
    const ran = await validate('policed', ...policy);
    expect(ran.out).toContain('[POLICY_REF_UNRESOLVED]');
    expect(ran.out).toContain(': undecided: 1 error');
    expect(ran.code).toBe(3);
    const data = await validate('policed', ...policy, '--output', 'json');
    expect(JSON.parse(data.out)).toMatchObject({ valid: false, undecided: true });
    const broken = await validate('policed', ...policy, '--set', 'service.version=x');
    expect(broken.code).toBe(1);
  });

  it('says which artifact it was about', async () => {
    expect((await validate('layout')).out).toMatch(/: no findings \(.*layout, sha256:[0-9a-f]{64}\)\n$/);
  });

  it('warns of a policy elsewhere where it may fetch nothing', async () => {
    const ran = await validate('policed', '--offline');
    expect(ran).toMatchObject({
      code: 0,
      out: expect.stringContaining('[POLICY_REF_NOT_ENFORCED]') as string,
    });
  });

  it.each([
    ['no such file', ['validate', 'no/such'], 'there is no such file'],
    ['no tag of the layout', ['validate', 'LAYOUT:2.0.0'], 'does not hold "2.0.0"'],
    ['a time that is none', ['validate', '.', '--now', 'today'], 'such as 2027-01-31T12:00:00Z'],
    ['a reference that is none', ['validate', 'oci://UPPER'], 'GATE_REGISTRY_REFERENCE'],
    ['an unknown option', ['validate', '.', '--fast'], "unknown option '--fast'"],
  ])('says what is wrong with %s', async (_what, argv, message) => {
    const ran = await runCommand(argv.map((one) => one.replace('LAYOUT', join(directory, 'layout'))));
    expect(ran.err).toContain(message);
    expect(ran.code).toBe(2);
  });

  it('shows the same as data', async () => {
    const ran = await validate('warned', '--output', 'json');
    expect(JSON.parse(ran.out)).toMatchObject({
      service: { name: 'cart', version: '1.0.0' },
      valid: true,
      errors: [],
      warnings: [{ code: 'TAG_NOT_DIGEST', severity: 'warning', path: 'dependencies[0].ref', line: 4 }],
    });
  });

  it('shows the same as SARIF, with the line and what each code means', async () => {
    const ran = await validate('bad', '--output', 'sarif');
    expect(JSON.parse(ran.out)).toMatchObject({
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'pacto-gate', rules: [{ id: 'INVALID_SEMVER', shortDescription: {} }] } },
          results: [
            {
              ruleId: 'INVALID_SEMVER',
              ruleIndex: 0,
              level: 'error',
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: pathToFileURL(join(directory, 'bad/pacto.yaml')).href },
                    region: { startLine: 2, startColumn: 23 },
                  },
                },
              ],
            },
          ],
        },
      ],
    });
    expect(ran.code).toBe(1);
  });
});
