/** An authorizer that does not do its part, from the request over HTTPS to the SubjectAccessReview and back. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createAccessReviews } from '../../src/cluster/access-reviews.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import { sendStatus } from '../support/fake-api-server.ts';
import { useRestCluster } from '../support/rest-cluster.ts';
import { until } from '../support/until.ts';
import { readerOver } from './decide-by.ts';
import {
  aBinding,
  aPolicy,
  aReview,
  responseIn,
  shop,
  webhookOf,
  type PolicyResponse,
} from './policy-webhook.ts';
import { serveWebhooks } from './served.ts';

const MAY = "authorizer.group('').resource('pods').namespace('shop').check('get')";
const fixture = useRestCluster();

function send(response: ServerResponse, status: object): true {
  response
    .writeHead(201, { 'content-type': 'application/json' })
    .end(JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status }));
  return true;
}

interface Site {
  readonly ask: (timeout?: string) => Promise<PolicyResponse>;
  /** Of the metrics, without comments. */
  readonly samples: (name: string) => Promise<readonly string[]>;
  readonly lines: readonly string[];
}

async function site(expression: string, failurePolicy: string): Promise<Site> {
  const metrics = createMetrics({
    webhooks: ['policies'],
    codes: Object.keys(ERROR_CODES),
    build: { version: '0', revision: '0' },
  });
  const lines: string[] = [];
  const webhook = webhookOf({
    objects: [aPolicy('p', { failurePolicy, validations: [{ expression }] }), aBinding('p')],
    reviewAccess: createAccessReviews({
      cluster: fixture.cluster,
      clock: systemClock,
      report: (facts) => metrics.liveCall(facts),
    }),
  });
  const served = await serveWebhooks([webhook], {
    reader: readerOver([shop]),
    metrics,
    log: createLog({
      level: 'info',
      format: 'json',
      destination: { write: (line) => void lines.push(line) },
    }),
  });
  return {
    lines,
    async ask(timeout = '10s') {
      const { text } = await served.ask(`/validate/policies/p?timeout=${timeout}`, { body: aReview() });
      return responseIn(text);
    },
    async samples(name) {
      const { body } = await metrics.scrape();
      return body.split('\n').filter((line) => line.startsWith(name));
    },
  };
}

const faults: [string, string, () => unknown, string, string][] = [
  ['hangs', '400ms', () => fixture.server.script(() => true), 'GATE_DEADLINE_EXCEEDED', 'abandoned'],
  [
    'sends its answer byte by byte, for ever',
    '400ms',
    () =>
      fixture.server.script((_request, response) => {
        response.writeHead(201, { 'content-type': 'application/json' });
        const drip = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(drip));
        return true;
      }),
    'GATE_DEADLINE_EXCEEDED',
    'abandoned',
  ],
  [
    'answers 500',
    '10s',
    () => fixture.server.script((_request, response) => sendStatus(response, 500, 'InternalError')),
    'GATE_CLUSTER_UNREACHABLE',
    'failed',
  ],
  [
    'refuses our account',
    '10s',
    () => fixture.server.script((_request, response) => sendStatus(response, 403, 'Forbidden')),
    'GATE_CLUSTER_FORBIDDEN',
    'failed',
  ],
  [
    'answers with no review',
    '10s',
    () =>
      fixture.server.script((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>allowed: true</html>');
        return true;
      }),
    'GATE_CLUSTER_ANSWER',
    'failed',
  ],
  [
    'answers with a review that says neither yes nor no',
    '10s',
    () => fixture.server.script((_request, response) => send(response, { allowed: 'true' })),
    'GATE_CLUSTER_ANSWER',
    'failed',
  ],
  ['is away', '10s', () => fixture.server.stop(), 'GATE_CLUSTER_UNREACHABLE', 'failed'],
];

// Each would be true, if it were not for the question that has no answer.
const expressions = [`${MAY}.allowed() || true`, `!${MAY}.allowed()`, `!(${MAY}.allowed() && false)`];

