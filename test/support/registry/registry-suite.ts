/** `describe` for tests that need a real registry: left out aloud where there is none, failing where there must be. */
import { describe } from 'vitest';
import { findRegistryTools } from '../../../scripts/registrytools/tools.ts';

/**
 * Defines a suite that needs docker-registry, skopeo and oras. Where they are not there its tests are skipped, the
 * reason stands in the suite's title and on standard error; with `PACTO_GATE_REQUIRE_REGISTRY=1` (continuous
 * integration) it is an error instead, so that a missing tool cannot pass as green.
 */
export function registrySuite(title: string, define: () => void): void {
  const { problem } = findRegistryTools();
  if (problem !== undefined && process.env['PACTO_GATE_REQUIRE_REGISTRY'] === '1') {
    throw new Error(`"${title}" cannot run: ${problem} (PACTO_GATE_REQUIRE_REGISTRY is set)`);
  }
  if (problem !== undefined) process.stderr.write(`\nSKIPPED "${title}": ${problem}\n\n`);
  const suffix = problem === undefined ? '' : ` [SKIPPED: ${problem}]`;
  describe.skipIf(problem !== undefined)(`${title}${suffix}`, () => {
    define();
  });
}
