import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { createMetrics, type Metrics } from '../src/metrics.ts';

const options = {
  webhooks: ['node-identity'],
  codes: ['GATE_INTERNAL', 'NODE_FOREIGN'],
  build: { version: '1.2.3', revision: 'abc' },
};

/** Samples of the scrape whose name begins so, without comments. */
async function samples(metrics: Metrics, prefix: string): Promise<readonly string[]> {
  const { body } = await metrics.scrape();
  return body.split('\n').filter((line) => line.startsWith(prefix));
}

const decision = { webhook: 'node-identity', operation: 'UPDATE', durationSeconds: 0.002 } as const;

describe('decisions', () => {
  it('are counted by webhook, operation, verdict and code', async () => {
    const metrics = createMetrics(options);
    metrics.decision({ ...decision, verdict: 'allowed' });
    metrics.decision({ ...decision, verdict: 'allowed' });
    metrics.decision({ ...decision, verdict: 'denied', code: 'NODE_FOREIGN' });
    expect(await samples(metrics, 'pacto_gate_decisions_total')).toEqual([
      'pacto_gate_decisions_total{webhook="node-identity",operation="UPDATE",verdict="allowed",code=""} 2',
      'pacto_gate_decisions_total{webhook="node-identity",operation="UPDATE",verdict="denied",code="NODE_FOREIGN"} 1',
    ]);
    expect(await samples(metrics, 'pacto_gate_decision_duration_seconds_bucket{le="0.001"')).toEqual([
      'pacto_gate_decision_duration_seconds_bucket{le="0.001",webhook="node-identity"} 0',
    ]);
    expect(await samples(metrics, 'pacto_gate_decision_duration_seconds_bucket{le="0.0025"')).toEqual([
      'pacto_gate_decision_duration_seconds_bucket{le="0.0025",webhook="node-identity"} 3',
    ]);
    expect(await samples(metrics, 'pacto_gate_failures_total')).toEqual([]);
  });

  it('that failed are counted apart, open and closed', async () => {
    const metrics = createMetrics(options);
    metrics.decision({ ...decision, verdict: 'failed-open', code: 'GATE_INTERNAL' });
    metrics.decision({ ...decision, verdict: 'failed-closed', code: 'GATE_INTERNAL' });
    expect(await samples(metrics, 'pacto_gate_failures_total')).toEqual([
      'pacto_gate_failures_total{webhook="node-identity",outcome="failed-open",code="GATE_INTERNAL"} 1',
      'pacto_gate_failures_total{webhook="node-identity",outcome="failed-closed",code="GATE_INTERNAL"} 1',
    ]);
  });

  it('cannot grow the labels, whatever a caller sends', async () => {
    const metrics = createMetrics(options);
    for (let n = 0; n < 100; n++) {
      const any = String(n);
      metrics.decision({ webhook: any, operation: any, verdict: 'denied', code: any, durationSeconds: 1 });
      metrics.refusal(any);
    }
    expect(await samples(metrics, 'pacto_gate_decisions_total')).toEqual([
      'pacto_gate_decisions_total{webhook="other",operation="other",verdict="denied",code="other"} 100',
    ]);
    expect(await samples(metrics, 'pacto_gate_refusals_total')).toEqual([
      'pacto_gate_refusals_total{code="other"} 100',
    ]);
  });
});

