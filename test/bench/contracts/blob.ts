/** A large blob through our client, or through `undici` alone: what the process needs on top of what it had. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { request } from 'undici';
import { RegistryClient } from '../../../src/registry/client.ts';
import { ProcessNumbers } from '../process-numbers.ts';
import type { BlobRun } from '../result.ts';

/** What the server has: a small blob to have loaded everything, and the large one. */
export interface BlobJob {
  readonly side: 'ours' | 'bare';
  readonly host: string;
  readonly repository: string;
  readonly small: BlobName;
  readonly large: BlobName;
}

interface BlobName {
  readonly digest: string;
  readonly size: number;
}

/** @param argument a BlobJob as JSON */
export async function run(argument: string): Promise<BlobRun> {
  const job = JSON.parse(argument) as BlobJob;
  const { host, repository, small, large } = job;
  const client = new RegistryClient({ insecure: [host], allowAddresses: ['127.0.0.0/8'] });
  const stream = (blob: BlobName): AsyncIterable<Uint8Array> =>
    job.side === 'ours'
      ? client.blob({ registry: host, repository }, blob, { maxBytes: blob.size })
      : bareStream(job, blob);
  try {
    await drain(stream(small), small.size);
    const numbers = new ProcessNumbers();
    // The peak starts anew, or that of loading the program would hide what follows (proc_pid_clear_refs(5)).
    writeFileSync('/proc/self/clear_refs', '5');
    const before = numbers.residentBytes(process.pid);
    const start = performance.now();
    await drain(stream(large), large.size);
    const seconds = (performance.now() - start) / 1000;
    return { bytes: large.size, extraBytes: numbers.peakResidentBytes(process.pid) - before, seconds };
  } finally {
    await client.close();
  }
}

async function* bareStream({ host, repository }: BlobJob, { digest }: BlobName): AsyncIterable<Uint8Array> {
  const { body } = await request(`http://${host}/v2/${repository}/blobs/${digest}`);
  const hash = createHash('sha256');
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    hash.update(piece);
    yield piece;
  }
  if (`sha256:${hash.digest('hex')}` !== digest) throw new Error('the blob came changed');
}

async function drain(stream: AsyncIterable<Uint8Array>, size: number): Promise<void> {
  let read = 0;
  for await (const piece of stream) read += piece.length;
  if (read !== size) throw new Error(`${read} of ${size} bytes came`);
}
