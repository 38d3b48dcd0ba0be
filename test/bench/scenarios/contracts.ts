/** Contracts and what they are fetched by, each measured in a process of its own that does nothing else. */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { yamlForBrowsers } from '../../../scripts/yaml-plugin.ts';
import { SIDES, type Bench } from '../bench.ts';
import type { BlobJob } from '../contracts/blob.ts';
import { anyOf, pinned, type Cores } from '../pinning.ts';
import type {
  BenchResult,
  BlobRun,
  ContractFleet,
  ContractsResult,
  HostileSchemas,
  TagSelection,
  TypicalContract,
} from '../result.ts';
import { longestStall } from '../stalls.ts';

const JOB_FILE = fileURLToPath(new URL('../contracts/job.ts', import.meta.url));
const WORKER_FILE = fileURLToPath(new URL('../../../src/schema/schema-worker.ts', import.meta.url));
const JOB_TIMEOUT_MS = 120_000;
/** Schemas that services share, and schemas of each service's own. */
const KINDS = [20, 1000];
const BLOB_BYTES = 50_000_000;
const SMALL_BLOB_BYTES = 1_000_000;
const REPOSITORY = 'bench/blob';

export async function contracts(bench: Bench): Promise<Pick<BenchResult, 'contracts'>> {
  const jobs = await Jobs.build(bench);
  const typical = await jobs.run<TypicalContract>('typical', String(bench.pace.contractSamples));
  bench.say('  typical contract');
  const fleets: ContractFleet[] = [];
  for (const kinds of KINDS) fleets.push(await jobs.run<ContractFleet>('fleet', String(kinds)));
  bench.say('  1,000 contracts');
  const tags = await jobs.run<TagSelection>('tags');
  const hostile = await hostileSchemas(bench, jobs);
  bench.say('  hostile schemas');
  return { contracts: { typical, fleets, tags, hostile, blob: await blobs(jobs) } };
}

class Jobs {
  readonly #cores: Cores;
  readonly #file: string;

  private constructor(cores: Cores, file: string) {
    this.#cores = cores;
    this.#file = file;
  }

  /** As the program is built: from its sources it would pay for the type stripper in time and in memory. */
  static async build({ cores, scratch }: Bench): Promise<Jobs> {
    const directory = join(scratch, 'contracts');
    const build = await rolldown({
      input: { job: JOB_FILE, 'schema-worker': WORKER_FILE },
      platform: 'node',
      plugins: [yamlForBrowsers],
    });
    await build.write({
      dir: directory,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
    });
    await build.close();
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    return new Jobs(cores, join(directory, 'job.js'));
  }

  /** Runs on all processors: each job is alone. @returns what it printed. */
  async run<T>(name: string, argument = '', nodeFlags: readonly string[] = []): Promise<T> {
    const [file, ...args] = pinned(anyOf(this.#cores), [
      process.execPath,
      ...nodeFlags,
      this.#file,
      name,
      argument,
    ]);
    const { stdout } = await promisify(execFile)(file, args, { timeout: JOB_TIMEOUT_MS });
    return JSON.parse(stdout) as T;
  }
}

async function hostileSchemas(bench: Bench, jobs: Jobs): Promise<ContractsResult['hostile']> {
  const file = join(bench.scratch, 'schema-stalls');
  writeFileSync(file, '');
  const result = await jobs.run<HostileSchemas>('hostile', '', ['--import', bench.starter.stallProbe(file)]);
  return { ...result, stall: longestStall(file, result.fromMs) };
}

/** From a server in this process, over plain http: what is measured is the client. */
async function blobs(jobs: Jobs): Promise<ContractsResult['blob']> {
  const [small, large] = [SMALL_BLOB_BYTES, BLOB_BYTES].map((size) => blobOf(size)) as [Blob, Blob];
  const server = await serve([small, large]);
  try {
    const { port } = server.address() as AddressInfo;
    const runs = {} as Record<'ours' | 'bare', BlobRun>;
    for (const side of SIDES) {
      const asked: BlobJob = {
        side,
        host: `127.0.0.1:${port}`,
        repository: REPOSITORY,
        small: { digest: small.digest, size: small.bytes.length },
        large: { digest: large.digest, size: large.bytes.length },
      };
      runs[side] = await jobs.run<BlobRun>('blob', JSON.stringify(asked));
    }
    return runs;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

interface Blob {
  readonly bytes: Buffer;
  readonly digest: string;
}

function blobOf(size: number): Blob {
  const bytes = Buffer.alloc(size, randomBytes(64 * 1024));
  return { bytes, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}

async function serve(stored: readonly Blob[]): Promise<Server> {
  const server = createServer(({ url = '' }, response) => {
    const blob = stored.find(({ digest }) => url === `/v2/${REPOSITORY}/blobs/${digest}`);
    response.statusCode = blob === undefined ? 404 : 200;
    response.setHeader('content-type', 'application/octet-stream');
    response.end(blob?.bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
