/** What it costs while nothing happens, and what it gives while very much does. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readAuditEvents } from '../../cluster/support/audit-log.ts';
import { pause } from '../bench.ts';
import { anyOf, pinned, pinProcess, pinSelf } from '../pinning.ts';
import { summarize } from '../statistics.ts';
import { askedPactos, FLEET, oftenPactos, pactosOf } from './fleet.ts';
import type { IdleFigures, StormFigures } from './result.ts';
import { Answers, NOWHERE, quiet, wallMs, type Measured, type Site } from './site.ts';

const STORM_FILE = fileURLToPath(new URL('storm.ts', import.meta.url));
const STORM_TIMEOUT_MS = 120_000;
const ASKED_EVERY_MS = 50;

/** As many looks as fall due in steady state, and then none. */
export async function idle(
  site: Site,
  measured: Measured,
): Promise<{ readonly due: IdleFigures; readonly none: IdleFigures }> {
  // Not `quiet`: those that are looked at often write all the time.
  await pause(site.bench.pace.settleSeconds * 1_000);
  measured.toggleProbe();
  const due = await idleFigures(site, measured);
  for (const { namespace, name } of oftenPactos())
    await site.api.demand({
      method: 'PATCH',
      path: `${pactosOf(namespace)}/${name}`,
      body: { spec: { checkIntervalSeconds: FLEET.seldomSeconds } },
      contentType: 'application/merge-patch+json',
    });
  await quiet(site);
  const none = await idleFigures(site, measured);
  measured.toggleProbe();
  return { due, none };
}

async function idleFigures(site: Site, measured: Measured): Promise<IdleFigures> {
  const seconds = site.bench.pace.reconcile.idleSeconds;
  const before = writesOf(site).length;
  const cpuMs = measured.cpuMs();
  const startMs = performance.now();
  await pause(seconds * 1_000);
  const cpuPercent = ((measured.cpuMs() - cpuMs) / (performance.now() - startMs)) * 100;
  const writes = writesOf(site).slice(before);
  const statuses = writes.filter(({ kind }) => kind === 'pactos/status');
  const perPacto = [...Map.groupBy(statuses, ({ name }) => name).values()].map(({ length }) => length);
  const byKind = [...Map.groupBy(writes, ({ kind }) => kind)].map(([kind, { length }]) => [kind, length]);
  return {
    seconds,
    cpuPercent,
    writes: Object.fromEntries(byKind) as IdleFigures['writes'],
    mostPerPacto: Math.max(0, ...perPacto),
  };
}

/** Of the reconciler since the start; what it asks about callers is written nowhere. */
function writesOf({ plane }: Site): readonly { readonly kind: string; readonly name: string }[] {
  return readAuditEvents(plane.auditLogFile).flatMap(({ objectRef }) => {
    const { resource = '', subresource, namespace = '', name = '' } = objectRef ?? {};
    if (resource === 'tokenreviews' || resource === 'subjectaccessreviews') return [];
    const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
    return [{ kind, name: `${namespace}/${name}` }];
  });
}

/**
 * Changes from a process of their own, and meanwhile verdicts asked for whether or not the last one is there. The API server
 * and who changes things keep to one processor, we and who asks us to the other: in a cluster they are not on one machine.
 */
export async function storm(site: Site, measured: Measured, kind: 'pods' | 'slices'): Promise<StormFigures> {
  const { cores } = site.bench;
  const keep = (ours: number | string | undefined, theirs: number | string | undefined): void => {
    for (const pid of site.plane.processIds()) pinProcess(pid, theirs);
    pinProcess(measured.pid(), ours);
    pinSelf(ours);
  };
  keep(cores.server, cores.loader);
  try {
    return await measureStorm(site, measured, kind);
  } finally {
    keep(anyOf(cores), anyOf(cores));
  }
}

async function measureStorm(site: Site, measured: Measured, kind: 'pods' | 'slices'): Promise<StormFigures> {
  const { bench, plane, watch } = site;
  const patches = bench.pace.reconcile.storm;
  const places = askedPactos();
  // All, and of those whether a ConfigMap is read.
  const answers = { withConfigMap: new Answers(), without: new Answers() };
  const reads: number[] = [];
  const fromMs = wallMs();
  const startMs = performance.now();
  const cpuMs = measured.cpuMs();
  const progress = { isOver: false };
  const [file, ...args] = pinned(bench.cores.loader, [
    process.execPath,
    STORM_FILE,
    kind,
    String(patches),
    plane.url,
    plane.adminKubeconfigPath,
  ]);
  const running = promisify(execFile)(file, args, { timeout: STORM_TIMEOUT_MS }).finally(() => {
    progress.isOver = true;
  });
  const asking: Promise<void>[] = [];
  for (let n = 0; !progress.isOver; n += 1) {
    await pause(Math.max(0, startMs + n * ASKED_EVERY_MS - performance.now()));
    const place = places[n % places.length] ?? { ...NOWHERE, readsConfigMap: false };
    asking.push((place.readsConfigMap ? answers.withConfigMap : answers.without).take(measured, place));
    asking.push(readOne(site, reads));
  }
  const { stdout } = await running;
  await Promise.all(asking);
  const overMs = performance.now();
  await quiet(site);
  const { withConfigMap, without } = answers;
  return {
    patches,
    seconds: Number(stdout) / 1_000,
    demand: summarize([...withConfigMap.latencies, ...without.latencies]),
    withConfigMap: summarize(withConfigMap.latencies),
    without: summarize(without.latencies),
    apiServer: summarize(reads),
    failures: [withConfigMap, without].reduce((sum, { failed }) => sum + failed, 0),
    cpuPercent: ((measured.cpuMs() - cpuMs) / (performance.now() - startMs)) * 100,
    settledMs: Math.max(0, watch.lastMs - overMs),
    stall: measured.stall(fromMs),
    residentBytes: measured.residentBytes(),
  };
}

/** What the API server itself takes to read one thing for somebody else. */
async function readOne({ api }: Site, latencies: number[]): Promise<void> {
  const startMs = performance.now();
  await api.demand({ method: 'GET', path: '/api/v1/namespaces/default' });
  latencies.push(performance.now() - startMs);
}
