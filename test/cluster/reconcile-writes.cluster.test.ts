/** Verdicts over what can befall a write: conflicts, a lost Lease, a clock that is wrong, and an end at any of them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { PactoStatus } from '../../src/reconcile/api/pacto.ts';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { GATE_NAMESPACE } from './support/gate.ts';
import { pollUntil } from './support/polling.ts';
import {
  installPactoKinds,
  namespaceObject,
  pactoObject,
  pactoOf,
  pathOf,
  recordOf,
  says,
  serviceObject,
  setReady,
  sliceObject,
  untilStatus,
  withoutTimes,
} from './support/reconcile-objects.ts';
import { prepareReconciler, type ReconcilerProcess } from './support/reconcile-process.ts';
import { startHttpProxy, type HttpProxy, type PassingRequest } from './support/reconcile-proxy.ts';

const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${GATE_NAMESPACE}/leases/a4917283.pacto.io`;
const MERGE_PATCH = 'application/merge-patch+json';
const FLAGS = ['--reconciler-stabilization-seconds=2'];
/** LeaseDuration and RenewDeadline of client-go, which design decision 15 takes over. */
const RENEW_DEADLINE_MS = 10_000;

function isLease({ path }: PassingRequest): boolean {
  return path.includes('/leases');
}

/** What is written of Pactos: all but the Lease. */
function isOfPactos(request: PassingRequest): boolean {
  return request.isWrite && !isLease(request);
}

function isStatus({ method, path }: PassingRequest): boolean {
  return method === 'PUT' && /\/pactos\/[^/]+\/status/.test(path);
}

