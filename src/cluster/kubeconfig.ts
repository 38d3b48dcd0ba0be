/**
 * From a mounted service account or kubeconfig files to a Connection. The files are read here, since client-node's own
 * reader costs 0.7 s and 85 MB to load (platform.md §0) and drops `tokenFile` and the impersonated groups; it is loaded
 * only for users with an exec plugin or auth provider (credentials.ts).
 */
import { dirname, isAbsolute, join } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { readAtMost } from '../bounded-file.ts';
import type { Clock } from '../clock.ts';
import { GateError, messageOf, quote } from '../errors.ts';
import type { Connection, Impersonation } from './connection.ts';
import { type FileOrText, fileCredentials, pluginCredentials } from './credentials.ts';

export type ConnectionOptions =
  | {
      readonly source: 'in-cluster';
      /** KUBERNETES_SERVICE_HOST and _PORT. */
      readonly host: string;
      readonly port: string;
      /** Where the service account is mounted. */
      readonly directory?: string;
      readonly clock: Clock;
    }
  | {
      readonly source: 'kubeconfig';
      /** In order of precedence: for each name the first file that has it counts, as in kubectl. */
      readonly paths: readonly string[];
      /** Left out: the files' current-context. */
      readonly context?: string;
      readonly clock: Clock;
    };

/** Fixed by the kubelet (k8s.io/kubernetes, plugin/pkg/admission/serviceaccount). */
const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Kubeconfigs of a hundred clusters with inline certificates stay below. */
const FILE_BYTES = 4 * 1024 * 1024;

const text = z.string().min(1);
const optional = text.nullish().transform((value) => value ?? undefined);
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value === true);

const CLUSTER = z.looseObject({
  server: text,
  'certificate-authority': optional,
  'certificate-authority-data': optional,
  'tls-server-name': optional,
  'insecure-skip-tls-verify': flag,
  'proxy-url': optional,
});

