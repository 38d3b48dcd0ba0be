/**
 * The registries of these tests are what they say: judged by skopeo and oras before our own client is judged by them.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { USER } from '../support/registry/docker-registry.ts';
import { registrySuite } from '../support/registry/registry-suite.ts';
import { DOORS, openRegistryWorld, type RegistryWorld } from '../support/registry/registry-world.ts';

registrySuite('registries and foreign clients', () => {
  let world: RegistryWorld;

  beforeAll(async () => {
    world = await openRegistryWorld();
  });

  afterAll(async () => {
    await world?.close();
  });

  it.each(DOORS)('takes what oras pushes and gives it to skopeo: %s', async (door) => {
    const { host, secure, user, slug } = world.door(door);
    const folder = join(world.directory, `push-${slug}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'hello.txt'), `pushed through the door ${door}\n`);
    const access = { secure, ...(user ? { user } : {}) };
    const reference = `${host}/proof/${slug}:1.0.0`;
    await world.clients.oras(
      [
        'push',
        ...world.clients.orasAccess(access),
        '--artifact-type',
        'application/vnd.example.proof.v1',
        reference,
        'hello.txt:text/plain',
      ],
      folder,
    );
    const raw = await world.clients.skopeo([
      'inspect',
      '--raw',
      ...world.clients.skopeoAccess(access),
      `docker://${reference}`,
    ]);
    const manifest = JSON.parse(raw) as { layers: { digest: string }[] };
    const content = readFileSync(join(folder, 'hello.txt'));
    expect(manifest.layers.map(({ digest }) => digest)).toEqual([
      `sha256:${createHash('sha256').update(content).digest('hex')}`,
    ]);
  });

  it.each(DOORS.filter((door) => !door.startsWith('anonymous')))(
    'denies a wrong password, and nobody: %s',
    async (door) => {
      const { host, secure } = world.door(door);
      const list = (user?: { username: string; password: string }): Promise<string> =>
        world.clients.skopeo([
          'list-tags',
          ...world.clients.skopeoAccess({ secure, ...(user ? { user } : {}) }),
          `docker://${host}/proof/denied`,
        ]);
      await expect(list({ ...USER, password: 'wrong' })).rejects.toThrow(
        /unauthorized|authentication required/i,
      );
      await expect(list()).rejects.toThrow(/unauthorized|authentication required/i);
    },
  );
});
