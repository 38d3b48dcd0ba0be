/** The worker's side of `ContractReader`: texts that would hold the event loop for seconds are read here. */
import { parentPort } from 'node:worker_threads';
import { messageOf } from '../errors.ts';
import { SchemaPool } from '../schema/schema-pool.ts';
import { readContractOf, weightOf, type ContractJob, type ReadContract } from './contract-reading.ts';

export type WorkerAnswer =
  | { readonly ok: true; readonly read: ReadContract; readonly weightBytes: number }
  | { readonly ok: false; readonly message: string };

function serve(): void {
  const reader = parentPort;
  if (reader === null) throw new Error('this file is a worker, started by contract-reader');
  const schemas = new SchemaPool();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  const answer = (what: WorkerAnswer): void => reader.postMessage(what);
  reader.on('message', (job: ContractJob) => {
    readContractOf(job, schemas).then(
      (read) => answer({ ok: true, read, weightBytes: weightOf(read) }),
      (error: unknown) => answer({ ok: false, message: messageOf(error) }),
    );
  });
}

serve();