const USER = z.looseObject({
  'client-certificate': optional,
  'client-certificate-data': optional,
  'client-key': optional,
  'client-key-data': optional,
  token: optional,
  tokenFile: optional,
  username: optional,
  password: optional,
  as: optional,
  'as-uid': optional,
  'as-groups': z.array(z.string()).nullish(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
  exec: z
    .looseObject({
      command: text,
      args: z.array(z.string()).nullish(),
      env: z.array(z.looseObject({ name: text, value: z.string() })).nullish(),
      apiVersion: optional,
      provideClusterInfo: flag,
      interactiveMode: optional,
    })
    .nullish(),
  'auth-provider': z.looseObject({ name: text }).nullish(),
});

const CONTEXT = z.looseObject({ cluster: text, user: optional, namespace: optional });

const FILE = z.looseObject({
  'current-context': z.string().nullish(),
  clusters: z.array(z.looseObject({ name: text, cluster: z.unknown() })).nullish(),
  users: z.array(z.looseObject({ name: text, user: z.unknown() })).nullish(),
  contexts: z.array(z.looseObject({ name: text, context: z.unknown() })).nullish(),
});

type KubeconfigCluster = z.infer<typeof CLUSTER>;
export type KubeconfigUser = z.infer<typeof USER>;

interface ReadFile {
  readonly path: string;
  readonly content: z.infer<typeof FILE>;
}

/** @throws GateError GATE_KUBECONFIG with the file, what is wrong in it, and what is needed. */
export function loadConnection(options: ConnectionOptions): Promise<Connection> {
  return options.source === 'in-cluster' ? loadInCluster(options) : loadKubeconfig(options);
}

async function loadInCluster(options: ConnectionOptions & { source: 'in-cluster' }): Promise<Connection> {
  const directory = options.directory ?? SERVICE_ACCOUNT_DIRECTORY;
  if (options.host === '' || !/^\d{1,5}$/.test(options.port))
    throw refuse(
      'in-cluster',
      `KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT do not name an API server (found ${quote(options.host)} and ${quote(options.port)}); use a kubeconfig outside of a Pod`,
    );
  const credentials = fileCredentials(
    { token: { file: join(directory, 'token') }, ca: { file: join(directory, 'ca.crt') } },
    options.clock,
  );
  // Read now, so that a Pod without the mount says so at its start.
  await credentials.current();
  const namespace = await readAtMost(join(directory, 'namespace'), FILE_BYTES).then(String, () => '');
  return {
    // An IPv6 address stands in brackets in a URL.
    server: `https://${options.host.includes(':') ? `[${options.host}]` : options.host}:${options.port}`,
    origin: 'in-cluster',
    credentials,
    ...(namespace.trim() !== '' && { namespace: namespace.trim() }),
    warnings: [],
  };
}

async function loadKubeconfig(options: ConnectionOptions & { source: 'kubeconfig' }): Promise<Connection> {
  const files = await readFiles(options.paths);
  const all = options.paths.join(', ');
  const contextName =
    options.context ?? files.map((f) => f.content['current-context']).find((name) => !!name);
  if (contextName === undefined || contextName === null)
    throw refuse(all, 'current-context is missing; set it, or name a context');
  const context = section(files, all, 'context', contextName, CONTEXT).value;
  const cluster = section(files, all, 'cluster', context.cluster, CLUSTER);
  const user = context.user === undefined ? undefined : section(files, all, 'user', context.user, USER);
  const origin = `${cluster.path} (context ${quote(contextName)})`;
  const connection = await describe(origin, cluster, user, options.clock);
  return { ...connection, ...(context.namespace !== undefined && { namespace: context.namespace }) };
}

async function readFiles(paths: readonly string[]): Promise<ReadFile[]> {
  if (paths.length === 0) throw refuse('kubeconfig', 'no file is named; set KUBECONFIG or --kubeconfig');
  const files: ReadFile[] = [];
  for (const path of paths) {
    const raw = await readAtMost(path, FILE_BYTES).catch((error: unknown) => {
      // Of several, those that are not there are left out, as in kubectl.
      if (paths.length > 1 && error instanceof Error && 'code' in error && error.code === 'ENOENT')
        return undefined;
      if (codeOf(error) === 'EFBIG')
        throw refuse(path, `is larger than ${FILE_BYTES} bytes; it is no kubeconfig`, error);
      throw refuse(path, `cannot be read (${codeOf(error)}); check the path and its permissions`, error);
    });
    if (raw !== undefined) files.push({ path, content: parseFile(path, raw.toString('utf8')) });
  }
  if (files.length === 0) throw refuse(paths.join(', '), 'none of these files exists; check KUBECONFIG');
  return files;
}

function parseFile(path: string, raw: string): z.infer<typeof FILE> {
  const document = parseDocument(raw, { prettyErrors: false });
  const [first] = document.errors;
  if (first !== undefined) {
    const line = raw.slice(0, first.pos[0]).split('\n').length;
    // The parser's own message may repeat a token.
    throw refuse(path, `line ${line} is not YAML (${first.code}); mend the file`);
  }
  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw refuse(path, 'refers to too many aliases; write them out', error);
  }
  return checked(path, '', FILE, content ?? {});
}

/** The first entry of that name in the files, checked. */
function section<T>(
  files: readonly ReadFile[],
  all: string,
  what: 'cluster' | 'user' | 'context',
  name: string,
  schema: z.ZodType<T>,
): { readonly path: string; readonly value: T } {
  for (const { path, content } of files) {
    const entries: readonly Record<string, unknown>[] = content[`${what}s`] ?? [];
    const found = entries.find((entry) => entry['name'] === name);
    if (found !== undefined)
      return { path, value: checked(path, `${what} ${quote(name)}: `, schema, found[what] ?? {}) };
  }
  const names = files.flatMap(({ content }) => (content[`${what}s`] ?? []).map((entry) => quote(entry.name)));
  throw refuse(
    all,
    `${what} ${quote(name)} is missing (found ${names.slice(0, 10).join(', ') || 'none'}); add it or name another context`,
  );
}

function checked<T>(path: string, where: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = (issue?.path ?? []).map(String).join('.');
  // zod's messages name types, never values.
  throw refuse(
    path,
    `${where}${field === '' ? 'it' : field} is not as it should be (${issue?.message ?? 'unknown'}); mend the file`,
  );
}

