/** A process of its own: lists the pods of argv[2] by a reflector and prints what that cost. */
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../../../src/clock.ts';
import { fixedCredentials } from '../../../src/cluster/connection.ts';
import { POD } from '../../../src/cluster/kinds.ts';
import { createRestCluster } from '../../../src/cluster/rest.ts';
import { createReflector } from '../../../src/cluster/watch.ts';
import { until } from '../../support/until.ts';

const [, , server = '', pageSize = '100'] = process.argv;
const cluster = createRestCluster({
  connection: { server, origin: 'big list', credentials: fixedCredentials({}), warnings: [] },
  clock: systemClock,
});
const delays = monitorEventLoopDelay({ resolution: 5 });
let tookMs = 0;
const reflector = createReflector({
  cluster,
  kind: POD,
  pageSize: Number(pageSize),
  project: ({ apiVersion, kind, metadata, ...rest }) => {
    const spec = rest['spec'] as { nodeName?: string; serviceAccountName?: string };
    const { name, namespace, uid, resourceVersion, labels } = metadata;
    return {
      apiVersion,
      kind,
      metadata: {
        ...(name !== undefined && { name }),
        ...(namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
        ...(labels !== undefined && { labels }),
      },
      spec: { nodeName: spec.nodeName, serviceAccountName: spec.serviceAccountName },
    };
  },
  clock: systemClock,
  random: Math.random,
  report: (report) => {
    if (report.type === 'listed') ({ tookMs } = report);
  },
});
delays.enable();
reflector.start();
await until('the list is there', () => reflector.synced());
delays.disable();
const usage = process.resourceUsage();
process.stdout.write(
  `${JSON.stringify({
    objects: reflector.store.size,
    wallMs: Math.round(tookMs),
    cpuMs: Math.round((usage.userCPUTime + usage.systemCPUTime) / 1000),
    peakMiB: peakMiB(),
    longestStallMs: Math.round(delays.max / 1e6),
  })}\n`,
);
await reflector.stop();
await cluster.close();

/** Linux counts maxRSS on over fork and exec, so that it would begin with the memory of whoever started this process. */
function peakMiB(): number {
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : '';
  const peakKiB = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? usage.maxRSS;
  return Math.round(Number(peakKiB) / 1024);
}
