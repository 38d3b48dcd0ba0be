import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addUpstreamOptions, translateUpstream, UPSTREAM_FLAGS } from '../../src/cli/upstream.ts';
import { configKeys } from '../../src/config-keys.ts';

/** Flags of the upstream operator (docs/configuration.md shows what becomes of each). */
const UPSTREAM = `metrics-bind-address metrics-secure metrics-cert-path metrics-cert-name metrics-cert-key webhook-cert-path
webhook-cert-name webhook-cert-key enable-http2 health-probe-bind-address leader-elect watch-namespace
stabilization-window enable-probing enable-metrics-observation interface-name-match-discovery enable-dashboard
dashboard-oci-secret dashboard-oci-secrets dashboard-cpu-request dashboard-cpu-limit dashboard-memory-request
dashboard-memory-limit dashboard-trace-source enable-evidence-server evidence-subject evidence-trust-secret
evidence-credentials-secret evidence-cpu-request evidence-cpu-limit evidence-memory-request evidence-memory-limit
kubeconfig zap-devel zap-encoder zap-log-level zap-stacktrace-level zap-time-encoding node-agent-image-pull-secret`;

function translate(...argv: string[]): { set: Record<string, string>; refused: string[] } {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  const given = addUpstreamOptions(command);
  command.parse(argv, { from: 'user' });
  const { flags, refused } = translateUpstream(given);
  for (const error of refused) expect(error.code).toBe('GATE_CONFIG_UPSTREAM');
  return {
    set: Object.fromEntries(flags.map(({ path, value }) => [path, value])),
    refused: refused.map((error) => error.message),
  };
}

describe('upstream flags', () => {
  it('are all known', () => {
    expect(UPSTREAM_FLAGS.map((row) => row.name).toSorted()).toEqual(UPSTREAM.split(/\s+/).toSorted());
  });

  it.each([
    [['--kubeconfig', 'k'], { 'cluster.kubeconfig': 'k' }],
    [['--kubeconfig='], {}],
    [['--health-probe-bind-address', ':8082'], { 'health.port': '8082' }],
    [['--health-probe-bind-address=[::1]:8082'], { 'health.host': '::1', 'health.port': '8082' }],
    [['--metrics-bind-address', '0'], { 'metrics.enabled': 'false' }],
    [['--metrics-bind-address', '127.0.0.1:8443'], { 'metrics.host': '127.0.0.1', 'metrics.port': '8443' }],
    [['--metrics-secure'], { 'metrics.plain': 'false' }],
    [['--metrics-secure=false'], { 'metrics.plain': 'true' }],
    [
      ['--webhook-cert-path', '/certs'],
      { 'tls.certFile': '/certs/tls.crt', 'tls.keyFile': '/certs/tls.key' },
    ],
    [
      ['--webhook-cert-key', 'k', '--webhook-cert-path', '/certs', '--webhook-cert-name', 'c'],
      { 'tls.certFile': '/certs/c', 'tls.keyFile': '/certs/k' },
    ],
    [['--webhook-cert-name', 'c'], {}],
    [['--webhook-cert-path='], {}],
    [
      ['--enable-http2=false', '--leader-elect=False', '--enable-probing=0'],
      { 'reconciler.probing': 'false' },
    ],
    [['--leader-elect'], {}],
    [['--enable-probing'], { 'reconciler.probing': 'true' }],
    [['--enable-metrics-observation'], { 'reconciler.metricsObservation': 'true' }],
    [['--interface-name-match-discovery'], { 'reconciler.nameMatchDiscovery': 'true' }],
    [['--watch-namespace=apps'], { 'reconciler.namespaces': 'apps' }],
    [['--stabilization-window=2m'], { 'reconciler.stabilizationSeconds': '120' }],
    [['--stabilization-window=1h2m3s'], { 'reconciler.stabilizationSeconds': '3723' }],
    [['--stabilization-window=0'], { 'reconciler.stabilizationSeconds': '0' }],
    [['--watch-namespace=', '--metrics-cert-path='], {}],
    [['--zap-log-level', 'error'], { 'log.level': 'error' }],
    [['--zap-log-level', '2'], { 'log.level': 'debug' }],
    [['--zap-log-level', 'panic'], { 'log.level': 'error' }],
    [['--zap-encoder', 'console'], { 'log.format': 'pretty' }],
    [['--zap-encoder', 'json'], { 'log.format': 'json' }],
    [['--zap-devel'], { 'log.level': 'debug', 'log.format': 'pretty' }],
    [['--zap-devel', '--zap-encoder=json'], { 'log.level': 'debug', 'log.format': 'json' }],
    [['--zap-devel=false'], {}],
    [['--zap-time-encoding', 'rfc3339'], {}],
  ])('accepts %j', (argv, set) => {
    expect(translate(...argv)).toEqual({ set, refused: [] });
  });

  it.each([
    ['--enable-http2', 'not offered'],
    ['--health-probe-bind-address=0', 'always served'],
    ['--health-probe-bind-address=8081', 'need host:port'],
    ['--metrics-cert-path=/certs', 'tls.certFile'],
    ['--stabilization-window=500ms', 'whole seconds'],
    ['--stabilization-window=soon', 'whole seconds'],
    ['--stabilization-window=', 'whole seconds'],
    ['--enable-dashboard', 'no dashboard'],
    ['--dashboard-oci-secret=s', 'no dashboard'],
    ['--evidence-subject=oci://r@sha256:0', 'no evidence server'],
    ['--zap-time-encoding=epoch', 'ISO 8601'],
    ['--zap-stacktrace-level=error', 'not offered'],
    ['--node-agent-image-pull-secret=s', 'not offered'],
  ])('refuses %s and says why', (flag, why) => {
    const { set, refused } = translate(flag);
    expect(set).toEqual({});
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatch(new RegExp(`^flag ${flag.split('=')[0] ?? ''}: .*${why}`));
  });

  it('sets keys that exist', () => {
    const values = ['0', 'false', 'true', 'json', '1.2.3.4:5', 'iso8601'];
    const outcomes = UPSTREAM_FLAGS.flatMap((row) => values.map((value) => row.apply(value, new Map())));
    const set = outcomes.flatMap((outcome) => ('set' in outcome ? outcome.set.map(([path]) => path) : []));
    expect(configKeys().map((row) => row.path)).toEqual(expect.arrayContaining(set));
    expect(set).toContain('cluster.kubeconfig');
  });
});
