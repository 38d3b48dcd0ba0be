import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { configurationPage } from '../scripts/config-docs.ts';
import { configKeys, titleOfSection } from '../src/config-keys.ts';
import { loadConfig, type Config, type FlagValue } from '../src/config.ts';
import { suggest } from '../src/config-suggest.ts';

interface Given {
  readonly flags?: Readonly<Record<string, string | readonly string[]>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: string;
  readonly fileName?: string;
}

function load({ flags = {}, env = {}, file, fileName = 'gate.yaml' }: Given): ReturnType<typeof loadConfig> {
  const values: FlagValue[] = Object.entries(flags).flatMap(([path, value]) =>
    [value].flat().map((text) => ({ path, value: text, origin: flagOf(path) })),
  );
  return loadConfig({
    flags: values,
    env,
    ...(file === undefined ? {} : { file: fileName }),
    readFile: (name) =>
      file !== undefined && name === fileName
        ? Promise.resolve(file)
        : Promise.reject(new Error(`ENOENT: no such file, open '${name}'`)),
  });
}

const flagOf = (path: string): string => configKeys().find((row) => row.path === path)?.flag ?? path;

async function config(given: Given): Promise<Config> {
  const loaded = await load(given);
  if (!loaded.ok) throw new Error(loaded.problems.map((problem) => problem.message).join('\n'));
  return loaded.config;
}

async function problems(given: Given): Promise<readonly string[]> {
  const loaded = await load(given);
  return loaded.ok ? [] : loaded.problems.map((problem) => problem.message);
}

describe('configuration keys', () => {
  it('derives flag and variable from the path', () => {
    const row = configKeys().find(({ path }) => path === 'webhooks.clientCAFile');
    expect(row).toMatchObject({
      flag: '--webhooks-client-ca-file',
      variable: 'PACTO_GATE_WEBHOOKS_CLIENT_CA_FILE',
    });
  });

  it('gives every key a flag and a variable of its own', () => {
    const rows = configKeys();
    expect(new Set(rows.map((row) => row.flag)).size).toBe(rows.length);
    expect(new Set(rows.map((row) => row.variable)).size).toBe(rows.length);
  });

  it('has a default that its own schema accepts, for every key', async () => {
    const given: Record<string, string> = {};
    for (const row of configKeys()) {
      if (row.fallback !== undefined) given[row.path] = String(row.fallback);
    }
    expect(await problems({ flags: given })).toEqual([]);
  });

  it('is documented as it is', async () => {
    const found = await readFile('docs/configuration.md', 'utf8');
    expect(found, 'run npm run config-docs').toBe(await configurationPage());
  });

  it('has a title for each section', () => {
    for (const { section } of configKeys()) if (section !== '') titleOfSection(section);
    expect(() => titleOfSection('nonsense')).toThrow('add it to SECTION_TITLES');
  });
});

describe('precedence', () => {
  const file = 'webhooks:\n  port: 1001\n';
  const env = { PACTO_GATE_WEBHOOKS_PORT: '1002' };
  const flags = { 'webhooks.port': '1003' };

  it.each([
    ['the default', {}, 9443],
    ['the file over the default', { file }, 1001],
    ['the environment over the file', { file, env }, 1002],
    ['a flag over the environment', { file, env, flags }, 1003],
  ])('takes %s', async (_name, given, port) => {
    expect((await config(given)).webhooks.port).toBe(port);
  });

  it('reads the file that PACTO_GATE_CONFIG names', async () => {
    const loaded = await loadConfig({
      flags: [],
      env: { PACTO_GATE_CONFIG: 'other.json' },
      readFile: (name) => Promise.resolve(name === 'other.json' ? '{"log": {"level": "warn"}}' : ''),
    });
    expect(loaded).toMatchObject({ ok: true, config: { log: { level: 'warn' } } });
  });

  it('replaces a list as a whole, and adds up a repeated flag', async () => {
    const lists = 'tls:\n  dnsNames: [a.example]\n';
    expect((await config({ file: lists })).tls.dnsNames).toEqual(['a.example']);
    const repeated = { 'tls.dnsNames': ['b.example, c.example', 'd.example'] };
    expect((await config({ file: lists, flags: repeated })).tls.dnsNames).toEqual([
      'b.example',
      'c.example',
      'd.example',
    ]);
    expect((await config({ flags: { 'identity.namespaces': '' } })).identity.namespaces).toEqual([]);
  });

  it('takes an empty file and a key without a value as not set', async () => {
    expect((await config({ file: '' })).webhooks.port).toBe(9443);
    expect(
      (await config({ file: '# nothing\ncluster:\n  directory:\ntls:\n' })).cluster.directory,
    ).toBeUndefined();
  });

  it('takes an empty variable as not set', async () => {
    const none = { PACTO_GATE_TLS_CERT_FILE: '', PACTO_GATE_WEBHOOKS_PORT: '' };
    expect(await problems({ env: none })).toEqual([]);
  });
});

