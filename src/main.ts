#!/usr/bin/env node
/** argv → command. The only place that ends the process. */
import { existsSync } from 'node:fs';
// As a whole: an older Node has no such export, and must come as far as the check below.
import * as nodeModule from 'node:module';
import { join } from 'node:path';

/** `engines` in package.json (docs/adr/0001). */
const LEAST_NODE = 24;
if (Number.parseInt(process.versions.node, 10) < LEAST_NODE) {
  process.stderr.write(
    `pacto-gate: needs Node ${String(LEAST_NODE)} or newer, found ${process.versions.node}. Install it, or use the npm scripts of the source tree, which bring their own\n`,
  );
  process.exit(2);
}

// A built program brings V8's cache with it (scripts/build.ts). It is switched on before the rest is loaded, which is
// why the rest is imported below and not above.
const compileCache = join(import.meta.dirname, 'compile-cache');
if (existsSync(compileCache)) nodeModule.enableCompileCache(compileCache);

const [{ run }, { sayError }, { systemClock }] = await Promise.all([
  import('./cli/program.ts'),
  import('./cli/output.ts'),
  import('./clock.ts'),
]);

// Whoever reads us may stop reading (`| head`); that is no fault, and the exit code stays that of the answer.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

// Node would exit with 1, which means "the answer is no".
process.on('uncaughtException', (error) => {
  process.exit(sayError(process, error));
});

// The timers that a command waits on do not keep the process alive (clock.ts), so that none of them holds up its end;
// until the command has its answer something must.
const HOLD_MS = 60_000;
const hold = setInterval(() => undefined, HOLD_MS);
const code = await run(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  clock: systemClock,
  onSignal(handler) {
    // SIGHUP: the terminal is gone, and Node would end at once, with requests under way.
    const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, handler);
    return () => {
      for (const signal of signals) process.off(signal, handler);
    };
  },
});
// What has been written to a pipe may be on its way still, and would be cut off at what the pipe holds. A reader that
// is gone is no reason to wait: the callback comes with the error then.
await Promise.all(
  [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  ),
);
clearInterval(hold);
process.exit(code);
