/** What the process environment says about registries: where files with credentials are, a login, proxies. */
import { join } from 'node:path';

export interface RegistryEnvironment {
  /**
   * PACTO_REGISTRY_TOKEN, …_USERNAME and …_PASSWORD. A function, like the one below, so that whoever prints a
   * configuration prints no secret.
   */
  readonly login: () => {
    readonly token: string | undefined;
    readonly username: string | undefined;
    readonly password: string | undefined;
  };
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or the same in lower case. A proxy's URL may hold a password. */
  readonly proxy: () => {
    readonly https: string | undefined;
    readonly http: string | undefined;
    readonly except: readonly string[];
  };
  /** What `pacto login` writes; undefined where there is no home. */
  readonly storeFile: string | undefined;
  /** Docker's and Podman's files, in the order in which they are asked. */
  readonly dockerConfigFiles: readonly string[];
  /** Where caches of this user are kept; undefined where there is no home. */
  readonly cacheDirectory: string | undefined;
}

export function registryEnvironment(env: Readonly<Record<string, string | undefined>>): RegistryEnvironment {
  const value = (...names: readonly string[]): string | undefined =>
    names.map((name) => env[name]).find((text) => text !== undefined && text !== '');
  const under = (directory: string | undefined, ...path: string[]): string | undefined =>
    directory === undefined ? undefined : join(directory, ...path);
  const home = value('HOME');
  // XDG base directory specification.
  const configHome = value('XDG_CONFIG_HOME') ?? under(home, '.config');
  const cacheHome = value('XDG_CACHE_HOME') ?? under(home, '.cache');
  const dockerConfigFiles = [
    under(value('DOCKER_CONFIG') ?? under(home, '.docker'), 'config.json'),
    // containers-auth.json(5).
    value('REGISTRY_AUTH_FILE') ?? under(value('XDG_RUNTIME_DIR'), 'containers', 'auth.json'),
    under(configHome, 'containers', 'auth.json'),
  ];
  return {
    login: () => ({
      token: value('PACTO_REGISTRY_TOKEN'),
      username: value('PACTO_REGISTRY_USERNAME'),
      password: value('PACTO_REGISTRY_PASSWORD'),
    }),
    proxy: () => ({
      https: value('HTTPS_PROXY', 'https_proxy'),
      http: value('http_proxy', 'HTTP_PROXY'),
      except: (value('NO_PROXY', 'no_proxy') ?? '').split(',').filter((entry) => entry.trim() !== ''),
    }),
    storeFile: under(configHome, 'pacto', 'config.json'),
    dockerConfigFiles: dockerConfigFiles.filter((file) => file !== undefined),
    cacheDirectory: under(cacheHome, 'pacto-gate', 'registry'),
  };
}