describe('variables that Kubernetes makes for Services', () => {
  it.each([
    ['PACTO_GATE_SERVICE_HOST', '10.96.0.7'],
    ['PACTO_GATE_SERVICE_PORT', '443'],
    ['PACTO_GATE_SERVICE_PORT_HTTPS', '443'],
    ['PACTO_GATE_PORT', 'tcp://10.96.0.7:443'],
    ['PACTO_GATE_PORT_443_TCP', 'tcp://10.96.0.7:443'],
    ['PACTO_GATE_PORT_443_TCP_ADDR', '10.96.0.7'],
    ['PACTO_GATE_WEBHOOKS_PORT', 'tcp://10.96.0.7:443'],
    ['PACTO_GATE_METRICS_PORT', 'tcp://[fd00::7]:8443'],
  ])('ignores %s=%s', async (name, value) => {
    const loaded = await config({ env: { [name]: value } });
    expect([loaded.webhooks.port, loaded.metrics.port]).toEqual([9443, 8443]);
  });

  it('still refuses a mistyped variable that ends alike', async () => {
    expect(await problems({ env: { PACTO_GATE_WEBHOOK_PORT: '9000' } })).toEqual([
      'environment PACTO_GATE_WEBHOOK_PORT: unknown variable (did you mean "PACTO_GATE_WEBHOOKS_PORT"?)',
    ]);
  });
});

