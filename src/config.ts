/**
 * The configuration: each key (config-keys.ts) is a path in one YAML or JSON file, a flag and an environment variable;
 * a flag wins over the environment, that over the file, that over the default. The only file that reads
 * `process.env` (design §3); what others need of it is handed on as values.
 */
import { delimiter } from 'node:path';
import { isKey, VARIABLE_PREFIX, type KeyKind, type KeyRow } from './config-keys-kinds.ts';
import { configKeys, KEYS, type Settings } from './config-keys.ts';
import { firstLineOf, foundIn, placeIn } from './config-messages.ts';
import { registryEnvironment, type RegistryEnvironment } from './config-registry.ts';
import { isServiceLink } from './config-service-links.ts';
import { suggest } from './config-suggest.ts';

/** What the process environment says beside our own variables. */
export interface Environment {
  /** KUBERNETES_SERVICE_HOST and _PORT: this runs in a Pod. */
  readonly apiServer: { readonly host: string; readonly port: string } | undefined;
  /** POD_NAMESPACE, by the downward API. */
  readonly podNamespace: string | undefined;
  readonly home: string | undefined;
  /** Names of the upstream operator's variables that are set and that this version has no use for. */
  readonly unusedUpstream: readonly string[];
}

/** Everything, with defaults worked out. */
export type Config = Omit<Settings, 'metrics'> & {
  readonly cluster: {
    readonly source: Exclude<Settings['cluster']['source'], 'auto'>;
    /** Several files for the source kubeconfig, in order of precedence, when KUBECONFIG lists several. */
    readonly kubeconfigFiles: readonly string[];
  };
  readonly webhooks: { readonly host: string };
  readonly metrics: Omit<Settings['metrics'], 'host' | 'plain'> & {
    readonly host: string;
    readonly plain: boolean;
    /** Nobody asked for it: elsewhere, as in a Pod, the same keys may mean HTTPS. */
    readonly isPlainByDefault: boolean;
  };
  readonly health: { readonly host: string };
  readonly api: { readonly host: string };
  readonly registry: { readonly environment: RegistryEnvironment };
  readonly environment: Environment;
};

/** One value from a flag: the text as typed, and the flag as typed, for messages. */
export interface FlagValue {
  readonly path: string;
  readonly value: string;
  readonly origin: string;
}

export interface ConfigProblem {
  readonly code: 'GATE_CONFIG_INVALID' | 'GATE_CONFIG_FILE';
  /** Says where the value came from, what is wrong and what is needed. */
  readonly message: string;
}

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

export const FILE_VARIABLE = `${VARIABLE_PREFIX}CONFIG`;
/** What is read of a configuration file: every key with a page of comments has a tenth of it. */
export const CONFIG_FILE_BYTES = 256 * 1024;
/** Read by the scripts of the source tree, so they may stand in the shell of whoever works on it. */
const SCRIPT_VARIABLES: ReadonlySet<string> = new Set([
  `${VARIABLE_PREFIX}CACHE`,
  `${VARIABLE_PREFIX}REQUIRE_CLUSTER`,
]);

/** Read by the upstream operator, for owner references of what it installs. */
export const UNUSED_UPSTREAM_VARIABLES: readonly string[] = ['OPERATOR_DEPLOYMENT_NAME'];

/** The upstream's variable → our key of the same meaning; our own variable wins. */
const UPSTREAM_VARIABLES: ReadonlyMap<string, string> = new Map([
  ['PACTO_INSECURE_REGISTRIES', 'registry.insecure'],
]);

interface Found {
  readonly value: unknown;
  /** `flag --webhooks-port`, `environment PACTO_GATE_WEBHOOKS_PORT`, `file gate.yaml: webhooks.port`. */
  readonly origin: string;
}

/**
 * Reads flags, environment and file, and checks everything before it answers: all problems at once.
 * @param input.file the configuration file; PACTO_GATE_CONFIG names it where this is undefined.
 * @param input.readFile reads a file as UTF-8 text.
 */
