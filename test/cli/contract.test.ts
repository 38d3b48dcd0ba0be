import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ContractPlaces } from '../../src/cli/contract-location.ts';
import { runCommand } from './run-command.ts';

const CART = 'examples/contracts/cart';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gate-contract-'));
});
afterAll(() => rm(directory, { recursive: true }));

describe('contract show', () => {
  it('shows what a contract says', async () => {
    const ran = await runCommand(['contract', 'show', CART, '--now', '2027-01-01T00:00:00Z']);
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('cart 1.4.0\n');
    expect(ran.out).toContain('interfaces      web (openapi, internal, interfaces/web.yaml)');
    expect(ran.out).toContain('readiness       85 of 100, need 70: passes, holds until 2027-06-30');
  });

  it('shows it as data', async () => {
    const ran = await runCommand(['contract', 'show', CART, '--output', 'json']);
    expect(JSON.parse(ran.out)).toMatchObject({
      contract: { service: { name: 'cart' }, workload: 'service' },
      files: expect.arrayContaining([
        { path: 'policy/owned.json', sizeBytes: expect.any(Number) as number },
      ]) as unknown,
    });
  });

  it('shows integers as they are', async () => {
    const stdin =
      'pactoVersion: "2.0"\nservice: {name: a, version: 1.0.0}\nmetadata: {a: 9007199254740993}\n';
    const ran = await runCommand(['contract', 'show', '-', '--output', 'json'], { stdin });
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('"a": 9007199254740993\n') as string });
  });

  it('refuses what does not load', async () => {
    const ran = await runCommand(['contract', 'show', '-'], { stdin: 'pactoVersion: "2.0"\nports: []\n' });
    expect(ran).toMatchObject({ code: 1, out: expect.stringContaining('[PARSE_ERROR]') as string });
  });
});

describe('contract pack', () => {
  it('writes the same bytes for the same files, which validate then takes', async () => {
    const first = join(directory, 'first.tgz');
    const second = join(directory, 'second.tgz');
    const ran = await runCommand(['contract', 'pack', CART, '--out', first]);
    expect(ran).toMatchObject({
      code: 0,
      out: expect.stringMatching(/digest when pushed: sha256:[0-9a-f]{64}\n/) as string,
    });
    await cp(CART, join(directory, 'copy'), { recursive: true });
    await runCommand(['contract', 'pack', join(directory, 'copy'), '--out', second]);
    expect((await readFile(first)).equals(await readFile(second))).toBe(true);
    expect((await runCommand(['validate', first])).code).toBe(0);
  });

  it('adds it to an image layout', async () => {
    const layout = join(directory, 'layout');
    expect((await runCommand(['contract', 'pack', CART, '--layout', layout])).code).toBe(0);
    expect((await runCommand(['contract', 'show', `${layout}:1.4.0`])).out).toContain(
      'digest          sha256:',
    );
  });

  it('leaves out what .pactoignore names, and refuses where a file that is needed is among it', async () => {
    const folder = join(directory, 'ignoring');
    await cp(CART, folder, { recursive: true });
    await mkdir(join(folder, 'notes'));
    await writeFile(join(folder, 'notes', 'todo.md'), 'later\n');
    await writeFile(join(folder, '.pactoignore'), 'notes/\n');
    const packed = await runCommand([
      'contract',
      'pack',
      folder,
      '--out',
      join(directory, 'i.tgz'),
      '-o',
      'json',
    ]);
    expect(JSON.parse(packed.out)).not.toMatchObject({
      files: expect.arrayContaining(['notes/todo.md']) as unknown,
    });
    await writeFile(join(folder, '.pactoignore'), 'interfaces/\n');
    const refused = await runCommand(['contract', 'pack', folder, '--out', join(directory, 'none.tgz')]);
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('[FILE_NOT_FOUND]') as string });
    await expect(readFile(join(directory, 'none.tgz'))).rejects.toThrow('ENOENT');
  });

  it('is the same when it is packed again where the archive lies', async () => {
    const folder = join(directory, 'again');
    await cp(CART, folder, { recursive: true });
    const packed = async (out: string): Promise<string> => {
      const ran = await runCommand(['contract', 'pack', folder, '--out', join(folder, out), '-o', 'json']);
      expect(ran.code).toBe(0);
      return (JSON.parse(ran.out) as { digest: string }).digest;
    };
    const first = await packed('any.tgz');
    expect(await packed('any.tgz')).toBe(first);
    await rm(join(folder, 'any.tgz'));
    expect(await packed('cart-1.4.0.tgz')).toBe(first);
    expect(await packed('cart-1.4.1.tgz')).toBe(first);
  });

  it.each(['.env', '.env.local', 'deep/tls.key', '.npmrc', 'id_ed25519'])(
    'refuses %s, which looks like a secret, until that is denied',
    async (name) => {
      const folder = await mkdtemp(join(directory, 'secret-'));
      await cp(CART, folder, { recursive: true });
      await mkdir(join(folder, 'deep'));
      await writeFile(join(folder, name), 'x');
      const argv = ['contract', 'pack', folder, '--out', join(directory, 'secret.tgz')];
      const refused = await runCommand(argv);
      expect(refused).toMatchObject({
        code: 2,
        err: expect.stringContaining(JSON.stringify(name)) as string,
      });
      const taken = await runCommand([...argv, '--with-file', name]);
      expect(taken).toMatchObject({ code: 0, out: expect.stringContaining(name) as string });
    },
  );

  it('moves a tag of a layout only by force', async () => {
    const layout = join(directory, 'moved');
    const argv = ['contract', 'pack', CART, '--layout', layout];
    expect((await runCommand(argv)).code).toBe(0);
    expect((await runCommand(argv)).code).toBe(0);
    const other = [...argv, '--set', 'metadata.note=changed'];
    const refused = await runCommand(other);
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining('GATE_REGISTRY_EXISTS') as string,
    });
    expect((await runCommand([...other, '--force'])).code).toBe(0);
  });

  it.each([
    ['a contract alone', ['contract', 'pack', '-'], 'give the folder of its bundle'],
    ['two places at once', ['contract', 'pack', CART, '--out', 'a', '--layout', 'b'], 'not both'],
    ['a folder that is not there', ['contract', 'pack', CART, '--out', 'no/such/a.tgz'], 'cannot be written'],
  ])('takes no %s', async (_what, argv, message) => {
    const stdin = 'pactoVersion: "2.0"\nservice: {name: a, version: 1.0.0}\n';
    const ran = await runCommand(argv, { stdin });
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(message) as string });
  });
});