async function describe(
  origin: string,
  cluster: { readonly path: string; readonly value: KubeconfigCluster },
  user: { readonly path: string; readonly value: KubeconfigUser } | undefined,
  clock: Clock,
): Promise<Omit<Connection, 'namespace'>> {
  const { value } = cluster;
  const { protocol } = serverUrl(cluster.path, value.server);
  const proxyUrl = value['proxy-url'];
  if (proxyUrl !== undefined && !/^https?:\/\//.test(proxyUrl))
    throw refuse(cluster.path, 'proxy-url is neither http:// nor https://; only those proxies are supported');
  const ca = fileOrText(cluster.path, value['certificate-authority'], value['certificate-authority-data']);
  const { credentials, exec } = credentialsOf(cluster, user, ca, clock);
  // Now, so that a missing file is found at the start; a plugin may be slow and waits for the first call.
  if (!exec) await credentials.current();
  const insecure = value['insecure-skip-tls-verify'];
  const impersonate = user === undefined ? undefined : impersonationOf(user.path, user.value);
  return {
    server: value.server,
    origin,
    credentials,
    ...(value['tls-server-name'] !== undefined && { tlsServerName: value['tls-server-name'] }),
    ...(insecure && { insecureSkipTlsVerify: true }),
    ...(proxyUrl !== undefined && { proxyUrl }),
    ...(impersonate !== undefined && { impersonate }),
    warnings: [
      ...(insecure
        ? [`${origin}: insecure-skip-tls-verify is set, so anybody on the way can pose as the API server`]
        : []),
      ...(protocol === 'http:'
        ? [
            `${origin}: the API server is reached over plain HTTP, so anybody on the way can read and change what is said`,
          ]
        : []),
    ],
  };
}

function credentialsOf(
  cluster: { readonly path: string; readonly value: KubeconfigCluster },
  user: { readonly path: string; readonly value: KubeconfigUser } | undefined,
  ca: FileOrText | undefined,
  clock: Clock,
): { credentials: Connection['credentials']; exec: boolean } {
  if (user === undefined)
    return { credentials: fileCredentials({ ...(ca !== undefined && { ca }) }, clock), exec: false };
  const { path, value } = user;
  if (value.exec !== null && value.exec !== undefined) {
    if (value.exec.interactiveMode === 'Always')
      throw refuse(path, 'exec.interactiveMode is Always, but nobody is there to answer; use another user');
  }
  const certificate = fileOrText(path, value['client-certificate'], value['client-certificate-data']);
  const key = fileOrText(path, value['client-key'], value['client-key-data']);
  if ((certificate === undefined) !== (key === undefined))
    throw refuse(
      path,
      `client-${certificate === undefined ? 'certificate' : 'key'} is missing; a client certificate needs its key and the key its certificate`,
    );
  const files = fileCredentials(
    {
      ...(ca !== undefined && { ca }),
      ...(certificate !== undefined && { certificate }),
      ...(key !== undefined && { key }),
      // As in client-go: a file is fresher than a copy.
      ...(value.tokenFile !== undefined
        ? { token: { file: absolute(path, value.tokenFile) } }
        : value.token !== undefined && { token: { text: value.token } }),
      ...(value.username !== undefined && { basic: `${value.username}:${value.password ?? ''}` }),
    },
    clock,
  );
  const hasPlugin = (value.exec ?? value['auth-provider'] ?? undefined) !== undefined;
  if (!hasPlugin) return { credentials: files, exec: false };
  return {
    credentials: pluginCredentials(files, { path, user: value, cluster: cluster.value }, clock),
    exec: true,
  };
}

function impersonationOf(path: string, user: KubeconfigUser): Impersonation | undefined {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  if (as === undefined) {
    if (uid !== undefined || groups || extra)
      throw refuse(
        path,
        'as-uid, as-groups or as-user-extra is set without as; name the user to impersonate',
      );
    return undefined;
  }
  return {
    user: as,
    ...(uid !== undefined && { uid }),
    ...(groups && { groups }),
    ...(extra && { extra }),
  };
}

function serverUrl(path: string, server: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(server);
  } catch {
    url = undefined;
  }
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
    throw refuse(
      path,
      `server is not an address (found ${quote(server.replace(/\/\/[^/]*@/, '//…@'))}, need https://host:port)`,
    );
  return url;
}

function fileOrText(
  path: string,
  file: string | undefined,
  base64: string | undefined,
): FileOrText | undefined {
  // As in client-go: inline data wins.
  if (base64 !== undefined) return { text: Buffer.from(base64, 'base64').toString('utf8') };
  return file === undefined ? undefined : { file: absolute(path, file) };
}

/** Paths in a kubeconfig are relative to it. */
function absolute(kubeconfig: string, file: string): string {
  return isAbsolute(file) ? file : join(dirname(kubeconfig), file);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
}

function refuse(path: string, problem: string, cause?: unknown): GateError {
  return new GateError('GATE_KUBECONFIG', `${path}: ${problem}`, cause === undefined ? {} : { cause });
}