describe('problems', () => {
  it('reports all of them at once, each with the place it came from', async () => {
    const found = await problems({
      flags: { 'webhooks.port': '99999' },
      env: { PACTO_GATE_LOG_LEVEL: 'loud', PACTO_GATE_STATE: 'live' },
      file: 'webhooks:\n  prot: 1\n  auth: maybe\nmetrics: yes\nidentity:\n  enabled: "yes"\n  agents: [agent]\n',
    });
    expect(found.toSorted()).toEqual([
      'environment PACTO_GATE_LOG_LEVEL: need trace, debug, info, warn, error, fatal or silent, found "loud"',
      'file gate.yaml: identity.agents: need a list of namespace/serviceAccount, found "agent"',
      'file gate.yaml: identity.enabled: need true or false, found "yes"',
      'file gate.yaml: metrics: need a mapping of keys',
      'file gate.yaml: webhooks.auth: need none, clientCA or bearer, found "maybe"',
      'file gate.yaml: webhooks.prot: unknown key (did you mean "webhooks.port"?)',
      'flag --webhooks-port: need a whole number from 0 to 65535, found 99999',
    ]);
  });

  it.each([
    ['a number with a fraction', { flags: { 'webhooks.port': '80.5' } }],
    ['a number in words', { flags: { 'webhooks.port': '1e3' } }],
    [
      'less room than small bodies and one of the largest need',
      { file: 'webhooks: {maxBytesInFlight: 16777215}' },
    ],
    ['a number beyond its range', { file: 'webhooks: {maxConcurrent: 0}' }],
    ['a number as text in the file', { file: 'webhooks: {port: "9443"}' }],
    ['a boolean as 1', { env: { PACTO_GATE_METRICS_ENABLED: '1' } }],
    ['text where a list belongs', { file: 'identity: {agents: a/b}' }],
    ['an empty list item', { flags: { 'tls.dnsNames': 'a,,b' } }],
    ['a wrong IP address', { flags: { 'tls.ipAddresses': '10.0.0.300' } }],
    ['a wrong namespace', { flags: { 'identity.namespaces': 'Not_A_Label' } }],
    ['an agent without a namespace', { flags: { 'identity.agents': 'agent' } }],
    ['an agent with two slashes', { flags: { 'identity.agents': 'a/b/c' } }],
  ])('refuses %s', async (_name, given) => {
    expect(await problems(given)).toHaveLength(1);
  });

  it.each([
    ['missing', undefined, /^file gate\.yaml: cannot be read: ENOENT/],
    ['broken', 'webhooks: {port: ]', /^file gate\.yaml: is no YAML: .* at line 1, column \d+$/],
    ['a list', '- 1\n', /^file gate\.yaml: need a mapping at the top$/],
    ['with a key twice', 'log: {}\nlog: {}\n', /^file gate\.yaml: is no YAML: .*unique/],
  ])('names a file that is %s', async (_name, text, message) => {
    const loaded = await loadConfig({
      flags: [],
      env: {},
      file: 'gate.yaml',
      readFile: () =>
        text === undefined ? Promise.reject(new Error('ENOENT: no such file')) : Promise.resolve(text),
    });
    expect(loaded).toMatchObject({ ok: false, problems: [{ code: 'GATE_CONFIG_FILE' }] });
    expect(loaded.ok ? '' : loaded.problems[0]?.message).toMatch(message);
  });

  it('never repeats free text, which may be a misplaced secret', async () => {
    const secret = 'eyJhbGciOiJSUzI1NiJ9.secret';
    const found = await problems({
      flags: { 'identity.agents': secret, 'tls.ipAddresses': secret },
      env: { PACTO_GATE_IDENTITY_NAMESPACES: secret },
      file: `webhooks: {clientCAFile: [${secret}], port: {a: ${secret}}}`,
    });
    expect(found).toHaveLength(5);
    expect(found.join('\n')).not.toContain('secret');
  });

  it('shows the wrong item of a list', async () => {
    expect(await problems({ flags: { 'tls.ipAddresses': '10.0.0.1,10.0.0.300' } })).toEqual([
      'flag --tls-ip-addresses: need a list of IP addresses, found "10.0.0.300"',
    ]);
  });

  it.each([
    ['webhooks.clientCafile', ' (did you mean "webhooks.clientCAFile"?)'],
    ['webhooks.prot', ' (did you mean "webhooks.port"?)'],
    ['x', ''],
  ])('suggests for %s what is near, and nothing else', async (key, hint) => {
    const [section = '', name = ''] = key.split('.');
    const file = name === '' ? `${section}: 1` : `${section}: {${name}: 1}`;
    const [found = ''] = await problems({ file });
    expect(found.slice(found.indexOf(key) + key.length)).toMatch(/^: (unknown key|need )/);
    expect(found.endsWith('"?)') ? found.slice(found.lastIndexOf(' (did')) : '').toBe(hint);
  });

  it('says where JSON is broken and not what it says', async () => {
    const found = await problems({ file: '{"a": "geheim",\n "b" geheim}', fileName: 'gate.json' });
    expect(found).toEqual(['file gate.json: is no JSON: look at line 2, column 6']);
  });

  it('treats __proto__ and constructor as unknown keys', async () => {
    expect(
      await problems({ file: '{"__proto__": {"a": 1}, "constructor": 1}', fileName: 'gate.json' }),
    ).toEqual(['file gate.json: __proto__: unknown key', 'file gate.json: constructor: unknown key']);
  });
});