export async function loadConfig(input: {
  readonly flags: readonly FlagValue[];
  readonly file?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly readFile: (name: string) => Promise<string>;
}): Promise<LoadedConfig> {
  const env = input.env ?? process.env;
  const problems: ConfigProblem[] = [];
  const rows = configKeys();
  const found = new Map<string, Found>();
  const file = input.file ?? nonEmpty(env[FILE_VARIABLE]);
  if (file !== undefined) await readConfigFile(file, input.readFile, found, problems);
  readEnvironment(env, rows, found, problems);
  readFlags(input.flags, rows, found);

  const settings = parse(KEYS, [], found, problems) as Settings;
  if (problems.length > 0) return { ok: false, problems };
  const origin = (path: string): string => found.get(path)?.origin ?? `default of ${path}`;
  problems.push(...contradictions(settings, origin));
  const config = resolve(settings, env);
  if (config.metrics.enabled && config.metrics.plain && !LOOPBACK.test(config.metrics.host))
    problems.push(
      invalid(
        `${origin('metrics.plain')}: needs a loopback address, and metrics.host is ${config.metrics.host}`,
      ),
    );
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config };
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

const invalid = (message: string): ConfigProblem => ({ code: 'GATE_CONFIG_INVALID', message });

async function readConfigFile(
  file: string,
  readFile: (name: string) => Promise<string>,
  found: Map<string, Found>,
  problems: ConfigProblem[],
): Promise<void> {
  const refuse = (what: string): void => {
    problems.push({ code: 'GATE_CONFIG_FILE', message: `file ${file}: ${what}` });
  };
  let text: string;
  try {
    text = await readFile(file);
  } catch (error) {
    refuse(`cannot be read: ${firstLineOf(error)}`);
    return;
  }
  let root: unknown;
  try {
    root = file.endsWith('.json') ? JSON.parse(text) : (await import('yaml')).parse(text);
  } catch (error) {
    refuse(
      file.endsWith('.json')
        ? `is no JSON${placeIn(firstLineOf(error))}`
        : `is no YAML: ${firstLineOf(error)}`,
    );
    return;
  }
  // An empty file is an empty mapping.
  if (root === null || root === undefined) return;
  if (typeof root !== 'object' || Array.isArray(root)) {
    problems.push({ code: 'GATE_CONFIG_FILE', message: `file ${file}: need a mapping at the top` });
    return;
  }
  collect(KEYS, root, [], file, found, problems);
}

function collect(
  node: object,
  values: object,
  path: readonly string[],
  file: string,
  found: Map<string, Found>,
  problems: ConfigProblem[],
): void {
  for (const [name, value] of Object.entries(values) as [string, unknown][]) {
    const here = [...path, name];
    const dotted = here.join('.');
    const origin = `file ${file}: ${dotted}`;
    const child = Object.hasOwn(node, name) ? (node as Record<string, object>)[name] : undefined;
    if (child === undefined) {
      problems.push(
        invalid(
          `${origin}: unknown key${suggest(
            dotted,
            configKeys().map((row) => row.path),
          )}`,
        ),
      );
    } else if (isKey(child)) {
      // A key without a value, as `directory:` in YAML, is a key that is not set.
      if (value !== null && value !== undefined) found.set(dotted, { value, origin });
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      collect(child, value, here, file, found, problems);
    } else if (value !== null) {
      problems.push(invalid(`${origin}: need a mapping of keys`));
    }
  }
}

function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  rows: readonly KeyRow[],
  found: Map<string, Found>,
  problems: ConfigProblem[],
): void {
  for (const [name, path] of UPSTREAM_VARIABLES) {
    const value = nonEmpty(env[name]);
    if (value !== undefined)
      found.set(path, { value: fromText('list', value), origin: `environment ${name}` });
  }
  const byVariable = new Map(rows.map((row) => [row.variable, row]));
  for (const [name, value] of Object.entries(env)) {
    // An empty variable is one that is not set: manifests cannot leave one out.
    if (!name.startsWith(VARIABLE_PREFIX) || name === FILE_VARIABLE || value === undefined || value === '')
      continue;
    if (isServiceLink(name, value) || SCRIPT_VARIABLES.has(name)) continue;
    const row = byVariable.get(name);
    const origin = `environment ${name}`;
    if (row !== undefined) found.set(row.path, { value: fromText(row.kind, value), origin });
    else problems.push(invalid(`${origin}: unknown variable${suggest(name, [...byVariable.keys()])}`));
  }
}

