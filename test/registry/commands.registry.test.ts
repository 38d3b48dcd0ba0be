/** The command line at a real registry: what a person does who publishes a contract and one who relies on it. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, type Ran } from '../cli/run-command.ts';
import { registrySuite } from '../support/registry/registry-suite.ts';
import { USER } from '../support/registry/docker-registry.ts';
import {
  DOORS,
  openRegistryWorld,
  type Door,
  type RegistryWorld,
} from '../support/registry/registry-world.ts';

const CART = 'examples/contracts/cart';

registrySuite('commands at a registry', () => {
  let world: RegistryWorld;
  let home = '';

  beforeAll(async () => {
    world = await openRegistryWorld();
    home = await mkdtemp(join(tmpdir(), 'gate-commands-'));
    await writeFile(join(home, 'ca.crt'), world.tls.ca);
  });
  afterAll(async () => {
    await world?.close();
    await rm(home, { recursive: true });
  });

  describe.each(DOORS)('%s', (name) => {
    let door: Door;
    let repository = '';
    /** As an environment and flags would have it; nothing of the machine's own. */
    const command = (...argv: string[]): Promise<Ran> =>
      runCommand(
        [
          ...argv,
          '--registry-allow-addresses',
          '127.0.0.0/8',
          ...(door.secure
            ? ['--registry-certificate-authorities', `127.0.0.1=${join(home, 'ca.crt')}`]
            : ['--registry-insecure', door.host]),
          ...(door.user === undefined ? [] : ['--registry-credential-hosts', door.host]),
        ],
        {
          env: {
            HOME: home,
            ...(door.user !== undefined && {
              PACTO_REGISTRY_USERNAME: USER.username,
              PACTO_REGISTRY_PASSWORD: USER.password,
            }),
          },
        },
      );

    beforeAll(() => {
      door = world.door(name);
      repository = `oci://${door.host}/commands/${door.slug}`;
    });

    it('publishes a contract under its version, and takes it from there', async () => {
      const pushed = await command('contract', 'push', CART, repository);
      expect(pushed).toMatchObject({ code: 0, err: '' });
      expect(pushed.out).toContain(`pushed ${repository}:1.4.0\n5 files: `);
      const taken = await command('validate', `${repository}:1.4.0`, '--output', 'json');
      expect(taken.code).toBe(0);
      const { digest } = JSON.parse(taken.out) as { digest: string };
      expect(pushed.out).toContain(digest);
      const byDigest = await command('validate', `${repository}@${digest}`);
      expect(byDigest).toMatchObject({ code: 0, err: '' });
    });

    it('sends the same content no second time, and moves a tag only by force', async () => {
      const again = await command('contract', 'push', CART, repository);
      expect(again).toMatchObject({ code: 0 });
      expect(again.out).toContain('has this content already');
      const other = ['contract', 'push', CART, `${repository}:1.4.0`, '--set', 'metadata.note=changed'];
      const refused = await command(...other);
      expect(refused).toMatchObject({ code: 2 });
      expect(refused.err).toContain('GATE_REGISTRY_EXISTS');
      expect((await command(...other, '--force')).code).toBe(0);
    });

    it('takes the highest version of a reference without a tag', async () => {
      await command('contract', 'push', CART, repository, '--set', 'service.version=1.10.0');
      const shown = await command('contract', 'show', repository, '--output', 'json');
      expect(JSON.parse(shown.out)).toMatchObject({ reference: `${repository}:1.10.0` });
    });

    it('enforces a policy that another repository has', async () => {
      const rules = `${repository}-rules`;
      const folder = join(home, door.slug);
      await mkdir(join(folder, 'policy'), { recursive: true });
      await writeFile(
        join(folder, 'pacto.yaml'),
        'pactoVersion: "2.0"\nservice: {name: rules, version: 1.0.0}\n',
      );
      await cp(join(CART, 'policy', 'by-a-person.json'), join(folder, 'policy', 'schema.json'));
      expect((await command('contract', 'push', folder, rules)).code).toBe(0);
      const values = join(home, `${door.slug}.yaml`);
      await writeFile(values, `policies: [{name: rules, ref: "${rules}:1.0.0"}]\n`);
      const held = await command('validate', CART, '--values', values);
      expect(held).toMatchObject({ code: 1 });
      expect(held.out).toContain('lacks "dri" [POLICY_VIOLATION]');
      const offline = await command('validate', CART, '--values', values, '--offline');
      expect(offline.out).toContain('[POLICY_REF_NOT_ENFORCED]');
    });

    it('says what is not there', async () => {
      const ran = await command('validate', `${repository}:9.9.9`);
      expect(ran).toMatchObject({ code: 2 });
      expect(ran.err).toContain('GATE_REGISTRY_NOT_FOUND');
    });
  });

  it('is refused without credentials, and names no password', async () => {
    const door = world.door('basic');
    const ran = await runCommand(
      [
        'validate',
        `oci://${door.host}/commands/x:1.0.0`,
        '--registry-allow-addresses',
        '127.0.0.0/8',
        '--registry-insecure',
        door.host,
      ],
      // Not in registry.credentialHosts: they stay here.
      { env: { HOME: home, PACTO_REGISTRY_USERNAME: USER.username, PACTO_REGISTRY_PASSWORD: USER.password } },
    );
    expect(ran).toMatchObject({ code: 2 });
    expect(ran.err).toContain('GATE_REGISTRY_AUTHENTICATION');
    expect(ran.err).not.toContain(USER.password);
  });

  it('refuses a registry on this machine that nobody allowed', async () => {
    const door = world.door('anonymous');
    const ran = await runCommand(
      ['validate', `oci://${door.host}/commands/x:1.0.0`, '--registry-insecure', door.host],
      {
        env: { HOME: home },
      },
    );
    expect(ran).toMatchObject({ code: 2 });
    expect(ran.err).toContain('GATE_REGISTRY_REFUSED');
  });

  it('keeps what it fetched by digest, and nothing else, below the cache folder', async () => {
    const kept = await readdir(join(home, '.cache', 'pacto-gate', 'registry'), { recursive: true });
    expect(kept.some((path) => /[0-9a-f]{64}/.test(path))).toBe(true);
    for (const path of kept.filter((one) => /[0-9a-f]{64}$/.test(one))) {
      const bytes = await readFile(join(home, '.cache', 'pacto-gate', 'registry', path)).catch(() =>
        Buffer.alloc(0),
      );
      expect(bytes.includes(USER.password)).toBe(false);
    }
  });
});
