/** The keys of registries; config-keys.ts has all of them. */
import { count, flag, list, optional, optionalText } from './config-keys-kinds.ts';
import {
  addressOrHost,
  authority,
  proxyException,
  proxyUrl,
  registryName,
  registryPattern,
} from './config-keys-texts.ts';

const MIB = 1024 * 1024;

export const REGISTRY_KEYS = {
  allow: list(
    registryPattern,
    [],
    'hosts, as host, host:port or *.suffix without scheme and path',
    'Registries that references may name. Default: any that credentials and addresses below allow.',
  ),
  insecure: list(
    registryName,
    [],
    'hosts, as host or host:port without scheme and path',
    'Registries that are spoken to without TLS; no other ever is. Upstream calls it PACTO_INSECURE_REGISTRIES, which ' +
      'counts where this is not given in the environment.',
  ),
  credentialHosts: list(
    registryName,
    [],
    'hosts, as host or host:port without scheme and path',
    'Registries that PACTO_REGISTRY_TOKEN, or PACTO_REGISTRY_USERNAME with PACTO_REGISTRY_PASSWORD, are sent to: ' +
      'exactly these, with the port where the reference has one. Empty: to none.',
  ),
  allowAddresses: list(
    addressOrHost,
    [],
    'addresses, CIDRs or host names without port',
    'Loopback, private, link-local and metadata addresses that registries and their token servers may resolve to.',
  ),
  certificateAuthorities: list(
    authority,
    [],
    'host=file',
    'PEM files with the CA of a registry, trusted there beside the public ones. Read once, at start.',
  ),
  realms: list(
    registryPattern,
    [],
    'hosts, as host, host:port or *.suffix without scheme and path',
    'Token servers that credentials may be sent to although their host is foreign to that of the registry.',
  ),
  credentialHelpers: flag(
    false,
    'Starts the programs docker-credential-NAME that the Docker config names, to ask them for credentials.',
  ),
  proxy: optional(
    proxyUrl,
    'an http or https URL of a host alone',
    'Proxy to the registries. Default: HTTPS_PROXY and HTTP_PROXY, which may hold a password.',
  ),
  noProxy: list(
    proxyException,
    [],
    'hosts, as host, host:port, .suffix or *, addresses or CIDRs',
    'What is reached without the proxy. Default: NO_PROXY.',
  ),
  dockerConfig: optionalText(
    'a file name',
    'Docker or Podman file with credentials, instead of those in their usual places.',
  ),
  cacheDirectory: optionalText(
    'a directory name',
    'Where manifests and layers are kept, by digest. Default: pacto-gate/registry in XDG_CACHE_HOME or .cache in ' +
      'HOME for commands, none for the server.',
  ),
  cacheBytes: count(
    256 * MIB,
    0,
    64 * 1024 * MIB,
    'Bytes kept there, and apart from that in memory; the least recently used goes first.',
  ),
  maxBlobBytes: count(64 * MIB, 1024, 1024 * MIB, 'The largest layer that is read, compressed.'),
  timeoutSeconds: count(60, 1, 600, 'For one request to a registry with all its retries.'),
} as const;