describe('contract push', () => {
  it('refuses references to paths of this machine before it asks a registry', async () => {
    const ran = await runCommand([
      'contract',
      'push',
      CART,
      'oci://r.invalid/cart',
      '--set',
      'dependencies[0].ref=../pay',
    ]);
    expect(ran).toMatchObject({
      code: 2,
      err: expect.stringContaining('dependencies[0].ref "../pay"') as string,
    });
  });

  it('refuses what is not valid', async () => {
    const ran = await runCommand([
      'contract',
      'push',
      CART,
      'oci://r.invalid/cart',
      '--set',
      'service.version=x',
    ]);
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('[INVALID_SEMVER]') as string });
  });
});

describe('places in a contract', () => {
  const TEXT = 'service:\n  name: a\ninterfaces:\n  - name: web\n    ref: x\n  - name: api.v1\n';
  it.each([
    ['service.name', 2],
    ['interfaces.0.ref', 5],
    ['interfaces[0].ref', 5],
    ['interfaces[name=api.v1]', 6],
    ['interfaces[1].ref', 6],
    ['interfaces[7].ref', 3],
    ['', undefined],
    ['nothing.of.it', undefined],
  ])('finds %j', (path, line) => {
    expect(new ContractPlaces(TEXT).of(path)?.line).toBe(line);
  });

  it('finds each of very many entries by name without looking through all before it', () => {
    const count = 10_000;
    const text = `interfaces:\n${Array.from({ length: count }, (_, at) => `- {name: a${String(at)}}\n`).join('')}`;
    const places = new ContractPlaces(text);
    const begun = performance.now();
    const lines = Array.from(
      { length: count },
      (_, at) => places.of(`interfaces[name=a${String(at)}]`)?.line,
    );
    expect(lines).toEqual(Array.from({ length: count }, (_, at) => at + 2));
    expect(performance.now() - begun).toBeLessThan(2000);
  });

  it('finds nothing where there is no YAML', () => {
    expect(new ContractPlaces('a: [').of('b.c')).toBeUndefined();
  });
});
