/**
 * Loaded into a server by `--import`, with `?file=` of where to write: once a second, or every `&every=` milliseconds, a
 * line with the time, in milliseconds since 1970, the longest that the event loop did not come round since the last line,
 * and the most processor time of its thread from one turn to the next, which other work of the machine does not touch. The
 * harness strips the types first. SIGUSR2 stops it, and the next one starts it again: to look so often costs more than a
 * process may that has nothing to do.
 */
import { appendFileSync } from 'node:fs';

/** So often it should come round; what is beyond is a stall. */
const EVERY_MS = 5;

const { searchParams } = new URL(import.meta.url);
const file = searchParams.get('file') ?? '';
const WRITE_EVERY_MS = Number(searchParams.get('every') ?? 1_000);
let lastMs = performance.now();
let lastCpuMs = cpuMs();
let longestMs = 0;
let longestCpuMs = 0;
let writtenMs = lastMs;
let timer: NodeJS.Timeout | undefined;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function look(): void {
  const nowMs = performance.now();
  longestCpuMs = Math.max(longestCpuMs, cpuMs() - lastCpuMs);
  longestMs = Math.max(longestMs, nowMs - lastMs - EVERY_MS);
  if (nowMs - writtenMs >= WRITE_EVERY_MS) {
    appendFileSync(file, `${performance.timeOrigin + nowMs} ${longestMs} ${longestCpuMs}\n`);
    longestMs = 0;
    longestCpuMs = 0;
    writtenMs = nowMs;
  }
  // What was written is not counted either.
  lastMs = performance.now();
  lastCpuMs = cpuMs();
}

function turn(): void {
  clearInterval(timer);
  lastMs = performance.now();
  lastCpuMs = cpuMs();
  timer = timer === undefined ? setInterval(look, EVERY_MS).unref() : undefined;
}

process.on('SIGUSR2', turn);
turn();
