/** The serving certificate is exchanged under load, by another authority, and no write fails. */
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AGENT_NAMESPACE } from '../support/builders.ts';
import { agentBinding, kubeletToken, LEASES, leaseObject } from './support/agents.ts';
import type { ApiAnswer } from './support/api-client.ts';
import { createAuthority, type Authority } from './support/certificates.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { applyEntries, servingPair } from './support/gate.ts';
import { pollUntil } from './support/polling.ts';
import { startSite, type Site } from './support/site.ts';

/** Writes between two steps of an exchange: enough to fail if anything were wrong for a moment. */
const WRITES_BETWEEN = 40;

clusterSuite('certificates', { versions: ['1.36'] }, () => {
  let site: Site;
  let token = '';
  let authority: Authority;

  beforeAll(async () => {
    site = await startSite({ plane: { version: '1.36' } });
    token = await kubeletToken(site.api, 'node-a');
    authority = site.gate.authority;
    await site.api.demand({ method: 'POST', path: LEASES, token, body: leaseObject('node-a') });
  });
  afterAll(() => site?.stop());

  const renew = (node = 'node-a'): Promise<ApiAnswer> =>
    site.api.request({
      method: 'PATCH',
      path: `${LEASES}/${node}`,
      token,
      contentType: 'application/merge-patch+json',
      body: { spec: { leaseDurationSeconds: 41 } },
    });
  /** Of the certificate that a new connection is shown. */
  function servedSerial(): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({
        host: '127.0.0.1',
        port: Number(new URL(site.gate.url).port),
        rejectUnauthorized: false,
      });
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
        socket.destroy();
      });
    });
  }
  const serialOf = (pem: string): string => new X509Certificate(pem).serialNumber;
  const untilServed = (pem: string): Promise<true> =>
    pollUntil('the new certificate', 30_000, async () =>
      (await servedSerial()) === serialOf(pem) ? true : undefined,
    );

  /**
   * Publishes a bundle and waits until the API server acts on it. That is seen by what else is new in the entries: they
   * reach one more namespace, in which our server allows nothing.
   */
  async function trust(ca: string, namespace: string): Promise<void> {
    await site.plane.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      agentBinding(namespace),
    ]);
    const flags = [`--identity-namespaces=${AGENT_NAMESPACE},${namespace}`];
    await applyEntries(site.plane, site.gate, { ca, flags });
    await pollUntil('the new entries to act', 30_000, async () => {
      const { body } = await site.api.request({
        method: 'POST',
        path: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases?dryRun=All`,
        token,
        body: leaseObject('node-a', 'node-a', namespace),
      });
      return body.message?.includes('[NODE_NAMESPACE_FOREIGN]') === true ? true : undefined;
    });
  }

  /** Writes as fast as the answers come, until it is told to end. */
  async function writesDuring(
    steps: (written: (count: number) => Promise<void>) => Promise<void>,
  ): Promise<ApiAnswer[]> {
    const answers: ApiAnswer[] = [];
    const over = new AbortController();
    const writer = async (): Promise<void> => {
      while (!over.signal.aborted) {
        answers.push(await renew());
        await pause(2);
      }
    };
    const writers = [writer(), writer()];
    try {
      await steps(async (count) => {
        const end = answers.length + count;
        await pollUntil(`${count} more writes`, 60_000, () =>
          Promise.resolve(answers.length >= end || undefined),
        );
      });
    } finally {
      over.abort();
      await Promise.all(writers);
    }
    return answers;
  }

  it('loses no write while authority and certificate are exchanged, the new authority first', async () => {
    const next = await createAuthority('next-webhook-ca');
    const pair = await servingPair(next);
    const answers = await writesDuring(async (written) => {
      await written(WRITES_BETWEEN);
      // Both authorities are trusted before the certificate changes, and the old one goes last. As files are put
      // together by hand: without a newline between them.
      expect(authority.certificate.endsWith('\n')).toBe(false);
      await trust(authority.certificate + next.certificate, 'probe-1');
      await written(WRITES_BETWEEN);
      site.gate.mount.publish(pair);
      await untilServed(pair.certPem);
      await written(WRITES_BETWEEN);
      await trust(next.certificate, 'probe-2');
      await written(WRITES_BETWEEN);
    });
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers.length).toBeGreaterThanOrEqual(4 * WRITES_BETWEEN);
    authority = next;
    process.stdout.write(
      `${answers.length} writes during the exchange of certificate and authority, 0 failed\n`,
    );
  });

  it('loses no write over ten more exchanges below the same authority', async () => {
    const answers = await writesDuring(async (written) => {
      for (let exchange = 0; exchange < 10; exchange++) {
        const pair = await servingPair(authority);
        site.gate.mount.publish(pair);
        await untilServed(pair.certPem);
        await written(10);
      }
    });
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    process.stdout.write(`${answers.length} writes over ten exchanges, 0 failed\n`);
  });

  it('keeps the old pair and says so when a key does not match its certificate', async () => {
    const before = await servedSerial();
    const errors = (): number => site.gate.log().filter(({ level }) => level === 'error').length;
    const errorsBefore = errors();
    const [one, other] = [await servingPair(authority), await servingPair(authority)];
    const answers = await writesDuring(async (written) => {
      site.gate.mount.publish({ certPem: one.certPem, keyPem: other.keyPem });
      await pollUntil('the log to say so', 30_000, () =>
        Promise.resolve(errors() > errorsBefore || undefined),
      );
      await written(WRITES_BETWEEN);
    });
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await servedSerial()).toBe(before);
    expect(site.gate.log().findLast(({ level }) => level === 'error')).toMatchObject({
      message: 'certificate not taken',
      err: expect.objectContaining({ code: 'GATE_TLS_PAIR' }) as unknown,
    });
    // The next good pair is taken as if nothing had been.
    site.gate.mount.publish(one);
    await untilServed(one.certPem);
    expect((await renew()).status).toBe(200);
  });

  it('still denies afterwards', async () => {
    const lease = leaseObject('node-b');
    const { status, body } = await site.api.request({ method: 'POST', path: LEASES, token, body: lease });
    expect(status).toBe(403);
    expect(body.message).toContain('[NODE_NAME_MISMATCH]');
  });
});
