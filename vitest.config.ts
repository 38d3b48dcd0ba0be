import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // One config, four projects: `unit` is fast and touches no socket, `integration` opens loopback sockets and
    // child processes, `registry` needs the registry tools and `cluster` the built control plane
    // (docs/architecture.md, Proof).
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    // Two cores are the machine size every number of this project is measured on (design §6).
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/integration/**',
            'test/**/*.cluster.test.ts',
            'test/**/*.integration.test.ts',
            'test/**/*.registry.test.ts',
          ],
          setupFiles: ['test/support/network-guard.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts', 'test/**/*.integration.test.ts'],
          setupFiles: ['test/support/network-guard.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'registry',
          include: ['test/registry/**/*.registry.test.ts'],
          setupFiles: ['test/support/network-guard.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.cluster.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 300_000,
          // Each file starts API servers of its own (260 MB each): one at a time.
          fileParallelism: false,
        },
      },
    ],
  },
});