describe('violations of policies', () => {
  const denied = { ...decision, webhook: 'policies', verdict: 'denied' } as const;
  const violation = { policy: 'p', binding: 'b', evaluation: 'deny', actions: ['Deny', 'Audit'] } as const;

  it('are counted by what came of them', async () => {
    const metrics = createMetrics(options);
    metrics.decision({ ...denied, violations: [violation, { ...violation, actions: ['Deny', 'Later'] }] });
    metrics.decision({ ...denied, violations: [{ policy: 'p', evaluation: 'configuration', actions: [] }] });
    expect(await samples(metrics, 'pacto_gate_policy_violations_total')).toEqual([
      'pacto_gate_policy_violations_total{policy="p",binding="b",evaluation="deny",action="deny"} 2',
      'pacto_gate_policy_violations_total{policy="p",binding="b",evaluation="deny",action="audit"} 1',
      'pacto_gate_policy_violations_total{policy="p",binding="b",evaluation="deny",action="other"} 1',
      'pacto_gate_policy_violations_total{policy="p",binding="",evaluation="configuration",action="ignored"} 1',
    ]);
  });

  it('cannot grow the labels, however many policies come and go', async () => {
    const metrics = createMetrics(options);
    const violations = Array.from({ length: 1_200 }, (_, n) => ({ ...violation, policy: `p${String(n)}` }));
    metrics.decision({ ...denied, violations });
    metrics.decision({ ...denied, violations: [{ ...violation, policy: 'p7' }] });
    const found = await samples(metrics, 'pacto_gate_policy_violations_total');
    expect(found).toHaveLength(2 * 1_001);
    expect(found.filter((line) => line.includes('"other"'))).toEqual([
      'pacto_gate_policy_violations_total{policy="other",binding="other",evaluation="deny",action="deny"} 200',
      'pacto_gate_policy_violations_total{policy="other",binding="other",evaluation="deny",action="audit"} 200',
    ]);
    expect(found.find((line) => line.includes('"p7"'))).toMatch(/ 2$/);
  });
});

describe('live calls', () => {
  it('are counted by what they ask and how they ended, and timed unless they were refused', async () => {
    const metrics = createMetrics(options);
    metrics.liveCall({ call: 'access', outcome: 'answered', durationSeconds: 0.002 });
    metrics.liveCall({ call: 'access', outcome: 'refused', durationSeconds: 0 });
    metrics.liveCall({ call: 'list', outcome: 'failed', durationSeconds: 2 });
    expect(await samples(metrics, 'pacto_gate_live_calls_total')).toEqual([
      'pacto_gate_live_calls_total{call="access",outcome="answered"} 1',
      'pacto_gate_live_calls_total{call="access",outcome="refused"} 1',
      'pacto_gate_live_calls_total{call="list",outcome="failed"} 1',
    ]);
    expect(await samples(metrics, 'pacto_gate_live_call_duration_seconds_count')).toEqual([
      'pacto_gate_live_call_duration_seconds_count{call="access"} 1',
      'pacto_gate_live_call_duration_seconds_count{call="list"} 1',
    ]);
  });
});

const NO_INSTALLER = {
  leads: false,
  enforced: { Native: 0, Webhook: 1, None: 0 },
  problems: 0,
  rounds: { done: 1, contested: 2, failed: 0 },
};

