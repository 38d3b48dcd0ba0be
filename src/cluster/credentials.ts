/** What proves us to the API server: files that are rotated, and what a plugin hands out. */
import { dirname, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { readAtMost } from '../bounded-file.ts';
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import { networkCode } from './answers.ts';
import type { Credentials, CredentialSource } from './connection.ts';
import type { KubeconfigUser } from './kubeconfig.ts';

export type FileOrText = { readonly file: string } | { readonly text: string };

export interface CredentialFiles {
  readonly token?: FileOrText;
  /** `user:password`. */
  readonly basic?: string;
  readonly ca?: FileOrText;
  readonly certificate?: FileOrText;
  readonly key?: FileOrText;
}

/** As client-go: the kubelet renews a token when 80 % of its hour is over, so a minute is early enough. */
const REREAD_MS = 60_000;
/** A plugin may ask a browser or a slow identity provider, but must come to an end. */
const PLUGIN_MS = 60_000;
/** A plugin that failed is not started again for each call. */
const PLUGIN_PAUSE_MS = 5_000;

/** Reads files again after a minute, and after a 401; where that fails, what was read before is used on. */
export function fileCredentials(files: CredentialFiles, clock: Clock): CredentialSource {
  let known: Credentials | undefined;
  let readMs = 0;
  let reading: Promise<Credentials> | undefined;

  async function read(): Promise<Credentials> {
    try {
      known = await readAll(files);
    } catch (error) {
      // In the middle of a rotation, perhaps; the next minute tries again.
      if (known === undefined) throw error;
    }
    readMs = clock.monotonic();
    return known;
  }
  const readOnce = (): Promise<Credentials> =>
    (reading ??= read().finally(() => {
      reading = undefined;
    }));
  return {
    current: () =>
      known === undefined || clock.monotonic() - readMs >= REREAD_MS ? readOnce() : Promise.resolve(known),
    renew: readOnce,
  };
}

async function readAll(files: CredentialFiles): Promise<Credentials> {
  const [token, ca, certificate, key] = await Promise.all([
    contentOf(files.token),
    contentOf(files.ca),
    contentOf(files.certificate),
    contentOf(files.key),
  ]);
  const authorization =
    token !== undefined
      ? `Bearer ${token.trim()}`
      : files.basic !== undefined
        ? `Basic ${Buffer.from(files.basic).toString('base64')}`
        : undefined;
  return {
    ...(authorization !== undefined && { authorization }),
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { certificate }),
    ...(key !== undefined && { key }),
  };
}

/** Tokens, certificates and keys; a bundle of all the authorities of the Web has a quarter of it. */
const MAX_FILE_BYTES = 1024 * 1024;

async function contentOf(source: FileOrText | undefined): Promise<string | undefined> {
  if (source === undefined) return undefined;
  if ('text' in source) return source.text;
  let content: string;
  try {
    content = (await readAtMost(source.file, MAX_FILE_BYTES)).toString('utf8');
  } catch (cause) {
    throw new GateError(
      'GATE_KUBECONFIG',
      `${source.file}: cannot be read (${networkCode(cause)}); check that it is mounted and readable`,
      { cause },
    );
  }
  if (content.trim() === '')
    throw new GateError('GATE_KUBECONFIG', `${source.file}: is empty; check what writes it`);
  return content;
}

export interface PluginOptions {
  /** The kubeconfig. */
  readonly path: string;
  readonly user: KubeconfigUser;
  readonly cluster: {
    readonly server: string;
    readonly 'tls-server-name'?: string | undefined;
    readonly 'insecure-skip-tls-verify'?: boolean | undefined;
    readonly 'certificate-authority-data'?: string | undefined;
    readonly 'proxy-url'?: string | undefined;
  };
}

/**
 * Exec plugins and auth providers, by client-node, which is loaded when they are first asked. It keeps what they said
 * until that expires. It also keeps the plugin's process to itself: one that hangs is waited for no longer than
 * PLUGIN_MS, but cannot be ended from here and outlives the program.
 *
 * @param files what the user has beside the plugin: the CA, above all.
 */
