/** Verdicts beside Pactos that are a burden: contracts as large as the API server takes, and a registry that nobody reaches. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { pollUntil } from './support/polling.ts';
import {
  contract,
  installPactoKinds,
  namespaceObject,
  NAMESPACE,
  pactoObject,
  pactoOf,
  says,
  serviceObject,
  setReady,
  sliceObject,
  untilStatus,
} from './support/reconcile-objects.ts';
import { prepareReconciler, type ReconcilerProcess } from './support/reconcile-process.ts';

const PACTOS = `/apis/pacto.trianalab.io/v1alpha1/namespaces/${NAMESPACE}/pactos`;
const CROWD = 500;
const MIB = 1024 * 1024;

/** A contract of a MiB, of one kind of thing. */
const LARGE: readonly (readonly [string, () => string])[] = [
  [
    'interfaces',
    () =>
      `interfaces:\n${lines((n) => `- {name: interface-${n}, type: openapi, ref: interfaces/${n}.yaml}\n`)}`,
  ],
  [
    'dependencies',
    () =>
      `dependencies:\n${lines((n) => `- {name: d-${n}, ref: "oci://registry.test/d-${n}:1.0.0", required: true, compatibility: "^1.0.0"}\n`)}`,
  ],
  ['metadata', () => `metadata:\n${lines((n) => `  key-${n}: ${'x'.repeat(80)}\n`)}`],
  ['one text', () => `metadata:\n  long: "${'x'.repeat(MIB - 200)}"\n`],
];

function lines(line: (number: number) => string): string {
  let text = '';
  for (let number = 0; text.length < MIB - 1_000; number += 1) text += line(number);
  return text;
}

