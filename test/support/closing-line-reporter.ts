import type { Reporter, TestModule } from 'vitest/node';

/** Prints `N passed, N failed, N skipped` as the last line of a run. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++;
      // A file that could not be loaded has no tests, and must still count as a failure.
      if (module.state() === 'failed' && module.errors().length > 0) count.failed++;
    }
    count.failed += unhandledErrors.length;
    const line = `${String(count.passed)} passed, ${String(count.failed)} failed, ${String(count.skipped + count.pending)} skipped\n`;
    // After the default reporter's own summary, which is written in the same turn.
    process.once('exit', () => process.stdout.write(line));
  }
}