describe('what others count', () => {
  it('is read at each scrape', async () => {
    const metrics = createMetrics(options);
    const load = { running: 1, queued: 2, bytesInFlight: 3, refused: 4 };
    let lost = 0;
    let expiry: number | undefined = 1_900_000_000;
    metrics.observeLoad(() => load);
    metrics.observeLostLines(() => lost);
    metrics.observeTlsExpiry('admission', () => expiry);
    const pods = { kind: 'Pod', namespace: 'agents', objects: 3, synced: true, silentSeconds: 12.5 };
    metrics.observeWatches(() => [pods]);
    metrics.observePolicies(() => ({ policies: 64, problems: 2 }));
    metrics.observeInstaller(() => ({ ...NO_INSTALLER, leads: true, problems: 3 }));
    metrics.observeConnections('admission', () => ({ connections: 5, dropped: 6, failedHandshakes: 7 }));
    metrics.observeConnections('metrics', () => ({ connections: 1, dropped: 0, failedHandshakes: 0 }));
    const expected = [
      'pacto_gate_requests_in_flight 1',
      'pacto_gate_requests_queued 2',
      'pacto_gate_request_bytes_in_flight 3',
      'pacto_gate_requests_shed_total 4',
      'pacto_gate_log_lines_lost_total 0',
      'pacto_gate_tls_certificate_expiry_timestamp_seconds{listener="admission"} 1900000000',
      'pacto_gate_watch_objects{kind="Pod",namespace="agents"} 3',
      'pacto_gate_watch_synced{kind="Pod",namespace="agents"} 1',
      'pacto_gate_watch_silent_seconds{kind="Pod",namespace="agents"} 12.5',
      'pacto_gate_policies 64',
      'pacto_gate_policy_problems 2',
      'pacto_gate_installer_leads 1',
      'pacto_gate_installer_problems 3',
      'pacto_gate_installer_policies{by="Webhook"} 1',
      'pacto_gate_installer_rounds_total{outcome="contested"} 2',
      'pacto_gate_connections{listener="admission"} 5',
      'pacto_gate_connections{listener="metrics"} 1',
      'pacto_gate_connections_dropped_total{listener="admission"} 6',
      'pacto_gate_tls_handshake_failures_total{listener="admission"} 7',
    ];
    expect(await samples(metrics, 'pacto_gate_')).toEqual(expect.arrayContaining(expected));
    load.running = 10;
    lost = 3;
    expiry = undefined;
    const again = await samples(metrics, 'pacto_gate_');
    expect(again).toEqual(
      expect.arrayContaining(['pacto_gate_requests_in_flight 10', 'pacto_gate_log_lines_lost_total 3']),
    );
    expect(again).toContain('pacto_gate_requests_shed_total 4');
    expect(again.some((line) => line.startsWith('pacto_gate_tls_certificate_expiry'))).toBe(false);
  });

  it('holds what is running and its process', async () => {
    const metrics = createMetrics(options);
    expect(await samples(metrics, 'pacto_gate_build_info')).toEqual([
      `pacto_gate_build_info{version="1.2.3",revision="abc",node="${process.version}"} 1`,
    ]);
    for (const name of ['resident_memory_bytes', 'heap_used_bytes', 'cpu_seconds_total', 'uptime_seconds']) {
      const [sample] = await samples(metrics, `pacto_gate_process_${name}`);
      expect(Number(sample?.split(' ')[1])).toBeGreaterThan(0);
    }
  });
});

const NO_RECONCILER = { leads: false, waiting: 0, running: 0, delayed: 0, done: 0, failed: 0 };

describe('docs/metrics-and-logs.md', () => {
  it('names every metric, and no other', async () => {
    const metrics = createMetrics(options);
    metrics.observeLoad(() => ({ running: 0, queued: 0, bytesInFlight: 0, refused: 0 }));
    metrics.observeLostLines(() => 0);
    metrics.observeTlsExpiry('admission', () => 1);
    metrics.observeConnections('admission', () => ({ connections: 0, dropped: 0, failedHandshakes: 0 }));
    metrics.observeWatches(() => []);
    metrics.observePolicies(() => ({ policies: 0, problems: 0 }));
    metrics.observeInstaller(() => NO_INSTALLER);
    metrics.observePactos([], () => []);
    metrics.observeReconciler(() => NO_RECONCILER);
    const { body } = await metrics.scrape();
    const served = [...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
    const page = readFileSync('docs/metrics-and-logs.md', 'utf8');
    const documented = [...page.matchAll(/^\| `(pacto_\w+)`/gm)].map(([, name = '']) => name);
    expect(documented.toSorted()).toEqual(served.toSorted());
  });
});

describe('a registry', () => {
  it('is its own: two in one process share nothing', async () => {
    const [first, second] = [createMetrics(options), createMetrics(options)];
    first.refusal('GATE_INTERNAL');
    expect(await samples(first, 'pacto_gate_refusals_total')).toHaveLength(1);
    expect(await samples(second, 'pacto_gate_refusals_total')).toHaveLength(0);
  });

  it('has a help line for every metric, and the media type of Prometheus', async () => {
    const { body, contentType } = await createMetrics(options).scrape();
    expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/);
    const named = [...body.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]);
    const helped = [...body.matchAll(/^# HELP (\S+) \S/gm)].map((match) => match[1]);
    expect(helped).toEqual(named);
    expect(named.every((name) => name?.startsWith('pacto_gate_'))).toBe(true);
  });
});
