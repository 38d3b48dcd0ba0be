import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { issueAuthority } from '../../src/http/issue.ts';
import { runCommand, type Ran } from './run-command.ts';

const generate = (...argv: string[]): Promise<Ran> => runCommand(['generate', 'webhooks', ...argv]);
const SERVICE = ['--service', 'pacto-system/pacto-gate'];

let directory: string;
let ca: Awaited<ReturnType<typeof issueAuthority>>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-generate-'));
  ca = await issueAuthority({ nowMs: Date.UTC(2026, 0, 1) });
  await writeFile(join(directory, 'ca.crt'), ca.certPem);
  await writeFile(join(directory, 'both.pem'), ca.certPem + ca.keyPem);
  await writeFile(join(directory, 'no.crt'), 'nothing');
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

interface Configuration {
  readonly kind: string;
  readonly webhooks: readonly {
    readonly name: string;
    readonly clientConfig: { readonly url?: string; readonly service?: object; readonly caBundle?: string };
    readonly failurePolicy: string;
    readonly timeoutSeconds: number;
    readonly matchConditions?: object;
  }[];
}

describe('generate webhooks', () => {
  it('gives the same bytes for the same input, in each form', async () => {
    const argv = [...SERVICE, '--ca-file', join(directory, 'ca.crt')];
    const text = await generate(...argv);
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(await generate(...argv)).toEqual(text);
    const yaml = await generate(...argv, '-o', 'yaml');
    expect(text.out).toBe(`${text.out.split('\n')[0] ?? ''}\n${yaml.out}`);
    expect(text.out).toMatch(/^# /);
    expect(parse(text.out)).toEqual(JSON.parse((await generate(...argv, '-o', 'json')).out));
  });

  it('puts Service, CA and timeout into every entry', async () => {
    const ran = await generate(
      '--service',
      'a/b:8443',
      '--ca-file',
      join(directory, 'ca.crt'),
      '--timeout-seconds',
      '7',
    );
    const { kind, webhooks } = parse(ran.out) as Configuration;
    expect(kind).toBe('ValidatingWebhookConfiguration');
    expect(webhooks.length).toBeGreaterThan(2);
    for (const { clientConfig, timeoutSeconds } of webhooks) {
      expect(clientConfig.service).toMatchObject({ namespace: 'a', name: 'b', port: 8443 });
      expect(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()).toBe(`${ca.certPem.trim()}\n`);
      expect(timeoutSeconds).toBe(7);
    }
  });

  it('takes the time of the configuration where no option gives one', async () => {
    const ran = await runCommand(['generate', 'webhooks', ...SERVICE], {
      env: { PACTO_GATE_INSTALLER_TIMEOUT_SECONDS: '3' },
    });
    const times = (parse(ran.out) as Configuration).webhooks.map(({ timeoutSeconds }) => timeoutSeconds);
    expect(new Set(times)).toEqual(new Set([3]));
  });

  it('writes URLs with the path of each webhook, and says that a CA is missing', async () => {
    const ran = await generate('--url', 'https://10.0.0.7:9443/');
    expect(ran.code).toBe(0);
    expect(ran.err).toContain('no --ca-file');
    const urls = (parse(ran.out) as Configuration).webhooks.map((one) => one.clientConfig.url);
    expect(urls).toContain('https://10.0.0.7:9443/validate/node-identity');
    expect(urls).toContain('https://10.0.0.7:9443/validate/node-identity/pods');
  });

  it('leaves out what an old API server cannot select, and says so', async () => {
    const ran = await generate(...SERVICE, '--kube-version', 'v1.27.3-gke.100');
    expect(ran.err).toContain('match conditions');
    const { webhooks } = parse(ran.out) as Configuration;
    expect(webhooks.every((one) => one.matchConditions === undefined)).toBe(true);
    const newer = parse((await generate(...SERVICE, '--kube-version', '1.36')).out) as Configuration;
    expect(newer.webhooks.every((one) => one.matchConditions !== undefined)).toBe(true);
    expect(newer.webhooks.length).toBeGreaterThan(webhooks.length);
  });

  it('follows the configuration', async () => {
    const argv = [
      '--identity-failure-policy',
      'Ignore',
      '--identity-pods-enabled=false',
      '--identity-tokens-enabled',
      'false',
    ];
    const { webhooks } = parse((await generate(...SERVICE, ...argv)).out) as Configuration;
    expect(new Set(webhooks.map((one) => one.failurePolicy))).toEqual(new Set(['Ignore']));
    expect(webhooks.some((one) => /tokens|pods/.test(one.name))).toBe(false);
    const none = await generate(...SERVICE, '--identity-enabled=false');
    expect(none).toMatchObject({ code: 2, out: '' });
    expect(none.err).toContain('identity.enabled is false, which switches off all three rules');
  });

  it.each([
    ['nothing', [], 'need --service or --url'],
    ['both targets', [...SERVICE, '--url', 'https://x'], 'need one of them'],
    ['a Service without namespace', ['--service', 'gate'], 'need namespace/name'],
    ['a Service with a port beyond 65535', ['--service', 'a/b:70000'], 'need namespace/name'],
    ['a plain URL', ['--url', 'http://10.0.0.7'], 'need an https URL'],
    ['a URL with a user', ['--url', 'https://u:p@10.0.0.7'], 'need an https URL'],
    ['a URL with a query', ['--url', 'https://10.0.0.7?x=1'], 'need an https URL'],
    ['a timeout of 31 s', [...SERVICE, '--timeout-seconds', '31'], 'from 1 to 30'],
    ['a timeout of 0 s', [...SERVICE, '--timeout-seconds', '0'], 'from 1 to 30'],
    [
      'a version whose namespaces have no label of their name',
      [...SERVICE, '--kube-version', '1.21'],
      'need 1.22 or later',
    ],
    ['a version of the future', [...SERVICE, '--kube-version', '2.0'], 'need a version like 1.29'],
  ])('refuses %s with code 2', async (_name, argv, message) => {
    const ran = await generate(...argv);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
  });

  it.each([
    ['without a certificate', 'no.crt', 'holds no PEM certificate'],
    ['with a private key', 'both.pem', 'holds a private key'],
    ['that is not there', 'none.crt', 'cannot be read'],
  ])('refuses a CA file %s with code 2', async (_name, file, message) => {
    const ran = await generate(...SERVICE, '--ca-file', join(directory, file));
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
    expect(ran.err).not.toContain('BEGIN');
  });
});
