/** The start, verdicts that somebody asks for, and changes: one thing at a time. */
import { pollUntil } from '../../cluster/support/polling.ts';
import { pause } from '../bench.ts';
import { summarize } from '../statistics.ts';
import {
  askedPactos,
  deploymentPath,
  endpointsOf,
  FLEET,
  newPacto,
  pactosOf,
  quietPactos,
  slicePath,
  type Piece,
  type Place,
} from './fleet.ts';
import type { ReconcileFigures, StartFigures } from './result.ts';
import { Answers, NOWHERE, post, quiet, wallMs, type Measured, type Site } from './site.ts';
import type { StatusWatch } from './status-watch.ts';

const ALL_TIMEOUT_MS = 120_000;
/** Between new Pactos: reviews of what a caller may have a ceiling (src/http/review-cap.ts). */
const BETWEEN_NEW_MS = 300;
const ASK_AGAIN_MS = 2;
const NEW_TIMEOUT_MS = 10_000;
const BETWEEN_CHANGES_MS = 25;

/** Of a cluster where no Pacto has a status. */
export async function firstStart(site: Site, measured: Measured): Promise<StartFigures> {
  const { watch } = site;
  // Those that were made for verdicts of something new are there the second time.
  const pactos = Math.max(FLEET.pactos, watch.size);
  const startMs = performance.now();
  await measured.process.start();
  const readyMs = performance.now() - startMs;
  const readyAtMs = wallMs();
  const firstVerdictMs = await firstVerdict(measured, quietPactos()[0] ?? NOWHERE);
  await pollUntil('a verdict on each Pacto', ALL_TIMEOUT_MS, () => {
    const said = watch.count(({ contractStatus }) => contractStatus !== undefined);
    return Promise.resolve(said >= pactos || undefined);
  });
  const allMs = watch.lastMs - startMs;
  await quiet(site);
  return {
    readyMs,
    firstVerdictMs,
    allMs,
    settledMs: watch.lastMs - startMs,
    verdicts: watch.verdicts(),
    residentBytes: measured.residentBytes(),
    peakBytes: measured.peakBytes(),
    listStall: measured.stall(measured.firstWordMs(), readyAtMs),
    looksStall: measured.stall(readyAtMs),
  };
}

/** Takes away all that a reconciler wrote, for another first start. */
export async function forgetAll({ api, watch }: Site): Promise<void> {
  const list = await api.demand({ method: 'GET', path: '/apis/pacto.trianalab.io/v1alpha1/pactos' });
  const pactos = (list['items'] as readonly { readonly metadata: Place }[]).map(({ metadata }) => metadata);
  const spaces = [...new Set(pactos.map(({ namespace }) => namespace))];
  for (const { namespace, name } of pactos)
    await api.demand({
      method: 'PATCH',
      path: `${pactosOf(namespace)}/${name}/status`,
      body: { status: null },
      contentType: 'application/merge-patch+json',
    });
  for (const namespace of spaces) {
    const base = `namespaces/${namespace}`;
    await api.demand({ method: 'DELETE', path: `/apis/pacto.trianalab.io/v1alpha1/${base}/pactorevisions` });
    await api.demand({ method: 'DELETE', path: `/api/v1/${base}/events` });
  }
  await pollUntil('Pactos without a status', ALL_TIMEOUT_MS, () =>
    Promise.resolve(watch.count(({ contractStatus }) => contractStatus !== undefined) === 0 || undefined),
  );
}

/** Asks until there is one: the Pacto may not even be known yet. @returns milliseconds. */
async function firstVerdict(measured: Measured, place: Place): Promise<number> {
  const startMs = performance.now();
  for (;;) {
    const { status, text } = await measured.ask(place);
    const tookMs = performance.now() - startMs;
    if (status === 200) return tookMs;
    if (status !== 404 || tookMs > NEW_TIMEOUT_MS)
      throw new Error(`the first verdict is answered ${status} after ${tookMs} ms: ${text}`);
    await pause(ASK_AGAIN_MS);
  }
}

export async function onDemand(site: Site, measured: Measured): Promise<ReconcileFigures['demand']> {
  const { api, bench, registry, unused } = site;
  const places = askedPactos();
  const warm = new Answers();
  for (let n = 0; n < bench.pace.reconcile.demands; n += 1)
    await warm.take(measured, places[n % places.length] ?? NOWHERE);
  const coldMs: number[] = [];
  for (const [index, repository] of unused.entries()) {
    const piece = newPacto(places[index % places.length] ?? NOWHERE, registry.host, repository);
    const { metadata } = piece.body as { readonly metadata: Place };
    await post(api, piece);
    coldMs.push(await firstVerdict(measured, metadata));
    await pause(BETWEEN_NEW_MS);
  }
  return { warm: summarize(warm.latencies), failed: warm.failed, cold: summarize(coldMs) };
}

/** Each on another Pacto: from the sending of the change to its status in a watch. */
export async function changes(site: Site): Promise<ReconcileFigures['changes']> {
  const places = quietPactos().toReversed().slice(0, site.bench.pace.reconcile.changes);
  const endpoints: number[] = [];
  const deployments: number[] = [];
  for (const ready of [false, true])
    for (const place of places) {
      const change = { path: slicePath(place), body: { endpoints: endpointsOf(ready) } };
      endpoints.push(
        await changed(
          site,
          { place, change },
          ({ observationWindows = [] }) => (observationWindows.length === 0) === ready,
        ),
      );
    }
  for (const place of places) {
    const image = `registry.test/${place.name}:2.0.0`;
    const body = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }];
    const change = { path: deploymentPath(place), body };
    deployments.push(
      await changed(
        site,
        { place, change },
        ({ observedRuntime }) => observedRuntime?.containerImages?.[0] === image,
      ),
    );
  }
  return { endpoints: summarize(endpoints), deployments: summarize(deployments) };
}

async function changed(
  { api, watch }: Site,
  { place, change: { path, body } }: { readonly place: Place; readonly change: Piece },
  isWanted: Parameters<StatusWatch['next']>[1],
): Promise<number> {
  const startMs = performance.now();
  const written = watch.next(place, isWanted);
  const contentType = `application/${Array.isArray(body) ? 'json' : 'merge'}-patch+json`;
  await api.demand({ method: 'PATCH', path, body, contentType });
  const tookMs = (await written).atMs - startMs;
  await pause(BETWEEN_CHANGES_MS);
  return tookMs;
}
