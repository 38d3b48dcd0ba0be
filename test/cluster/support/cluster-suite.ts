/** `describe` for tests that need a control plane: left out aloud where there is none, failing where there must be. */
import { describe } from 'vitest';
import { skipReason, type ControlPlaneNeeds } from './control-plane.ts';

/**
 * Defines a suite that needs a control plane. Where none can be started its tests are skipped, the reason stands in
 * the suite's title and on standard error; with `PACTO_GATE_REQUIRE_CLUSTER=1` (continuous integration) it is an
 * error instead, so that a missing build cannot pass as green.
 *
 * @param needs what must be there; default: both minors.
 */
export function clusterSuite(title: string, needs: ControlPlaneNeeds, define: () => void): void {
  const reason = skipReason(needs);
  if (reason !== undefined && process.env['PACTO_GATE_REQUIRE_CLUSTER'] === '1') {
    throw new Error(`"${title}" cannot run: ${reason} (PACTO_GATE_REQUIRE_CLUSTER is set)`);
  }
  if (reason !== undefined) process.stderr.write(`\nSKIPPED "${title}": ${reason}\n\n`);
  const suffix = reason === undefined ? '' : ` [SKIPPED: ${reason}]`;
  describe.skipIf(reason !== undefined)(`${title}${suffix}`, () => {
    define();
  });
}