clusterSuite('verdicts beside a burden', { versions: ['1.36'] }, () => {
  let plane: ControlPlane;
  let api: ApiClient;
  let reconciler: ReconcilerProcess;
  let registry: Server;
  let dialled = 0;
  let mode: 'reset' | 'silent' = 'reset';

  const host = (): string => `127.0.0.1:${String((registry.address() as AddressInfo).port)}`;

  beforeAll(async () => {
    plane = await startControlPlane({ version: '1.36' });
    api = createApiClient(plane, 8);
    await installPactoKinds(plane, api);
    await plane.apply([
      namespaceObject(),
      serviceObject('web'),
      sliceObject('web', true),
      pactoObject('web'),
    ]);
    registry = createServer((socket) => {
      dialled += 1;
      socket.on('error', () => undefined);
      if (mode === 'reset') socket.resetAndDestroy();
    }).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    reconciler = await prepareReconciler({
      plane,
      flags: [
        '--reconciler-stabilization-seconds=1',
        '--registry-allow-addresses=127.0.0.1',
        `--registry-insecure=${host()}`,
      ],
    });
    await reconciler.start();
    await untilStatus(api, 'web', says('Compliant'));
  });
  afterAll(async () => {
    await reconciler?.stop();
    registry?.close();
    await api?.close();
    await plane?.stop();
  });

  /** Asks for the verdict of another Pacto again and again. @returns the longest wait, milliseconds. */
  async function askMeanwhile(work: () => Promise<unknown>): Promise<number> {
    const progress = { isOver: false };
    let longestMs = 0;
    const working = work().finally(() => {
      progress.isOver = true;
    });
    // Not faster than callers are proved.
    await pollUntil('the end of it', 120_000, async () => {
      const startMs = performance.now();
      const answer = await reconciler.verdict(NAMESPACE, 'web', '0s');
      longestMs = Math.max(longestMs, performance.now() - startMs);
      expect(answer.text).toContain('contractStatus');
      return progress.isOver ? true : undefined;
    });
    await working;
    return Math.round(longestMs);
  }

  it.each(LARGE)('is said of a contract of a MiB of %s, while others are answered', async (what, more) => {
    const name = `large-${what.replace(' ', '-')}`;
    const inline = contract(name, { api: false, more: more() });
    expect(Buffer.byteLength(inline)).toBeGreaterThan(0.99 * MIB);
    const startMs = performance.now();
    const longestMs = await askMeanwhile(async () => {
      await api.demand({
        method: 'POST',
        path: PACTOS,
        body: pactoObject(name, { contractRef: { inline } }),
      });
      await untilStatus(api, name, ({ contractStatus }) => contractStatus !== undefined, {
        timeoutMs: 60_000,
      });
    });
    const { status } = await pactoOf(api, name);
    const tookMs = Math.round(performance.now() - startMs);
    process.stdout.write(
      `${what}: ${String(status.contractStatus)} after ${String(tookMs)} ms, others waited ${String(longestMs)} ms; ${String(JSON.stringify(status).length)} bytes\n`,
    );
    expect(longestMs).toBeLessThan(1_000);
    expect((await reconciler.verdict(NAMESPACE, name, '0s')).status).toBe(200);
    expect(reconciler.ending()).toBeUndefined();
    await api.demand({ method: 'DELETE', path: `${PACTOS}/${name}` });
  });

  async function createCrowd(prefix: string): Promise<void> {
    for (let from = 0; from < CROWD; from += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, index) => {
          const name = `${prefix}-${String(from + index)}`;
          const contractRef = { oci: `oci://${host()}/team/${name}:1.0.0` };
          return api.demand({ method: 'POST', path: PACTOS, body: pactoObject(name, { contractRef }) });
        }),
      );
  }

  async function saidOf(prefix: string): Promise<number> {
    const list = await api.demand({ method: 'GET', path: PACTOS });
    const items = list['items'] as readonly {
      metadata: { name: string };
      status?: { contractStatus?: string };
    }[];
    return items.filter(
      ({ metadata, status }) => metadata.name.startsWith(prefix) && status?.contractStatus === 'Unknown',
    ).length;
  }

  /** How long it takes until a change is in the status of the Pacto that has no part in it. */
  async function changeMs(): Promise<number> {
    const startMs = performance.now();
    await setReady(plane, 'web', false);
    await untilStatus(api, 'web', says('NonCompliant'), { timeoutMs: 20_000 });
    await setReady(plane, 'web', true);
    await untilStatus(api, 'web', says('Compliant'), { timeoutMs: 20_000 });
    return Math.round(performance.now() - startMs);
  }

  it('is said of 500 Pactos whose registry breaks every connection, in bounded attempts', async () => {
    mode = 'reset';
    const quietMs = await changeMs();
    const startMs = performance.now();
    await createCrowd('reset');
    const busyMs = await changeMs();
    const longestMs = await askMeanwhile(() =>
      pollUntil('a verdict on each', 120_000, async () =>
        (await saidOf('reset')) === CROWD ? true : undefined,
      ),
    );
    const tookMs = Math.round(performance.now() - startMs);
    const first = dialled;
    process.stdout.write(
      `reset: ${String(first)} connections, ${String(tookMs)} ms; a change ${String(quietMs)} ms quiet, ${String(busyMs)} ms meanwhile; others waited ${String(longestMs)} ms\n`,
    );
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(CROWD);
    expect(busyMs).toBeLessThan(quietMs + 5_000);
    expect(longestMs).toBeLessThan(1_000);
    // And then it is left alone until the next look is due.
    const beforeMs = performance.now();
    await pollUntil('five quiet seconds', 20_000, () =>
      Promise.resolve(performance.now() - beforeMs > 5_000 || undefined),
    );
    expect(dialled - first).toBeLessThan(CROWD / 5);
  });

  it('is said of others while 500 Pactos wait for a registry that never answers', async () => {
    await Promise.all(
      Array.from({ length: CROWD }, (_, index) =>
        api.request({ method: 'DELETE', path: `${PACTOS}/reset-${String(index)}` }),
      ),
    );
    mode = 'silent';
    const quietMs = await changeMs();
    await createCrowd('silent');
    const busyMs = await changeMs();
    process.stdout.write(`silent: a change ${String(quietMs)} ms quiet, ${String(busyMs)} ms meanwhile\n`);
    expect(busyMs).toBeLessThan(quietMs + 5_000);
    const startMs = performance.now();
    expect((await reconciler.verdict(NAMESPACE, 'web', '0s')).status).toBe(200);
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });
});
