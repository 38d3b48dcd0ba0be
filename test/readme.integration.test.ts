import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from './support/conditions.ts';
import { commandsOf, missingLines, type ReadmeCommand } from './support/readme.ts';

const README = readFileSync('README.md', 'utf8');
const COMMANDS = commandsOf(README, 'Try it');

function command(ending: string): ReadmeCommand {
  const found = COMMANDS.find(({ text }) => text.endsWith(ending));
  if (found === undefined) throw new Error(`the README has no command that ends with ${ending}`);
  return found;
}

/** Of a command without `npm ci`, which is for a fresh clone (npm run readme does that). */
function shell(text: string): ChildProcess & { readonly output: () => string } {
  const child = spawn('sh', ['-c', text], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  return Object.assign(child, { output: () => output });
}

let directory: string;
let env: NodeJS.ProcessEnv;
let server: ReturnType<typeof shell>;
let caFile: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'readme-'));
  caFile = join(directory, 'ca.crt');
  env = {
    ...process.env,
    PACTO_GATE_WEBHOOKS_PORT: '0',
    PACTO_GATE_HEALTH_PORT: '0',
    PACTO_GATE_METRICS_PORT: '0',
    PACTO_GATE_WEBHOOKS_DRAIN_SECONDS: '0',
    PACTO_GATE_TLS_CA_OUT_FILE: caFile,
  };
  server = shell(command('npm start').text.replace('npm ci && ', ''));
  await until('the server says where it serves', () => /^certificate /m.test(server.output()), 30_000);
});

afterAll(async () => {
  if (server.pid !== undefined && server.exitCode === null) {
    process.kill(-server.pid, 'SIGTERM');
    await once(server, 'close');
  }
  rmSync(directory, { recursive: true });
});

describe('README', () => {
  it('opens with the commands that serve, try and test', () => {
    const [start, attempt, proof] = COMMANDS;
    expect([start?.text, attempt?.text, proof?.text]).toEqual([
      'npm ci && npm start',
      'npm run try',
      'npm ci && npm test',
    ]);
    expect(README.indexOf('npm ci && npm start')).toBeLessThan(1_500);
  });

  it('shows what npm start prints', () => {
    const plain = server
      .output()
      .replaceAll(caFile, '.cache/pacto-gate/ca.crt')
      .replace(/(https:\/\/127.0.0.1:)\d+/, '$19443')
      .replace(/(http:\/\/127.0.0.1:)\d+(\/readyz)/, '$18081$2')
      .replace(/(http:\/\/127.0.0.1:)\d+(\/metrics)/, '$18443$2');
    expect(missingLines(command('npm start'), plain)).toEqual([]);
  });

  it('shows what npm run try prints: requests allowed and requests denied', async () => {
    const [, url = ''] = /serves +(https:\S+)/.exec(server.output()) ?? [];
    const attempt = shell(`npm run try -- --url ${url} --ca-file ${caFile}`);
    const [code] = (await once(attempt, 'close')) as [number];
    expect(missingLines(command('npm run try'), attempt.output())).toEqual([]);
    expect(code).toBe(0);
  });

  it('shows what review prints', async () => {
    const review = shell(command('--config examples/pacto-gate.yaml').text);
    const [code] = (await once(review, 'close')) as [number];
    expect(review.output()).toContain(
      'admission webhook "node-identity.gate.pacto.trianalab.io" denied the request',
    );
    expect(code).toBe(1);
  });

  it('links to pages that are there', () => {
    const links = [...README.matchAll(/\]\(([^)#]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !link.includes('://'));
    expect(links.length).toBeGreaterThan(8);
    expect(links.filter((link) => !existsSync(link))).toEqual([]);
  });
});