describe('values that contradict each other', () => {
  it.each<[string, Given, string]>([
    [
      'the port of the API twice',
      { flags: { 'api.port': '8081' } },
      'flag --api-port: port 8081 is that of health.port',
    ],
    ['no role', { flags: { roles: '' } }, 'flag --roles: need at least one role'],
    [
      'a directory source without directory',
      { flags: { 'cluster.source': 'directory' } },
      'needs cluster.directory',
    ],
    [
      'a directory with another source',
      { flags: { 'cluster.source': 'none', 'cluster.directory': 'd' } },
      'flag --cluster-directory: contradicts cluster.source none',
    ],
    [
      'a directory and a kubeconfig',
      { flags: { 'cluster.kubeconfig': 'k', 'cluster.directory': 'd' } },
      'contradicts cluster.directory',
    ],
    [
      'clientCA without its file',
      { flags: { 'webhooks.auth': 'clientCA' } },
      'clientCA needs webhooks.clientCAFile',
    ],
    [
      'a client CA that nothing asks for',
      { file: 'webhooks: {clientCAFile: ca.crt}' },
      'file gate.yaml: webhooks.clientCAFile: has no effect with webhooks.auth none',
    ],
    [
      'bearer without users',
      { flags: { 'webhooks.auth': 'bearer' } },
      'bearer needs webhooks.bearer.usernames',
    ],
    [
      'a certificate without key',
      { flags: { 'tls.certFile': 'c' } },
      'flag --tls-cert-file: needs tls.keyFile',
    ],
    [
      'a key without certificate',
      { flags: { 'tls.keyFile': 'k' } },
      'flag --tls-key-file: needs tls.certFile',
    ],
    [
      'a CA to write with a certificate from files',
      { flags: { 'tls.certFile': 'c', 'tls.keyFile': 'k', 'tls.caOutFile': 'o' } },
      'tls.certFile is set',
    ],
    ['one port twice', { flags: { 'health.port': '9443' } }, 'port 9443 is that of webhooks.port'],
    [
      'plain metrics for everybody',
      { flags: { 'metrics.plain': 'true', 'metrics.host': '0.0.0.0' } },
      'flag --metrics-plain: needs a loopback address, and metrics.host is 0.0.0.0',
    ],
    [
      'plain metrics for everybody in a Pod',
      { flags: { 'metrics.plain': 'true' }, env: { KUBERNETES_SERVICE_HOST: '10.96.0.1' } },
      'needs a loopback address',
    ],
    [
      'a version of a directory that is not there',
      { flags: { 'cluster.directoryVersion': '1.29' } },
      'flag --cluster-directory-version: has no effect without cluster.directory',
    ],
    [
      'a version that YAML reads as a number',
      { file: 'cluster: {directory: d, directoryVersion: 1.30}' },
      'directoryVersion: need a version like "1.29", in a file within quotes',
    ],
    ['identity without agents', { flags: { 'identity.agents': '' } }, 'need at least one agent'],
  ])('refuses %s', async (_name, given, message) => {
    expect((await problems(given)).join('\n')).toContain(message);
  });

  it.each<[string, Given]>([
    ['port 0 twice', { flags: { 'health.port': '0', 'metrics.port': '0', 'webhooks.port': '0' } }],
    ['the port of metrics that are off', { flags: { 'health.port': '8443', 'metrics.enabled': 'false' } }],
    ['plain metrics on loopback', { flags: { 'metrics.plain': 'true', 'metrics.host': '::1' } }],
    ['no agents without identity', { flags: { 'identity.agents': '', 'identity.enabled': 'false' } }],
  ])('accepts %s', async (_name, given) => {
    expect(await problems(given)).toEqual([]);
  });
});