clusterSuite('verdicts over faults of writes', { versions: ['1.36'] }, () => {
  let plane: ControlPlane;
  let api: ApiClient;
  let proxy: HttpProxy;
  const running: ReconcilerProcess[] = [];

  beforeAll(async () => {
    plane = await startControlPlane({ version: '1.36' });
    api = createApiClient(plane);
    await installPactoKinds(plane, api);
    proxy = await startHttpProxy(plane);
    await plane.apply(namespaceObject());
  });
  afterEach(async () => {
    proxy.rules({});
    for (const one of running.splice(0)) await one.stop();
    await api.request({ method: 'DELETE', path: LEASE });
  });
  afterAll(async () => {
    await proxy?.close();
    await api?.close();
    await plane?.stop();
  });

  async function prepared(
    options: { readonly through?: HttpProxy; readonly shiftMs?: number } = {},
  ): Promise<ReconcilerProcess> {
    const process = await prepareReconciler({ plane, flags: FLAGS, ...options });
    running.push(process);
    return process;
  }

  /** A Service with one endpoint, and a Pacto about it. */
  async function create(name: string, ready = true): Promise<void> {
    await plane.apply([serviceObject(name), sliceObject(name, ready), pactoObject(name)]);
  }

  const merge = (path: string, body: object): Promise<unknown> =>
    api.demand({ method: 'PATCH', path, contentType: MERGE_PATCH, body });

  function since(start: number, wanted: (request: PassingRequest) => boolean): readonly PassingRequest[] {
    return proxy.requests().slice(start).filter(wanted);
  }

  it('writes in the end where somebody else writes before every one of its writes', async () => {
    let contests = 0;
    proxy.rules({
      async before(request) {
        if (!isStatus(request) || !request.path.includes('/contested/') || contests >= 6) return undefined;
        contests += 1;
        await merge(pathOf('contested'), { metadata: { annotations: { touched: String(contests) } } });
        return undefined;
      },
    });
    const reconciler = await prepared({ through: proxy });
    await reconciler.start();
    const start = proxy.requests().length;
    await create('contested');
    await create('quiet');
    await untilStatus(api, 'quiet', says('Compliant'), { timeoutMs: 3_000 });
    await untilStatus(api, 'contested', says('Compliant'));
    const puts = since(start, (one) => isStatus(one) && one.path.includes('/contested/'));
    expect([contests, puts.length]).toEqual([6, 7]);
    // Each time later: doubled, and between half and all of that.
    const pauses = puts.slice(1).map(({ atMs }, index) => atMs - (puts[index]?.atMs ?? 0));
    expect(pauses.at(-1)).toBeGreaterThan(400);
    const { revisions, events } = await recordOf(api, 'contested');
    expect(revisions).toHaveLength(1);
    expect(events.filter((event) => event.startsWith('RevisionCreated'))).toHaveLength(1);
    const { metadata } = await pactoOf(api, 'contested');
    expect(metadata?.['annotations']).toMatchObject({ touched: '6' });
  });

  describe('a Lease that is lost', () => {
    it('ends its writing at once where another holder has it, until that is gone', async () => {
      await create('lost');
      const reconciler = await prepared({ through: proxy });
      await reconciler.start();
      await untilStatus(api, 'lost', says('Compliant'));
      // In mid-reconcile: the look is done, and its write waits at the door.
      let isHeld = false;
      const taken = Promise.withResolvers<void>();
      proxy.rules({
        async before(request) {
          if (!isStatus(request) || isHeld) return undefined;
          isHeld = true;
          await taken.promise;
          return undefined;
        },
      });
      await setReady(plane, 'lost', false);
      await pollUntil('a write in progress', 20_000, () => Promise.resolve(isHeld || undefined));
      const lease = await api.demand({ method: 'GET', path: LEASE });
      const other = { holderIdentity: 'other', renewTime: '2026-01-01T00:00:00.000000Z' };
      await merge(LEASE, { spec: { ...other, leaseDurationSeconds: 15 } });
      expect(lease['spec']).not.toMatchObject({ holderIdentity: 'other' });
      await pollUntil('it to notice', 20_000, () =>
        Promise.resolve(
          reconciler.log().some(({ message }) => message === 'reconciler does not lead') || undefined,
        ),
      );
      const start = proxy.requests().length;
      taken.resolve();
      await setReady(plane, 'lost', true);
      await setReady(plane, 'lost', false);
      expect((await reconciler.verdict('shop', 'lost', '0s')).status).toBe(200);
      expect(since(start, isStatus)).toEqual([]);
      // Nobody renews it: after its time it is taken back, and what was missed is made up for.
      await untilStatus(api, 'lost', says('NonCompliant'), { timeoutMs: 40_000 });
      const acquired = proxy.requests().findLast((one) => isLease(one) && one.isWrite)?.atMs ?? 0;
      expect(acquired).toBeGreaterThan(0);
    });

    it('begins no write later than the renew deadline after the last renewal that was answered', async () => {
      await create('silent');
      const reconciler = await prepared({ through: proxy });
      await reconciler.start();
      await untilStatus(api, 'silent', says('Compliant'));
      const start = proxy.requests().length;
      // Its renewals come to nothing, and everything else works.
      let cutMs = Number.POSITIVE_INFINITY;
      proxy.rules({ before: (request) => (isLease(request) ? 'reset' : undefined) });
      cutMs = performance.now();
      let ready = false;
      const isOver = (): boolean => performance.now() > cutMs + RENEW_DEADLINE_MS + 6_000;
      while (!isOver()) {
        await setReady(plane, 'silent', ready);
        ready = !ready;
      }
      const late = since(start, isOfPactos).filter(({ atMs }) => atMs > cutMs + RENEW_DEADLINE_MS);
      expect(late.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
      // It did write until then.
      expect(since(start, isStatus).length).toBeGreaterThan(0);
      proxy.rules({});
      await setReady(plane, 'silent', true);
      await untilStatus(api, 'silent', says('Compliant'));
    });
  });

  it('is written by one of two whose clocks are 30 s apart, and handed over when that one dies', async () => {
    await create('shared');
    const ahead = await prepared({ through: proxy, shiftMs: 30_000 });
    await ahead.start();
    await untilStatus(api, 'shared', says('Compliant'));
    const late = await prepared();
    await late.start();
    // Long enough for the late one to believe that the Lease has run out, if it believed what is written there.
    await pollUntil('some renewals', 30_000, () =>
      Promise.resolve(since(0, (one) => isLease(one) && one.method === 'PUT').length >= 9 || undefined),
    );
    expect(late.log().some(({ message }) => message === 'reconciler leads')).toBe(false);
    const start = proxy.requests().length;
    await setReady(plane, 'shared', false);
    await untilStatus(api, 'shared', ({ observationWindows = [] }) => observationWindows.length === 1);
    const gone = await pactoOf(api, 'shared');
    expect(since(start, isStatus).length).toBeGreaterThan(0);
    await ahead.end('SIGKILL');
    const killedMs = performance.now();
    const status = await untilStatus(api, 'shared', says('NonCompliant'), { timeoutMs: 60_000 });
    // Nobody takes a Lease before its 15 s are over, by its own clock.
    process.stdout.write(`taken over ${String(Math.round(performance.now() - killedMs))} ms after a kill\n`);
    expect(late.log().some(({ message }) => message === 'reconciler leads')).toBe(true);
    // A start that lies in the future of the one that goes on counts from now: never sooner than the window.
    const [before] = gone.status.observationWindows ?? [];
    const [after] = status.observationWindows ?? [];
    expect(Date.parse(after?.firstObservedNegativeAt ?? '')).toBeLessThan(
      Date.parse(before?.firstObservedNegativeAt ?? ''),
    );
    expect((await recordOf(api, 'shared')).revisions).toHaveLength(1);
  });

  it('is not thrown off by a clock that jumps, neither forward nor back', async () => {
    await create('jumpy');
    const reconciler = await prepared();
    await reconciler.start();
    await untilStatus(api, 'jumpy', says('Compliant'));
    reconciler.shift(3_600_000);
    // An hour in a moment is no absence of an hour: the window starts when it is first seen.
    await setReady(plane, 'jumpy', false);
    const [window] = (await untilStatus(api, 'jumpy', hasWindow)).observationWindows ?? [];
    expect(Date.parse(window?.firstObservedNegativeAt ?? '') - Date.now()).toBeGreaterThan(3_500_000);
    await untilStatus(api, 'jumpy', says('NonCompliant'));
    reconciler.shift(-3_600_000);
    await setReady(plane, 'jumpy', true);
    await untilStatus(api, 'jumpy', says('Compliant'));
    await setReady(plane, 'jumpy', false);
    const back = await untilStatus(api, 'jumpy', says('NonCompliant'));
    expect(Date.parse(back.lastReconciledAt ?? '') - Date.now()).toBeLessThan(-3_500_000);
    expect(reconciler.log().filter(({ message }) => message === 'reconciler does not lead')).toEqual([]);
    expect((await reconciler.verdict('shop', 'jumpy', '0s')).status).toBe(200);
  });

  it('heals a window that a clock of the future left behind', async () => {
    await create('future');
    const reconciler = await prepared();
    await reconciler.start();
    await untilStatus(api, 'future', says('Compliant'));
    reconciler.shift(3_600_000);
    await setReady(plane, 'future', false);
    await untilStatus(api, 'future', hasWindow);
    reconciler.shift(0);
    await setReady(plane, 'future', false);
    await merge(pathOf('future'), {
      metadata: { annotations: { 'gate.pacto.trianalab.io/requested-at': 'now' } },
    });
    const healed = await untilStatus(api, 'future', says('NonCompliant'));
    const [window] = healed.observationWindows ?? [];
    expect(Date.parse(window?.firstObservedNegativeAt ?? '')).toBeLessThanOrEqual(Date.now());
  });

  describe('an end at any write', () => {
    /** What one life writes of a Pacto that becomes Compliant, Unknown while its window is open, and NonCompliant. */
    const WRITES = [
      /POST .*pactorevisions$/,
      /PATCH .*events/,
      /PUT .*pactorevisions.*status$/,
      /PUT .*pactos.*status$/,
      /PUT .*pactos.*status$/,
      /PATCH .*events/,
      /PUT .*pactos.*status$/,
      /PATCH .*events/,
    ];

    /** @returns the window as it was first stored. */
    async function story(name: string): Promise<unknown> {
      await create(name);
      await untilStatus(api, name, says('Compliant'), { timeoutMs: 60_000 });
      await setReady(plane, name, false);
      const { observationWindows } = await untilStatus(api, name, hasWindow, { timeoutMs: 60_000 });
      await untilStatus(api, name, says('NonCompliant'), { timeoutMs: 60_000 });
      return observationWindows;
    }

    interface End {
      readonly status: unknown;
      readonly revisions: readonly string[];
      readonly events: readonly string[];
    }

    async function endOf(name: string): Promise<End> {
      const { status } = await pactoOf(api, name);
      const { revisions, events } = await recordOf(api, name);
      const told = JSON.stringify({ status: withoutTimes(status), revisions, events: [...new Set(events)] });
      return JSON.parse(told.replaceAll(name, 'NAME').replaceAll(/-[0-9a-f]{7}(?=[ "])/g, '-HASH')) as End;
    }

    it('comes to the same as a life without one', async () => {
      const reconciler = await prepared({ through: proxy });
      await reconciler.start();
      const start = proxy.requests().length;
      await story('whole');
      const made = await pollUntil('the last event', 10_000, () => {
        const all = since(start, isOfPactos).map(
          ({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`,
        );
        return Promise.resolve(all.length >= WRITES.length ? all : undefined);
      });
      expect(made).toEqual(WRITES.map((write) => expect.stringMatching(write) as string));
      const wanted = await endOf('whole');
      expect(wanted.revisions).toHaveLength(1);
      expect(wanted.events).toHaveLength(3);
      for (const fatal of WRITES.keys()) {
        const name = `dies-at-${String(fatal)}`;
        const window = await dies(reconciler, name, fatal);
        // Of what is said the one that was under way may be lost, and nothing else; of a revision it never is.
        const least = wanted.events.length - (fatal < 5 ? 0 : 1);
        const { events, ...end } = await pollUntil(`what is said of ${name}`, 10_000, async () => {
          const now = await endOf(name);
          return now.events.length >= least ? now : undefined;
        });
        expect({ name, ...end }).toEqual({ name, status: wanted.status, revisions: wanted.revisions });
        // The streak went on where it was.
        expect((await pactoOf(api, name)).status.observationWindows).toEqual(window);
        expect(wanted.events).toEqual(expect.arrayContaining([...events]));
        expect(events.some((event) => event.startsWith('RevisionCreated'))).toBe(true);
        await api.demand({ method: 'DELETE', path: pathOf(name) });
      }
    });

    /** Killed before its write of that number leaves the process: what was written before that is all that there is. */
    async function dies(reconciler: ReconcilerProcess, name: string, fatal: number): Promise<unknown> {
      let writes = 0;
      let restarted: Promise<void> | undefined;
      proxy.rules({
        async before(request) {
          if (!isOfPactos(request) || !request.body.includes(name)) return undefined;
          writes += 1;
          if (writes !== fatal + 1) return undefined;
          await reconciler.end('SIGKILL');
          // Nobody waits for a Lease whose holder is dead: that is another test.
          await api.request({ method: 'DELETE', path: LEASE });
          restarted = reconciler.start();
          return 'reset';
        },
      });
      const window = await story(name);
      // The last write is an event, which nothing waits for.
      await pollUntil('the end at a write', 20_000, () => Promise.resolve(restarted && true));
      await restarted;
      proxy.rules({});
      await untilStatus(api, name, says('NonCompliant'));
      return window;
    }
  });
});

function hasWindow({ observationWindows = [] }: PactoStatus): boolean {
  return observationWindows.length === 1;
}
