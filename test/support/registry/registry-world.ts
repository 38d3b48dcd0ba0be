/** The six doors to one folder of blobs, and the clients that go in and out: what each registry test begins with. */
import { testTls, type TestTls } from '../tls.ts';
import {
  USER,
  openRegistrySite,
  type DockerRegistry,
  type RegistryOptions,
  type RegistrySite,
} from './docker-registry.ts';
import { foreignClients, type ForeignClients } from './foreign-clients.ts';
import { startTokenServer, type TokenServer } from './token-server.ts';

/** With and without TLS, each with every way to say who one is. */
export const DOORS = [
  'anonymous',
  'basic',
  'token',
  'anonymous over TLS',
  'basic over TLS',
  'token over TLS',
] as const;

export type DoorName = (typeof DOORS)[number];

export interface Door extends DockerRegistry {
  /** The name as a part of a repository's name. */
  readonly slug: string;
  /** Who must come in by it; undefined where everybody may. */
  readonly user: typeof USER | undefined;
  /** Where its challenge sends clients; undefined where it has none. */
  readonly tokens: TokenServer | undefined;
}

export interface RegistryWorld {
  /** A folder for the test's own files; removed at the end. */
  readonly directory: string;
  readonly tls: TestTls;
  readonly clients: ForeignClients;
  door(name: DoorName): Door;
  close(): Promise<void>;
}

/** Starts all doors; nothing is left running when one of them does not start. */
export async function openRegistryWorld(): Promise<RegistryWorld> {
  const tls = await testTls();
  const site = await openRegistrySite();
  const tokenServers: TokenServer[] = [];
  const close = async (): Promise<void> => {
    await site.close();
    await Promise.all(tokenServers.map((server) => server.close()));
  };
  try {
    const doors = new Map<DoorName, Door>();
    for (const name of DOORS) doors.set(name, await openDoor(site, name, tls, tokenServers));
    return {
      directory: site.directory,
      tls,
      clients: foreignClients(site.directory, tls.ca),
      door(name) {
        const door = doors.get(name);
        if (door === undefined) throw new Error(`no door ${name}`);
        return door;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openDoor(
  site: RegistrySite,
  name: DoorName,
  tls: TestTls,
  tokenServers: TokenServer[],
): Promise<Door> {
  const slug = name.toLowerCase().replaceAll(' ', '-');
  const pair = name.endsWith('over TLS') ? { tls: tls.pair } : {};
  if (!name.startsWith('token')) {
    const authentication = name.startsWith('basic') ? 'basic' : 'anonymous';
    const registry = await site.start({ authentication, ...pair } satisfies RegistryOptions);
    return { ...registry, slug, user: authentication === 'basic' ? USER : undefined, tokens: undefined };
  }
  const tokens = await startTokenServer({ user: USER, ...pair });
  tokenServers.push(tokens);
  const registry = await site.start({ authentication: { tokens }, ...pair });
  return { ...registry, slug, user: USER, tokens };
}