describe('what is worked out', () => {
  const inPod = {
    KUBERNETES_SERVICE_HOST: '10.96.0.1',
    KUBERNETES_SERVICE_PORT: '6443',
    POD_NAMESPACE: 'gate',
  };

  it.each<[string, Given, string]>([
    ['none, where nothing is there', {}, 'none'],
    ['in-cluster in a Pod', { env: inPod }, 'in-cluster'],
    [
      'the directory first',
      { env: { ...inPod, KUBECONFIG: 'k' }, flags: { 'cluster.directory': 'd' } },
      'directory',
    ],
    ['KUBECONFIG before the Pod', { env: { ...inPod, KUBECONFIG: 'k' } }, 'kubeconfig'],
    ['kubeconfig for a context', { flags: { 'cluster.context': 'c' } }, 'kubeconfig'],
    ['what is said', { env: inPod, flags: { 'cluster.source': 'none' } }, 'none'],
  ])('takes as the source of the cluster %s', async (_name, given, source) => {
    expect((await config(given)).cluster.source).toBe(source);
  });

  it('takes kubeconfig files from the key, then KUBECONFIG, then HOME', async () => {
    const env = { HOME: '/home/x', KUBECONFIG: '/a:/b:' };
    const files = async (given: Given): Promise<readonly string[]> =>
      (await config(given)).cluster.kubeconfigFiles;
    expect(await files({ env, flags: { 'cluster.kubeconfig': '/c' } })).toEqual(['/c']);
    expect(await files({ env })).toEqual(['/a', '/b']);
    expect(await files({ env: { HOME: '/home/x' } })).toEqual(['/home/x/.kube/config']);
    expect(await files({})).toEqual([]);
  });

  it.each<[string, Given, boolean]>([
    ['without a cluster', {}, true],
    ['over a directory', { flags: { 'cluster.directory': 'd' } }, true],
    ['where somebody asks for it', { flags: { 'cluster.kubeconfig': 'k', 'metrics.plain': 'true' } }, true],
    ['not where a cluster vouches for callers', { flags: { 'cluster.kubeconfig': 'k' } }, false],
    ['not in a Pod', { env: inPod }, false],
    ['not where others can reach it', { flags: { 'metrics.host': '0.0.0.0' } }, false],
    ['not where somebody asks for HTTPS', { flags: { 'metrics.plain': 'false' } }, false],
  ])('serves plain metrics %s', async (_name, given, plain) => {
    expect((await config(given)).metrics.plain).toBe(plain);
  });

  it('listens on loopback, and in a Pod on all addresses of its family', async () => {
    const hosts = ({ webhooks, metrics, health }: Config): string[] => [
      webhooks.host,
      metrics.host,
      health.host,
    ];
    expect(hosts(await config({}))).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
    expect(hosts(await config({ env: inPod }))).toEqual(['0.0.0.0', '0.0.0.0', '0.0.0.0']);
    const six = { KUBERNETES_SERVICE_HOST: 'fd00::1' };
    expect(hosts(await config({ env: six }))).toEqual(['::', '::', '::']);
    const flags = { 'webhooks.host': '10.0.0.9', 'metrics.host': '::1' };
    expect(hosts(await config({ env: inPod, flags }))).toEqual(['10.0.0.9', '::1', '10.0.0.9']);
  });

  it('hands on what the environment says', async () => {
    const upstream = { PACTO_REGISTRY_TOKEN: 'poison', OPERATOR_DEPLOYMENT_NAME: 'operator' };
    const { environment } = await config({ env: { ...inPod, ...upstream, HOME: '/home/x' } });
    expect(environment).toEqual({
      apiServer: { host: '10.96.0.1', port: '6443' },
      podNamespace: 'gate',
      home: '/home/x',
      unusedUpstream: ['OPERATOR_DEPLOYMENT_NAME'],
    });
  });
});

describe('suggest', () => {
  it.each([
    ['webhooks.prot', ' (did you mean "webhooks.port"?)'],
    ['WEBHOOKS.PORT', ' (did you mean "webhooks.port"?)'],
    ['completely.different.thing', ''],
    ['x'.repeat(100_000), ''],
  ])('answers %s', (wrong, answer) => {
    expect(
      suggest(
        wrong,
        configKeys().map((row) => row.path),
      ),
    ).toBe(answer);
  });
});
