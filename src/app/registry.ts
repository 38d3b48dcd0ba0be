/** Registries as the configuration has them: the client, where its credentials come from, and what pulls share. */
import { readAtMost } from '../bounded-file.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { GateError, quote } from '../errors.ts';
import { BlobDirectory } from '../registry/blob-directory.ts';
import { BundleCache } from '../registry/bundle-cache.ts';
import { RegistryClient } from '../registry/client.ts';
import type { CredentialSource } from '../registry/credential.ts';
import { dockerConfigCredentials } from '../registry/credentials/docker-config.ts';
import { environmentCredentials } from '../registry/credentials/environment.ts';
import { pactoStoreCredentials } from '../registry/credentials/pacto-store.ts';
import { pullSecretCredentials, type PullSecret } from '../registry/credentials/pull-secret.ts';
import type { RegistryOptions } from '../registry/options.ts';
import { parseRegistryReference } from '../registry/reference.ts';

/** How long a credential helper may take: some ask a keychain, some a cloud. */
const HELPER_TIMEOUT_MS = 10_000;
/** A bundle of public CAs has a fifth of it. */
const CA_FILE_BYTES = 1024 * 1024;

export interface Registries {
  readonly client: RegistryClient;
  /** For pulls with the client above, and for no others. Where nothing is on disk it keeps results as well. */
  readonly cache: BundleCache;
  /**
   * A client that tries a pull secret first, and only at the registry of `reference`; without the cache, because what the
   * secret opens is not for everybody. Closed with the one above.
   * @throws GateError GATE_REGISTRY_AUTHENTICATION where the secret cannot be used for the reference.
   */
  withPullSecret(secret: PullSecret, reference: string): RegistryClient;
  close(): Promise<void>;
}

/**
 * @param options.cachesOnDisk also where no directory is configured: for commands, which forget all else.
 * @throws GateError GATE_CONFIG_INVALID where a file that the configuration names cannot be used.
 */
export async function openRegistries(
  config: Pick<Config, 'registry'>,
  options: { readonly clock: Clock; readonly cachesOnDisk: boolean },
): Promise<Registries> {
  const { registry } = config;
  const { clock } = options;
  const sources = credentialSources(registry, clock);
  const client = new RegistryClient(await registryOptions(registry, sources, clock));
  const directory =
    registry.cacheDirectory ?? (options.cachesOnDisk ? registry.environment.cacheDirectory : undefined);
  const maxBytes = registry.cacheBytes;
  const blobs =
    directory === undefined || maxBytes === 0 ? undefined : new BlobDirectory({ directory, maxBytes, clock });
  return {
    client,
    cache: new BundleCache({ clock, maxBytes, blobs, keepsResults: !options.cachesOnDisk }),
    withPullSecret: (secret, reference) =>
      client.withSources([pullSecretCredentials(secret, parseRegistryReference(reference)), ...sources]),
    close: () => client.close(),
  };
}

/** In the order of contract.md §11.6, without the `gh` command line: no program is started that nobody asked for. */
function credentialSources(registry: Config['registry'], clock: Clock): readonly CredentialSource[] {
  const { environment, dockerConfig } = registry;
  const dockerFiles =
    dockerConfig === undefined
      ? environment.dockerConfigFiles.map((path) => ({ path, mustBeThere: false }))
      : [{ path: dockerConfig, mustBeThere: true }];
  const helpers = registry.credentialHelpers ? { clock, timeoutMs: HELPER_TIMEOUT_MS } : undefined;
  return [
    environmentCredentials(environment.login, registry.credentialHosts),
    ...(environment.storeFile === undefined ? [] : [pactoStoreCredentials(environment.storeFile)]),
    dockerConfigCredentials(dockerFiles, helpers),
  ];
}

async function registryOptions(
  registry: Config['registry'],
  sources: readonly CredentialSource[],
  clock: Clock,
): Promise<RegistryOptions> {
  const found = registry.environment.proxy();
  const https = registry.proxy ?? found.https;
  const http = registry.proxy ?? found.http;
  return {
    sources,
    clock,
    ...(registry.allow.length > 0 && { allow: registry.allow }),
    insecure: registry.insecure,
    allowAddresses: registry.allowAddresses,
    realms: registry.realms,
    certificateAuthorities: await readAuthorities(registry.certificateAuthorities),
    proxy: {
      ...(https !== undefined && { https }),
      ...(http !== undefined && { http }),
      except: registry.noProxy.length > 0 ? registry.noProxy : found.except,
    },
    limits: { blobBytes: registry.maxBlobBytes, totalMs: registry.timeoutSeconds * 1000 },
  };
}

/** @param entries `host=file`; of one host several files count together. */
async function readAuthorities(entries: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const authorities = new Map<string, string>();
  for (const entry of entries) {
    const at = entry.indexOf('=');
    const [host, file] = [entry.slice(0, at), entry.slice(at + 1)];
    let text: string;
    try {
      text = (await readAtMost(file, CA_FILE_BYTES)).toString('utf8');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
      throw new GateError(
        'GATE_CONFIG_INVALID',
        `registry.certificateAuthorities: the file of ${quote(host)} cannot be read (${code}): correct its name`,
      );
    }
    const before = authorities.get(host);
    authorities.set(host, before === undefined ? text : `${before}\n${text}`);
  }
  return authorities;
}
