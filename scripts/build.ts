/**
 * `npm run build`: one bundle in dist/ with lazily loaded parts as chunks, and V8's compile cache beside it, so that
 * a read-only container starts without resolving and compiling hundreds of files (platform.md §3.5).
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown, type ChunkingContext, type Plugin } from 'rolldown';
import { yamlForBrowsers } from './yaml-plugin.ts';

const OUT = 'dist';
const SOURCES = join(import.meta.dirname, '..', 'src');

/** What `serve` loads whatever it serves; each has its own lazily loaded parts. */
const SERVER_ROOTS = [
  'cli/program.ts',
  'cli/output.ts',
  'cli/serve.ts',
  'app.ts',
  'cluster/directory.ts',
  'http/tls.ts',
];
/** What it loads where there are policies. */
const POLICY_ROOTS = ['app/policies.ts'];

/**
 * Every file that is a chunk of its own costs a start a third of a millisecond, so that what commands share is not cut
 * as finely as they share it: all of ours that serving loads and that needs no library is one chunk, and what policies
 * need beyond it another.
 */
function partOf(id: string, modules: ChunkingContext): string | null {
  const isOurs = (path: string): boolean => path.startsWith(SOURCES);
  const reaches = (roots: readonly string[], wanted: string): boolean =>
    closureOf(
      roots.map((root) => join(SOURCES, root)),
      modules,
    ).has(wanted);
  if (!isOurs(id) || modules.getModuleInfo(id)?.isEntry === true) return null;
  const isFree = [...closureOf([id], modules)].every(
    (path) => isOurs(path) || path.startsWith('node:') || path.endsWith('.json'),
  );
  if (isFree && reaches(SERVER_ROOTS, id)) return 'core';
  return isFree && reaches(POLICY_ROOTS, id) ? 'policies' : null;
}

/** Modules that are loaded with the given ones. */
function closureOf(roots: readonly string[], modules: ChunkingContext): Set<string> {
  const found = new Set(roots);
  for (const id of found) for (const next of modules.getModuleInfo(id)?.importedIds ?? []) found.add(next);
  return found;
}

/** Parts of Node that libraries load and that serving does not use. */
const UNUSED_BUILTINS = new Set(['assert', 'http2', 'v8']);
const LATE = '\0late:';

/**
 * Loads them where they are first used: of `assert` all that is used is a check that holds. Together they cost a start
 * some six milliseconds.
 */
const lateBuiltins: Plugin = {
  name: 'late-builtins',
  resolveId(source, importer, { kind }) {
    const name = source.replace(/^node:/, '');
    const isLate =
      kind === 'require-call' && UNUSED_BUILTINS.has(name) && importer?.startsWith(LATE) === false;
    return isLate ? `${LATE}${name}` : null;
  },
  load(id) {
    if (!id.startsWith(LATE)) return null;
    return {
      moduleType: 'js',
      code: `let loaded;
const load = () => (loaded ??= require('node:${id.slice(LATE.length)}'));
module.exports = new Proxy(function late() {}, {
  apply: (_, __, given) => (given[0] ? undefined : load()(...given)),
  get: (_, key) => load()[key],
});
`,
    };
  },
};

async function bundle(commit: string, version: string): Promise<void> {
  const build = await rolldown({
    input: {
      'pacto-gate': 'src/main.ts',
      handle: 'src/handle.ts',
      'schema-worker': 'src/schema/schema-worker.ts',
      'contract-worker': 'src/reconcile/contract-worker.ts',
    },
    platform: 'node',
    plugins: [lateBuiltins, yamlForBrowsers],
    // What the chunks below imply: they may export to each other more than the entries do.
    preserveEntrySignatures: 'allow-extension',
    transform: { define: { BUILD_COMMIT: JSON.stringify(commit), BUILD_VERSION: JSON.stringify(version) } },
    treeshake: true,
  });
  await build.write({
    dir: OUT,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true, asciiOnly: true } },
    sourcemap: false,
    codeSplitting: { groups: [{ name: partOf, debugName: 'ours', includeDependenciesRecursively: false }] },
  });
  await build.close();
}

function commitOf(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    // A source archive has no history.
    return 'unknown';
  }
}

/** Policies that compile. */
const WARM_DIRECTORY = 'examples/policies';

/**
 * Runs the built server once, until it is ready, so that what serving loads is in the compile cache: with policies,
 * for their half of the program is loaded only where there are some.
 */
async function warm(): Promise<void> {
  const cache = join(OUT, 'compile-cache');
  mkdirSync(cache, { recursive: true });
  execFileSync(process.execPath, [join(OUT, 'pacto-gate.js'), 'version'], { stdio: 'ignore' });
  const keys = {
    'cluster-source': 'none',
    'policies-directory': WARM_DIRECTORY,
    'webhooks-port': '0',
    'health-port': '0',
    'metrics-port': '0',
    'metrics-plain': 'true',
    'webhooks-drain-seconds': '0',
  };
  const flags = Object.entries(keys).flatMap(([key, value]) => [`--${key}`, value]);
  const server = spawn(process.execPath, [join(OUT, 'pacto-gate.js'), 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`the warm-up server exited with ${String(code)}`)),
    );
    server.stdout.once('data', () => server.kill('SIGTERM'));
    server.stdout.resume();
  });
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
rmSync(OUT, { recursive: true, force: true });
await bundle(commitOf(), version);
cpSync('LICENSE', join(OUT, 'LICENSE'));
cpSync('src/cli/openapi-1.36.json.br', join(OUT, 'openapi-1.36.json.br'));
// What `explain` shows.
for (const page of ['errors.md', 'findings.md', 'lint.md', 'preflight.md']) {
  cpSync(`docs/${page}`, join(OUT, 'docs', page));
}
await warm();
console.log(`built ${OUT}/pacto-gate.js ${version}`);
