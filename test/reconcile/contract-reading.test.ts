import { describe, expect, it } from 'vitest';
import type { BundleFiles } from '../../src/policies/contract/bundle-files.ts';
import type { ConfigurationOverride } from '../../src/policies/contract/operator-overrides.ts';
import {
  contractKey,
  readContractOf,
  validationText,
  type ReadContract,
} from '../../src/reconcile/contract-reading.ts';
import { FewKeywords } from '../policies/contract/few-keywords.ts';

const CART = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.4.0}\n';
const CONFIGURED = `${CART}configurations: [{name: app, required: true, schema: app.json, values: {level: info}}]\n`;
const FILES = filesOf({ 'app.json': '{"type":"object"}' });

function filesOf(files: Readonly<Record<string, string>>): BundleFiles {
  return new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
}

async function read(
  text: string | Uint8Array,
  { files, overrides = [] }: { files?: BundleFiles; overrides?: readonly ConfigurationOverride[] } = {},
): Promise<ReadContract> {
  const job = { text: typeof text === 'string' ? Buffer.from(text) : text, files, overrides };
  return await readContractOf(job, new FewKeywords());
}

async function readOk(...given: Parameters<typeof read>): Promise<Extract<ReadContract, { ok: true }>> {
  const found = await read(...given);
  if (!found.ok) throw new Error(found.message);
  return found;
}

describe('a contract', () => {
  it('is read and validated', async () => {
    expect(await read(CART)).toMatchObject({
      ok: true,
      contract: { service: { name: 'cart', version: '1.4.0' } },
      service: { name: 'cart', version: '1.4.0' },
      validation: { errors: [], warnings: [] },
    });
  });

  it.each([
    ['is no YAML', 'pactoVersion: ['],
    ['is empty', ''],
    ['has a field of another type', `${CART}interfaces: 7\n`],
    ['has a field that is none', `${CART}extra: 1\n`],
    ['is no text', Uint8Array.from([0xff, 0xfe, 0x00])],
  ])('is not loaded where it %s', async (_, text) => {
    expect(await read(text)).toEqual({
      ok: false,
      stage: 'load',
      message: expect.stringMatching(/^failed to parse the contract: ./) as string,
    });
  });

  it.each([
    ['a layer of shape', `${CART}configurations: [{name: app, schema: app.json}]\n`, 'configurations.0'],
    [
      'a layer of meaning',
      'pactoVersion: "2.0"\nservice: {name: cart, version: latest}\n',
      'service.version',
    ],
  ])('that breaks %s loads, and says what is wrong', async (_, text, path) => {
    const { validation } = await readOk(text);
    expect(validation.errors.map((problem) => problem.path)).toContain(path);
  });

  it('is held to the files of its bundle', async () => {
    const { validation } = await readOk(CONFIGURED, { files: filesOf({}) });
    expect(validation.errors.map(({ code }) => code)).toEqual(['FILE_NOT_FOUND']);
    expect((await readOk(CONFIGURED, { files: FILES })).validation.errors).toEqual([]);
  });

  it('without a bundle is not held to files, nor warned of policies elsewhere (T20)', async () => {
    expect((await readOk(CONFIGURED)).validation.errors).toEqual([]);
    const text = `${CART}policies: [{name: own, ref: "oci://registry.test/policies/own"}]\n`;
    expect((await readOk(text)).validation).toEqual({ errors: [], warnings: [] });
    expect((await readOk(text, { files: FILES })).validation.warnings.map(({ code }) => code)).toEqual([
      'POLICY_REF_NOT_ENFORCED',
    ]);
  });

  it('keeps what is written where that is not what it means (contract.md §2.3)', async () => {
    const found = await readOk(`${CART}metadata: {since: 2027-01-02, tier: 1}\n`);
    expect(found.metadataAsWritten).toEqual({ since: '2027-01-02', tier: expect.anything() as unknown });
    expect((await readOk(CART)).metadataAsWritten).toBeUndefined();
    expect((await readOk(CONFIGURED)).configurationsAsWritten).toMatchObject([{ values: { level: 'info' } }]);
  });
});

describe('overrides', () => {
  it('are seen in the contract and judged with it (operator.md §3.4)', async () => {
    const overrides = [{ name: 'app', values: { level: 'debug', colour: 'red' } }];
    const found = await readOk(CONFIGURED, { files: FILES, overrides });
    expect(found.contract.configurations[0]?.values).toEqual({ level: 'debug', colour: 'red' });
    expect(found.validation.errors).toEqual([]);
  });

  it('of a configuration that is not there are no contract’s', async () => {
    expect(await read(CONFIGURED, { overrides: [{ name: 'other', values: { a: 'b' } }] })).toEqual({
      ok: false,
      stage: 'override',
      message: 'the contract has no configuration "other"',
    });
  });

  it('of a contract that does not load are not looked at', async () => {
    const found = await read('pactoVersion: [', { overrides: [{ name: 'other', values: { a: 'b' } }] });
    expect(found).toMatchObject({ ok: false, stage: 'load' });
  });
});

describe('the key of a contract', () => {
  const contract = { sha256: 'a', digest: 'sha256:b' };
  const keys = [
    contractKey(contract, []),
    contractKey({ ...contract, sha256: 'c' }, []),
    contractKey({ ...contract, digest: '' }, []),
    contractKey(contract, [{ name: 'app', values: { level: 'debug' } }]),
    contractKey(contract, [{ name: 'app', values: { level: 'info' } }]),
    contractKey(contract, [{ name: 'other', values: { level: 'info' } }]),
  ];

  it('tells text, bundle and overrides apart', () => {
    expect(new Set(keys).size).toBe(keys.length);
    expect(contractKey({ ...contract }, [])).toBe(keys[0]);
  });
});

describe('what is wrong', () => {
  it.each([
    [[], ''],
    [[{ path: 'service.name', message: 'is empty' }], 'service.name: is empty'],
    [
      [
        { path: 'a', message: 'x' },
        { path: '', message: 'y' },
      ],
      'a: x; y',
    ],
  ])('of %j reads %s (operator.md §3.2, step 8)', (errors, text) => {
    expect(validationText(errors.map((error) => ({ ...error, code: 'SCHEMA_VIOLATION' })) as never)).toBe(
      text,
    );
  });
});
