/** The metrics of this process: what their labels may hold, and which build it is. */
import packageFile from '../../package.json' with { type: 'json' };
import { ERROR_CODES } from '../errors.ts';
import type { RootLog } from '../log.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { FINDING_CODES } from '../policies/finding.ts';

/** Set by the build (scripts/build.ts); not there when the sources run. */
declare const BUILD_COMMIT: string | undefined;

/** @param webhooks names of those that are served */
export function openMetrics(webhooks: readonly string[], log: Pick<RootLog, 'lost'>): Metrics {
  const metrics = createMetrics({
    webhooks,
    codes: [...Object.keys(ERROR_CODES), ...Object.keys(FINDING_CODES)],
    build: {
      version: packageFile.version,
      revision: typeof BUILD_COMMIT === 'undefined' ? 'unknown' : BUILD_COMMIT,
    },
  });
  metrics.observeLostLines(() => log.lost());
  return metrics;
}
