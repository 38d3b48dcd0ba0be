/** Where the gate is, as the section `installer` of the configuration says. */
import type { Config } from '../config.ts';
import type { ClientTarget } from '../policies/entry.ts';

const HTTPS_PORT = 443;

/** @returns where entries point; undefined where nothing says it. */
export function targetOf({ installer }: Pick<Config, 'installer'>): ClientTarget | undefined {
  const { service, url } = installer;
  if (url !== undefined) return { url };
  const [, namespace, name, port] = /^([^/:]+)\/([^/:]+)(?::(\d+))?$/.exec(service ?? '') ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return { service: { namespace, name, port: port === undefined ? HTTPS_PORT : Number(port) } };
}

/**
 * Namespaces of the gate: that of the installer's Lease and that of the servers, wherever the installer may run, and
 * those whose ConfigMaps hold policies. A policy that denies everything must not reach what it comes from.
 */
export function namespacesOfGate(
  { policies, installer, environment }: Pick<Config, 'policies' | 'installer' | 'environment'>,
  target: ClientTarget,
): readonly string[] {
  const { podNamespace } = environment;
  const ofService = 'service' in target ? target.service.namespace : undefined;
  const { sources, namespaces } = policies;
  const ofMaps = namespaces.length > 0 ? namespaces : [podNamespace];
  return [
    installer.namespace ?? podNamespace ?? ofService,
    ofService ?? podNamespace,
    ...(sources.includes('configMaps') ? ofMaps : []),
  ].filter((namespace) => namespace !== undefined);
}

/** @returns the namespace of the gate; undefined where it runs outside the cluster. */
export function gateNamespaceOf(config: Pick<Config, 'installer' | 'environment'>): string | undefined {
  const target = targetOf(config);
  const ofService = target !== undefined && 'service' in target ? target.service.namespace : undefined;
  return config.installer.namespace ?? config.environment.podNamespace ?? ofService;
}