describe('an authorizer', () => {
  it.each(faults)(
    'that %s is no answer: the failure policy is, aloud',
    async (_what, timeout, act, code, outcome) => {
      await act();
      for (const expression of expressions) {
        const closed = await site(expression, 'Fail');
        const denied = await closed.ask(timeout);
        expect(denied).toMatchObject({ allowed: false, status: { code: 500, reason: 'InternalError' } });
        expect(denied.status?.message).toContain(`[${code}]`);
        const open = await site(expression, 'Ignore');
        const allowed = await open.ask(timeout);
        expect(allowed.allowed).toBe(true);
        expect(allowed.warnings?.join()).toContain(`not enforced on this request: `);
        expect(allowed.warnings?.join()).toContain(`[${code}]`);
        expect(allowed.auditAnnotations?.['failed-open']).toContain(`[${code}]`);
        for (const [under, verdict] of [
          [closed, 'failed-closed'],
          [open, 'failed-open'],
        ] as const) {
          expect(await under.samples('pacto_gate_failures_total')).toEqual([
            `pacto_gate_failures_total{webhook="policies",outcome="${verdict}",code="${code}"} 1`,
          ]);
          expect(await under.samples('pacto_gate_live_calls_total')).toEqual([
            `pacto_gate_live_calls_total{call="access",outcome="${outcome}"} 1`,
          ]);
          expect(JSON.parse(under.lines[0] ?? '')).toMatchObject({ verdict, codes: [code] });
        }
      }
    },
  );

  it('that hangs is given up at its share, not at the end', async () => {
    fixture.server.script(() => true);
    const { ask } = await site(`${MAY}.allowed()`, 'Fail');
    const startMs = systemClock.monotonic();
    expect((await ask('2s')).status?.message).toMatch(/did not say within 0\.[78]\d* s/);
    expect(systemClock.monotonic() - startMs).toBeLessThan(1_600);
  });

  it('that answers late, but in time, has answered', async () => {
    const waiting: ServerResponse[] = [];
    fixture.server.script((_request, response) => waiting.push(response) > 0);
    const { ask } = await site(`${MAY}.allowed()`, 'Fail');
    for (const allowed of [true, false]) {
      const answer = ask();
      await until('it is asked', () => waiting.length > 0);
      send(waiting.shift()!, { allowed });
      expect(await answer).toMatchObject({ allowed });
    }
  });

  it('that answers after the end changes nothing', async () => {
    const waiting: ServerResponse[] = [];
    fixture.server.script((_request, response) => waiting.push(response) > 0);
    const { ask, lines } = await site(`${MAY}.allowed()`, 'Fail');
    const denied = await ask('1s');
    expect(denied.status?.message).toContain('[GATE_DEADLINE_EXCEEDED]');
    send(waiting.shift()!, { allowed: true });
    const next = ask('10s');
    await until('it is asked anew', () => waiting.length > 0);
    send(waiting.shift()!, { allowed: false });
    expect(await next).toMatchObject({ allowed: false, status: { code: 422 } });
    expect(lines).toHaveLength(2);
  });

  it.each<[string, object, boolean]>([
    ['an error is no', { allowed: false, evaluationError: 'x' }, false],
    ['an error beside a yes is a yes', { allowed: true, evaluationError: 'x' }, true],
    ['yes and no at once is no', { allowed: true, denied: true }, false],
    ['no opinion is no', { allowed: false }, false],
  ])('that says so in its review has answered: %s', async (_what, status, allowed) => {
    fixture.server.script((_request, response) => send(response, status));
    const { ask, samples } = await site(`${MAY}.allowed()`, 'Ignore');
    const answer = await ask();
    expect(answer).toMatchObject({ allowed });
    expect(answer.auditAnnotations).toBeUndefined();
    expect(await samples('pacto_gate_failures_total')).toEqual([]);
  });
});
