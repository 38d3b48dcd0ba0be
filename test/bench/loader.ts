/**
 * The load generator, a process of its own: one JSON command a line on its input, one reply a line on its output.
 * It ends when its input ends, and each job ends by count, by time, or by the command to stop.
 */
import { createInterface } from 'node:readline';
import { REQUEST_TIMEOUT_MS, type LoaderCommand, type LoaderReply, type LoadJob } from './load-job.ts';
import { LoadStream } from './load-stream.ts';
import { MAX_SECONDS } from './schedule.ts';

/** A timer is up to 1 ms late: the last stretch to a due time is waited in turns of the event loop instead. */
const TIMER_SLACK_MS = 2;
const EXPIRE_EVERY_MS = 100;
const OPEN_TIMEOUT_MS = 10_000;

let running: readonly LoadStream[] = [];

async function run(job: LoadJob): Promise<LoaderReply> {
  const streams = job.streams.map((stream) => new LoadStream(stream, job.endpoint));
  running = streams;
  for (const stream of streams) stream.openConnections();
  await until(() => streams.every((stream) => stream.isOpen), OPEN_TIMEOUT_MS);
  const startMs = performance.now();
  for (const stream of streams) stream.start(startMs);
  const deadlineMs = startMs + MAX_SECONDS * 1000 + REQUEST_TIMEOUT_MS;
  await new Promise<void>((resolve) => {
    let expiredMs = startMs;
    const turn = (): void => {
      const nowMs = performance.now();
      for (const stream of streams) stream.sendDue(nowMs);
      if (nowMs - expiredMs > EXPIRE_EVERY_MS) {
        expiredMs = nowMs;
        for (const stream of streams) stream.expire(nowMs);
      }
      if (streams.every((stream) => stream.isDone) || nowMs > deadlineMs) {
        resolve();
        return;
      }
      const waitMs = Math.min(...streams.map((stream) => stream.nextDueMs)) - performance.now();
      if (waitMs > TIMER_SLACK_MS) setTimeout(turn, Math.min(waitMs - TIMER_SLACK_MS, EXPIRE_EVERY_MS));
      else setImmediate(turn);
    };
    turn();
  });
  for (const stream of streams) stream.close();
  running = [];
  return { result: streams.map((stream) => stream.result()) };
}

async function until(condition: () => boolean, timeoutMs: number): Promise<void> {
  const startMs = performance.now();
  while (!condition()) {
    if (performance.now() - startMs > timeoutMs)
      throw new Error('the connections could not be opened in time');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function reply(message: LoaderReply): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const command = JSON.parse(line) as LoaderCommand;
    if ('stop' in command) {
      for (const stream of running) stream.stop();
      return;
    }
    run(command.run).then(reply, (error: unknown) => reply({ error: String(error) }));
  })
  .on('close', () => process.exit(0));
