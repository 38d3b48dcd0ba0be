/** The worker's side of `SchemaPool`: one job at a time, so that whoever never ends is known by name. */
import { parentPort } from 'node:worker_threads';
import type { Happened, Job, Report } from './answer.ts';
import { Checker } from './checker.ts';
import { millisecondsOf } from './processor-limit.ts';

function serve(): void {
  const pool = parentPort;
  if (pool === null) throw new Error('this file is a worker, started by schema-pool');
  const report = (happened: Happened): void => {
    const what: Report = { ...happened, usedMs: millisecondsOf(process.threadCpuUsage()) };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    pool.postMessage(what);
  };
  const checker = new Checker();
  pool.on('message', ({ id, schemaText, instance }: Job) => {
    const answer = checker.check(schemaText, instance, (phase) => report({ kind: phase }));
    report({ kind: 'answer', id, answer });
  });
  report({ kind: 'ready' });
}

serve();
