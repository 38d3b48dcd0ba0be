/**
 * Flags of the upstream operator: accepted where they mean the same here, refused with their state where they do
 * not, so that nobody believes in a setting that nothing reads. One table, which docs/configuration.md shows.
 */
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import type { FlagValue } from '../config.ts';
import { GateError } from '../errors.ts';

type Outcome =
  { readonly set: readonly (readonly [path: string, value: string])[] } | { readonly refused: string };

export interface UpstreamFlag {
  /** Without the dashes. */
  readonly name: string;
  readonly takes: 'boolean' | 'value';
  /** What becomes of it here, for the documentation. */
  readonly here: string;
  /** @param all every upstream flag given, for those that mean something together only. */
  apply(value: string, all: ReadonlyMap<string, string>): Outcome;
}

const NOTHING: Outcome = { set: [] };

/** A feature that is off is off: `false` is accepted, `true` is refused. */
const absentSwitch = (name: string, state: string): UpstreamFlag => ({
  name,
  takes: 'boolean',
  here: `\`false\` is accepted; otherwise refused: ${state}`,
  apply: (value) => (goBoolean(value) ? { refused: state } : NOTHING),
});

const absent = (name: string, state: string): UpstreamFlag => ({
  name,
  takes: 'value',
  here: `an empty value is accepted; otherwise refused: ${state}`,
  apply: (value) => (value === '' ? NOTHING : { refused: state }),
});

const sameSwitch = (name: string, path: string): UpstreamFlag => ({
  name,
  takes: 'boolean',
  here: `as \`${path}\``,
  apply: (value) => ({ set: [[path, goBoolean(value) ? 'true' : 'false']] }),
});

const DASHBOARD = 'not offered: pacto-gate installs no dashboard';
const EVIDENCE = 'not offered: pacto-gate installs no evidence server';

export const UPSTREAM_FLAGS: readonly UpstreamFlag[] = [
  {
    name: 'kubeconfig',
    takes: 'value',
    here: 'as `cluster.kubeconfig`',
    apply: (value) => (value === '' ? NOTHING : { set: [['cluster.kubeconfig', value]] }),
  },
  {
    name: 'health-probe-bind-address',
    takes: 'value',
    here: 'as `health.host` and `health.port`; `0` is refused, as the probes are always served',
    apply: (value) =>
      value === '0' ? { refused: 'the probes are always served: give an address' } : bind('health', value),
  },
  {
    name: 'metrics-bind-address',
    takes: 'value',
    here: 'as `metrics.host` and `metrics.port`; `0` as `metrics.enabled=false`',
    apply: (value) => (value === '0' ? { set: [['metrics.enabled', 'false']] } : bind('metrics', value)),
  },
  {
    name: 'metrics-secure',
    takes: 'boolean',
    here: '`true` is the default here; `false` as `metrics.plain=true`, on a loopback address only',
    apply: (value) => ({ set: [['metrics.plain', goBoolean(value) ? 'false' : 'true']] }),
  },
  absent('metrics-cert-path', 'the metrics listener serves the certificate of tls.certFile'),
  { name: 'metrics-cert-name', takes: 'value', here: 'no effect without the path', apply: () => NOTHING },
  { name: 'metrics-cert-key', takes: 'value', here: 'no effect without the path', apply: () => NOTHING },
  {
    name: 'webhook-cert-path',
    takes: 'value',
    here: 'with the two names below as `tls.certFile` and `tls.keyFile`',
    apply: (path, all) =>
      path === ''
        ? NOTHING
        : {
            set: [
              ['tls.certFile', join(path, all.get('webhook-cert-name') ?? 'tls.crt')],
              ['tls.keyFile', join(path, all.get('webhook-cert-key') ?? 'tls.key')],
            ],
          },
  },
  { name: 'webhook-cert-name', takes: 'value', here: 'default `tls.crt`', apply: () => NOTHING },
  { name: 'webhook-cert-key', takes: 'value', here: 'default `tls.key`', apply: () => NOTHING },
  absentSwitch('enable-http2', 'not offered: API servers call webhooks over HTTP/1.1'),
  {
    name: 'zap-log-level',
    takes: 'value',
    here: 'as `log.level`; a number is `debug`, `panic` is `error`',
    apply: (value) => ({ set: [['log.level', zapLevel(value)]] }),
  },
  {
    name: 'zap-encoder',
    takes: 'value',
    here: 'as `log.format`: `json`, or `console` for `pretty`',
    apply: (value) => ({ set: [['log.format', value === 'console' ? 'pretty' : value]] }),
  },
  {
    name: 'zap-devel',
    takes: 'boolean',
    here: '`true` as `log.level=debug` and `log.format=pretty` where the flags above are not given',
    apply: (value, all) =>
      goBoolean(value)
        ? {
            set: [
              ...(all.has('zap-log-level') ? [] : [['log.level', 'debug'] as const]),
              ...(all.has('zap-encoder') ? [] : [['log.format', 'pretty'] as const]),
            ],
          }
        : NOTHING,
  },
  absent('zap-stacktrace-level', 'not offered: every logged error has its stack'),
  {
    name: 'zap-time-encoding',
    takes: 'value',
    here: '`iso8601`, `rfc3339` and `rfc3339nano` are accepted: times are always ISO 8601',
    apply: (value) =>
      ['iso8601', 'rfc3339', 'rfc3339nano'].includes(value)
        ? NOTHING
        : { refused: 'times in the log are always ISO 8601' },
  },
  {
    name: 'leader-elect',
    takes: 'boolean',
    here: 'no effect: of several reconcilers one always leads, by the same Lease as upstream',
    apply: () => NOTHING,
  },
  {
    name: 'watch-namespace',
    takes: 'value',
    here: 'as `reconciler.namespaces`',
    apply: (value) => (value === '' ? NOTHING : { set: [['reconciler.namespaces', value]] }),
  },
  {
    name: 'stabilization-window',
    takes: 'value',
    here: 'as `reconciler.stabilizationSeconds`: `90s`, `2m`, `1h30m`, in whole seconds',
    apply: (value) => {
      const seconds = goSeconds(value);
      return seconds === undefined
        ? { refused: 'need a duration in whole seconds, such as 90s, 2m or 1h30m' }
        : { set: [['reconciler.stabilizationSeconds', String(seconds)]] };
    },
  },
  sameSwitch('enable-probing', 'reconciler.probing'),
  sameSwitch('enable-metrics-observation', 'reconciler.metricsObservation'),
  sameSwitch('interface-name-match-discovery', 'reconciler.nameMatchDiscovery'),
  absentSwitch('enable-dashboard', DASHBOARD),
  ...[
    'dashboard-oci-secret',
    'dashboard-oci-secrets',
    'dashboard-cpu-request',
    'dashboard-cpu-limit',
    'dashboard-memory-request',
    'dashboard-memory-limit',
    'dashboard-trace-source',
  ].map((name) => absent(name, DASHBOARD)),
  absentSwitch('enable-evidence-server', EVIDENCE),
  ...[
    'evidence-subject',
    'evidence-trust-secret',
    'evidence-credentials-secret',
    'evidence-cpu-request',
    'evidence-cpu-limit',
    'evidence-memory-request',
    'evidence-memory-limit',
  ].map((name) => absent(name, EVIDENCE)),
  absent('node-agent-image-pull-secret', 'not offered: pacto-gate does not run the node agent'),
];