function readFlags(flags: readonly FlagValue[], rows: readonly KeyRow[], found: Map<string, Found>): void {
  const byPath = new Map(rows.map((row) => [row.path, row]));
  const seen = new Set<string>();
  for (const { path, value, origin } of flags) {
    const row = byPath.get(path);
    if (row === undefined) throw new TypeError(`no configuration key ${path}`);
    const parsed = fromText(row.kind, value);
    const before = seen.has(path) ? found.get(path)?.value : undefined;
    const whole: unknown = Array.isArray(parsed) && Array.isArray(before) ? [...before, ...parsed] : parsed;
    found.set(path, { value: whole, origin: `flag ${origin}` });
    seen.add(path);
  }
}

/** A value that does not read as its kind stays text, and is then refused by the schema. */
function fromText(kind: KeyKind, text: string): unknown {
  switch (kind) {
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'number':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    case 'list':
      return text === '' ? [] : text.split(',').map((item) => item.trim());
    default:
      return text;
  }
}

function parse(
  node: object,
  path: readonly string[],
  found: ReadonlyMap<string, Found>,
  problems: ConfigProblem[],
): unknown {
  const entries = (Object.entries(node) as [string, object][]).map(([name, child]) => {
    const here = [...path, name];
    if (!isKey(child)) return [name, parse(child, here, found, problems)];
    const given = found.get(here.join('.'));
    if (given === undefined) return [name, child.fallback];
    const result = child.schema.safeParse(given.value);
    if (result.success) return [name, result.data];
    const shown = foundIn(given.value, child.kind, result.error.issues);
    problems.push(invalid(`${given.origin}: need ${child.need}${shown}`));
    return [name, child.fallback];
  });
  return Object.fromEntries(entries);
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

type Refuse = (path: string, message: string) => void;

/** What each key allows alone and no pair of them does. */
function contradictions(settings: Settings, origin: (path: string) => string): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const refuse: Refuse = (path, message) => {
    problems.push(invalid(`${origin(path)}: ${message}`));
  };
  const { roles, identity } = settings;
  if (roles.length === 0) refuse('roles', 'need at least one role');
  else if (roles.includes('installer') && roles.length > 1)
    refuse('roles', 'installer stands alone: need a process of its own, under an account of its own');
  checkInstaller(settings, refuse);
  checkCluster(settings, refuse);
  checkListeners(settings, refuse);
  checkTls(settings, refuse);
  if (identity.enabled && identity.agents.length === 0)
    refuse('identity.agents', 'need at least one agent, or identity.enabled false');
  return problems;
}

function checkInstaller({ roles, installer }: Settings, refuse: Refuse): void {
  const { service, url } = installer;
  if (service !== undefined && url !== undefined)
    refuse('installer.url', 'contradicts installer.service: need one of them');
  if (roles.includes('installer') && service === undefined && url === undefined)
    refuse('installer.service', 'need it, or installer.url: entries must say where the webhook servers are');
}

function checkCluster({ cluster }: Settings, refuse: Refuse): void {
  if (cluster.source === 'directory' && cluster.directory === undefined)
    refuse('cluster.source', 'directory needs cluster.directory');
  if (cluster.directory !== undefined && cluster.source !== 'auto' && cluster.source !== 'directory')
    refuse('cluster.directory', `contradicts cluster.source ${cluster.source}`);
  if (cluster.directory === undefined && cluster.directoryVersion !== undefined)
    refuse('cluster.directoryVersion', 'has no effect without cluster.directory');
  if (cluster.directory !== undefined && cluster.kubeconfig !== undefined)
    refuse('cluster.kubeconfig', 'contradicts cluster.directory: need one of them');
}