export function pluginCredentials(
  files: CredentialSource,
  options: PluginOptions,
  clock: Clock,
): CredentialSource {
  let config: Promise<KubeConfig> | undefined;
  /** One at a time: a plugin that hangs must not be started again for each call. */
  let asking: Promise<Credentials> | undefined;
  let failure: { readonly error: unknown; readonly untilMs: number } | undefined;

  async function ask(): Promise<Credentials> {
    config ??= loadConfig(options);
    const target: PluginAnswer = {};
    await (await config).applyToHTTPSOptions(target);
    const authorization = target.headers?.['Authorization'];
    const given = await files.current();
    return {
      ...given,
      ...(authorization !== undefined && { authorization }),
      ...(target.cert && target.key && { certificate: String(target.cert), key: String(target.key) }),
    };
  }
  const askOnce = (): Promise<Credentials> => {
    if (failure !== undefined && clock.monotonic() < failure.untilMs)
      return Promise.reject(refusal(options, failure.error));
    failure = undefined;
    asking ??= ask()
      .catch((error: unknown) => {
        failure = { error, untilMs: clock.monotonic() + PLUGIN_PAUSE_MS };
        throw refusal(options, error);
      })
      .finally(() => {
        asking = undefined;
      });
    return withinTime(asking, options, clock);
  };
  return {
    current: askOnce,
    renew: () => {
      // A new one knows no tokens.
      if (asking === undefined) config = undefined;
      return askOnce();
    },
  };
}

/** The fields of https.RequestOptions that plugins set. */
interface PluginAnswer {
  headers?: Record<string, string>;
  cert?: string | Buffer;
  key?: string | Buffer;
}

async function loadConfig({ path, user, cluster }: PluginOptions): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  const exec = user.exec ?? undefined;
  config.loadFromClusterAndUser(
    // Only the user is wanted of it; with the real address it would refuse plain HTTP.
    { name: 'cluster', server: 'https://cluster.invalid', skipTLSVerify: false },
    {
      name: 'user',
      ...(user['auth-provider'] && { authProvider: user['auth-provider'] }),
      ...(exec !== undefined && {
        exec: {
          // A command with a slash is relative to the kubeconfig, as in kubectl.
          command: exec.command.includes('/') ? resolve(dirname(path), exec.command) : exec.command,
          args: exec.args ?? [],
          env: [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: execInfo(exec, cluster) }],
        },
      }),
    },
  );
  return config;
}

/** What kubectl tells a plugin (client.authentication.k8s.io); client-node leaves it out. */
function execInfo(
  exec: { readonly apiVersion?: string | undefined; readonly provideClusterInfo: boolean },
  cluster: PluginOptions['cluster'],
): string {
  return JSON.stringify({
    apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(exec.provideClusterInfo && {
        cluster: {
          server: cluster.server,
          'tls-server-name': cluster['tls-server-name'],
          'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
          'certificate-authority-data': cluster['certificate-authority-data'],
          'proxy-url': cluster['proxy-url'],
        },
      }),
    },
  });
}

function withinTime(
  answer: Promise<Credentials>,
  options: PluginOptions,
  clock: Clock,
): Promise<Credentials> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(PLUGIN_MS, () => {
      reject(
        refusal(options, Object.assign(new Error('slow'), { code: `no end after ${PLUGIN_MS / 1000} s` })),
      );
    });
    answer.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** Without a cause: what a plugin writes may hold a token, and a cause ends in logs. */
function refusal({ path, user }: PluginOptions, error: unknown): GateError {
  if (error instanceof GateError) return error;
  const found = error instanceof Error && 'code' in error ? String(error.code) : 'it failed';
  return new GateError(
    'GATE_KUBECONFIG',
    `${path}: the ${user.exec ? 'exec plugin' : 'auth provider'} gives no credentials (found ${found}); run it by hand to see why`,
  );
}
