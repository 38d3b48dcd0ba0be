/** argv → command. The only place that ends the process. */
import { run } from './cli/program.ts';
import { sayError } from './cli/output.ts';
import { systemClock } from './clock.ts';

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

const code = await run(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  clock: systemClock,
  onSignal(handler) {
    process.on('SIGTERM', handler);
    process.on('SIGINT', handler);
    return () => {
      process.off('SIGTERM', handler);
      process.off('SIGINT', handler);
    };
  },
});
process.exit(code);