function checkListeners({ roles, webhooks, metrics, health, api }: Settings, refuse: Refuse): void {
  if (webhooks.auth === 'clientCA' && webhooks.clientCAFile === undefined)
    refuse('webhooks.auth', 'clientCA needs webhooks.clientCAFile');
  if (webhooks.auth !== 'clientCA' && webhooks.clientCAFile !== undefined)
    refuse('webhooks.clientCAFile', `has no effect with webhooks.auth ${webhooks.auth}: need clientCA`);
  if (webhooks.auth === 'bearer' && webhooks.bearer.usernames.length === 0)
    refuse('webhooks.auth', 'bearer needs webhooks.bearer.usernames');

  const taken = new Map<number, string>();
  for (const [path, port, open] of [
    ['webhooks.port', webhooks.port, roles.includes('webhooks')],
    ['metrics.port', metrics.port, metrics.enabled],
    ['health.port', health.port, true],
    ['api.port', api.port, roles.includes('reconciler')],
  ] as const) {
    if (!open || port === 0) continue;
    const other = taken.get(port);
    if (other !== undefined) refuse(path, `port ${String(port)} is that of ${other}: need another`);
    taken.set(port, path);
  }
}

function checkTls({ tls }: Settings, refuse: Refuse): void {
  if (tls.certFile !== undefined && tls.keyFile === undefined) refuse('tls.certFile', 'needs tls.keyFile');
  if (tls.keyFile !== undefined && tls.certFile === undefined) refuse('tls.keyFile', 'needs tls.certFile');
  if (tls.caOutFile !== undefined && tls.certFile !== undefined)
    refuse('tls.caOutFile', 'is for the self-issued certificate, and tls.certFile is set');
}

function resolve(settings: Settings, env: Readonly<Record<string, string | undefined>>): Config {
  const apiHost = nonEmpty(env['KUBERNETES_SERVICE_HOST']);
  const home = nonEmpty(env['HOME']);
  const kubeconfig = nonEmpty(env['KUBECONFIG']);
  const { cluster } = settings;
  const source = resolveSource(cluster, kubeconfig !== undefined, apiHost !== undefined);
  const homeFile = home === undefined ? [] : [`${home}/.kube/config`];
  const kubeconfigFiles =
    cluster.kubeconfig !== undefined
      ? [cluster.kubeconfig]
      : (kubeconfig?.split(delimiter).filter((name) => name !== '') ?? homeFile);
  // In a Pod every address of the family that the cluster speaks; elsewhere nobody asked to be reached from outside.
  const anyAddress = apiHost === undefined ? '127.0.0.1' : apiHost.includes(':') ? '::' : '0.0.0.0';
  const host = settings.webhooks.host ?? anyAddress;
  return {
    ...settings,
    cluster: { ...cluster, source, kubeconfigFiles },
    webhooks: { ...settings.webhooks, host },
    metrics: resolveMetrics(settings.metrics, source, host),
    health: { ...settings.health, host: settings.health.host ?? host },
    api: { ...settings.api, host: settings.api.host ?? host },
    registry: { ...settings.registry, environment: registryEnvironment(env) },
    environment: {
      apiServer:
        apiHost === undefined
          ? undefined
          : { host: apiHost, port: nonEmpty(env['KUBERNETES_SERVICE_PORT']) ?? '443' },
      podNamespace: nonEmpty(env['POD_NAMESPACE']),
      home,
      unusedUpstream: UNUSED_UPSTREAM_VARIABLES.filter((name) => nonEmpty(env[name]) !== undefined),
    },
  };
}

/** HTTPS without a cluster that vouches for callers could let in nobody at all. */
function resolveMetrics(
  metrics: Settings['metrics'],
  source: Config['cluster']['source'],
  webhooksHost: string,
): Config['metrics'] {
  const host = metrics.host ?? webhooksHost;
  const canVouch = source !== 'directory' && source !== 'none';
  const plain = metrics.plain ?? (!canVouch && LOOPBACK.test(host));
  return { ...metrics, host, plain, isPlainByDefault: plain && metrics.plain === undefined };
}

function resolveSource(
  cluster: Settings['cluster'],
  kubeconfigVariable: boolean,
  inPod: boolean,
): Config['cluster']['source'] {
  if (cluster.source !== 'auto') return cluster.source;
  if (cluster.directory !== undefined) return 'directory';
  if (cluster.kubeconfig !== undefined || cluster.context !== undefined || kubeconfigVariable)
    return 'kubeconfig';
  return inPod ? 'in-cluster' : 'none';
}