/**
 * Lets `command` take the upstream flags, not shown in its help.
 * @returns where the given ones are collected while the command line is parsed.
 */
export function addUpstreamOptions(command: Command): Map<string, string> {
  const given = new Map<string, string>();
  for (const { name, takes } of UPSTREAM_FLAGS) {
    const option = new Option(`--${name} ${takes === 'boolean' ? '[boolean]' : '<value>'}`).hideHelp();
    if (takes === 'boolean') option.preset('true');
    option.argParser((value: string) => {
      given.set(name, value);
      return value;
    });
    command.addOption(option);
  }
  return given;
}

/**
 * Turns given upstream flags into ours.
 * @returns our values, and one error for each flag that is refused.
 */
export function translateUpstream(given: ReadonlyMap<string, string>): {
  readonly flags: readonly FlagValue[];
  readonly refused: readonly GateError[];
} {
  const flags: FlagValue[] = [];
  const refused: GateError[] = [];
  for (const [name, value] of given) {
    const outcome = UPSTREAM_FLAGS.find((row) => row.name === name)?.apply(value, given) ?? NOTHING;
    if ('refused' in outcome)
      refused.push(new GateError('GATE_CONFIG_UPSTREAM', `flag --${name}: ${outcome.refused}`));
    else for (const [path, text] of outcome.set) flags.push({ path, value: text, origin: `--${name}` });
  }
  return { flags, refused };
}

/** As Go's `strconv.ParseBool`; anything else counts as true, and is then refused or harmless. */
function goBoolean(value: string): boolean {
  return !['0', 'f', 'F', 'false', 'False', 'FALSE'].includes(value);
}

/** As Go's `time.ParseDuration`, as far as it is a whole number of seconds; undefined for what is not. */
function goSeconds(value: string): number | undefined {
  const found = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})(?:\.0+)?s)?$/.exec(value);
  if (value === '0') return 0;
  if (value === '' || found === null) return undefined;
  const [, hours = '0', minutes = '0', seconds = '0'] = found;
  return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
}

/** `:8081`, `10.0.0.1:8081`, `[::1]:8081`. Without a host ours decides: all addresses in a Pod. */
function bind(section: 'health' | 'metrics', value: string): Outcome {
  const at = value.lastIndexOf(':');
  if (at === -1) return { refused: 'need host:port or :port' };
  const host = value.slice(0, at).replace(/^\[(.*)\]$/, '$1');
  return {
    set: [
      ...(host === '' ? [] : [[`${section}.host`, host] as const]),
      [`${section}.port`, value.slice(at + 1)],
    ],
  };
}

function zapLevel(value: string): string {
  if (value === 'panic') return 'error';
  return /^\d+$/.test(value) ? 'debug' : value;
}
