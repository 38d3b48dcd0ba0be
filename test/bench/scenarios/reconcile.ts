/** The reconciler on a real API server with a fleet of services: its built program, a process of its own. */
import { skipReason, startControlPlane } from '../../cluster/support/control-plane.ts';
import { RECONCILER_USERNAME } from '../../cluster/support/reconcile-process.ts';
import type { Bench } from '../bench.ts';
import { anyOf, pinSelf } from '../pinning.ts';
import { FLEET } from '../reconcile/fleet.ts';
import { idle, storm } from '../reconcile/idle-and-storms.ts';
import { changes, firstStart, forgetAll, onDemand } from '../reconcile/one-at-a-time.ts';
import type { ReconcileFigures } from '../reconcile/result.ts';
import { AS_DEPLOYED, Measured, withFleet, type Site } from '../reconcile/site.ts';
import type { BenchResult } from '../result.ts';

/** What it writes, and who writes: anything else would only cost the API server time. */
const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: ['${RECONCILER_USERNAME}']
    verbs: [create, update, patch, delete]
  - level: None
`;

export async function reconcile(bench: Bench): Promise<Pick<BenchResult, 'reconcile'>> {
  const leftOut = skipReason({ versions: ['1.36'] });
  if (leftOut !== undefined) {
    bench.say(`  LEFT OUT: ${leftOut}`);
    return { reconcile: { leftOut } };
  }
  // Programs that work together: none of them is only a generator of load.
  pinSelf(anyOf(bench.cores));
  const plane = await startControlPlane({
    version: '1.36',
    auditPolicy: AUDIT_POLICY,
    // For more Services than the 254 that tests have room for.
    extraApiserverArgs: ['--service-cluster-ip-range=10.0.0.0/16'],
  });
  try {
    return { reconcile: await withFleet(bench, plane, measureAll) };
  } finally {
    await plane.stop();
    pinSelf(bench.cores.loader);
  }
}

async function measureAll(site: Site): Promise<ReconcileFigures> {
  const say = (line: string): void => site.bench.say(line);
  const figures = await withReconciler(site, AS_DEPLOYED, async (measured) => {
    const start = await firstStart(site, measured);
    say(`  all verdicts after ${(start.allMs / 1_000).toFixed(1)} s: ${JSON.stringify(start.verdicts)}`);
    const demand = await onDemand(site, measured);
    say('  verdicts on demand');
    const changed = await changes(site);
    say('  changes');
    const still = await idle(site, measured);
    say('  idle');
    const storms = {
      pods: await storm(site, measured, 'pods'),
      slices: await storm(site, measured, 'slices'),
    };
    say('  storms');
    return { start, demand, changes: changed, idle: still, storms, peakBytes: measured.peakBytes() };
  });
  await forgetAll(site);
  const start = await withReconciler(site, [], (measured) => firstStart(site, measured));
  return { fleet: FLEET, nodeOptions: AS_DEPLOYED, ...figures, withoutOptions: start };
}

async function withReconciler<T>(
  site: Site,
  nodeFlags: readonly string[],
  use: (measured: Measured) => Promise<T>,
): Promise<T> {
  const measured = await Measured.prepare(site, { name: `reconcile-${nodeFlags.length}`, nodeFlags });
  try {
    return await use(measured);
  } finally {
    await measured.stop();
  }
}
