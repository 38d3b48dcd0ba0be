/**
 * `npm run readme`: does what a newcomer does. It clones this checkout, and in the clone, with an empty HOME and the
 * Node that is first on the path, runs the commands under the heading "Try it" in order and looks for the lines that
 * the README shows after each. The test command is run twice.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandsOf, missingLines, type ReadmeCommand } from '../test/support/readme.ts';

/** Longer than `npm ci` and the tests take on two busy cores. */
const PATIENCE_MS = 15 * 60_000;

const work = mkdtempSync(join(tmpdir(), 'readme-'));
const clone = join(work, 'clone');
const home = join(work, 'home');
mkdirSync(home);

function cleanEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    // What an npm script adds to its environment would point back to this checkout.
    if (!/^(npm_|INIT_CWD|NODE|VITEST|PACTO_GATE_|XDG_)/i.test(name)) env[name] = value;
  }
  const path = (process.env['PATH'] ?? '')
    .split(':')
    .filter((part) => !part.includes('node_modules') && !part.includes('node-gyp-bin'));
  return { ...env, HOME: home, PATH: path.join(':') };
}

interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

function start(command: string): Running {
  const child = spawn('sh', ['-c', command], {
    cwd: clone,
    env: cleanEnvironment(),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      process.stdout.write(text);
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output: () => output, ended };
}

/** The whole group of a command: a shell, npm and what npm started. */
function stop({ child }: Running): void {
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
}

async function shows(running: Running, command: ReadmeCommand, ends: boolean): Promise<void> {
  const limitMs = performance.now() + PATIENCE_MS;
  let code: number | null | undefined;
  void running.ended.then((result) => (code = result));
  while (
    ends ? code === undefined : missingLines(command, running.output()).length > 0 && code === undefined
  ) {
    if (performance.now() > limitMs) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const missing = missingLines(command, running.output());
  if (missing.length > 0) throw new Error(`"${command.text}" did not show: ${missing.join(' | ')}`);
  if (ends && code !== 0) throw new Error(`"${command.text}" ended with ${String(code)}`);
}

async function run(): Promise<void> {
  execFileSync('git', ['clone', '--quiet', '.', clone], { stdio: 'inherit' });
  const commands = commandsOf(readFileSync(join(clone, 'README.md'), 'utf8'), 'Try it').filter(
    ({ shown }) => shown.length > 0,
  );
  console.log(
    `node ${execFileSync('node', ['--version'], { env: cleanEnvironment(), encoding: 'utf8' }).trim()} is first on the path`,
  );
  let server: Running | undefined;
  try {
    for (const command of commands) {
      console.log(`\n$ ${command.text}`);
      const running = start(command.text);
      if (command.text.endsWith('npm start')) {
        server = running;
        await shows(running, command, false);
        continue;
      }
      await shows(running, command, true);
      if (!command.text.endsWith('npm test')) continue;
      console.log('\n$ npm test   (once more)');
      await shows(start('npm test'), command, true);
    }
  } finally {
    if (server !== undefined) {
      stop(server);
      await server.ended;
    }
  }
  console.log(`\nthe ${String(commands.length)} commands of the README do what it says`);
}

try {
  await run();
} finally {
  rmSync(work, { recursive: true, force: true });
}
