/**
 * The metrics, and the one file that knows how they are kept. Labels are bounded: webhooks and codes by the lists
 * given here, everything else by closed types; what is in no list is `other`.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { addPactos, addReconciler, type PactoFacts, type ReconcilerFacts } from './metrics-pactos.ts';

export type DecisionVerdict = 'allowed' | 'denied' | 'failed-open' | 'failed-closed';

export interface DecisionFacts {
  readonly webhook: string;
  /** As in the review; anything but the four operations counts as `other`. */
  readonly operation: string;
  readonly verdict: DecisionVerdict;
  /** Code of the first finding or of the error; left out where there is none. */
  readonly code?: string;
  readonly durationSeconds: number;
  /** What policies found wrong, whatever came of it. */
  readonly violations?: readonly ViolationFacts[];
}

export interface ViolationFacts {
  readonly policy: string;
  readonly binding?: string;
  readonly evaluation: 'deny' | 'error' | 'configuration';
  /** Actions of the binding; none where it was ignored. */
  readonly actions: readonly string[];
}

/** What one listener's limits hold just now. */
export interface LoadFacts {
  readonly running: number;
  readonly queued: number;
  readonly bytesInFlight: number;
  /** Turned away since the start. */
  readonly refused: number;
}

/** What a listener counts of its connections. */
export interface ConnectionFacts {
  readonly connections: number;
  readonly dropped: number;
  readonly failedHandshakes: number;
}

/** One copy of a kind that a watch keeps. */
export interface WatchFacts {
  /** `Pod`, and the namespace it is limited to. */
  readonly kind: string;
  readonly namespace: string;
  readonly objects: number;
  readonly synced: boolean;
  /** Since the last event or bookmark. */
  readonly silentSeconds: number;
}

/** One call to the API server that a decision waited for. */
export interface LiveCallFacts {
  readonly call: 'get' | 'list' | 'access';
  /** `refused`: by our own cap. `abandoned`: nobody waited any more. */
  readonly outcome: 'answered' | 'failed' | 'refused' | 'abandoned';
  /** Waiting for a turn included. */
  readonly durationSeconds: number;
}

/** What is enforced of the policies that the configuration names. */
export interface PolicyFacts {
  readonly policies: number;
  /** Of all policies and bindings: what keeps one from being enforced as it is written. */
  readonly problems: number;
}

/** What the installer is doing. */
export interface InstallerFacts {
  readonly leads: boolean;
  /** Policies by what enforces them. */
  readonly enforced: Readonly<Record<'Native' | 'Webhook' | 'None', number>>;
  /** What an operator should know; the log names each. */
  readonly problems: number;
  readonly rounds: Readonly<Record<'done' | 'contested' | 'failed', number>>;
}

export interface BuildFacts {
  readonly version: string;
  readonly revision: string;
}

export interface MetricsOptions {
  /** Names that the label `webhook` may take. */
  readonly webhooks: readonly string[];
  /** Codes of src/errors.ts and src/policies/finding.ts: what the label `code` may take. */
  readonly codes: readonly string[];
  readonly build: BuildFacts;
}

export interface Metrics {
  decision(facts: DecisionFacts): void;
  /** An answer without a review: the call was refused before its uid was known. */
  refusal(code: string): void;
  /** A call to the API server that a decision waited for has ended. */
  liveCall(facts: LiveCallFacts): void;
  /** Asked at each scrape. */
  observeLoad(read: () => LoadFacts): void;
  /** Asked at each scrape. */
  observeConnections(listener: string, read: () => ConnectionFacts): void;
  /** Asked at each scrape: seconds since the epoch when the serving certificate ends, undefined without one. */
  observeTlsExpiry(listener: string, read: () => number | undefined): void;
  /** Asked at each scrape. */
  observeWatches(read: () => readonly WatchFacts[]): void;
  /** Asked at each scrape. */
  observePolicies(read: () => PolicyFacts): void;
  /** Asked at each scrape. */
  observeInstaller(read: () => InstallerFacts): void;
  /** Asked at each scrape, which says nothing of what is not there any more. @param statuses all that there can be. */
  observePactos(statuses: readonly string[], read: () => Iterable<PactoFacts>): void;
  /** Asked at each scrape. */
  observeReconciler(read: () => ReconcilerFacts): void;
  /** Asked at each scrape: lines of the log that were lost. */
  observeLostLines(read: () => number): void;
  /** Media type of a scrape. */
  readonly contentType: string;
  /** The text of a scrape, and its media type. */
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** From well under a millisecond, where most decisions are, to the 30 s that no call can outlast. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const OPERATIONS: ReadonlySet<string> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/** Makes a registry of its own: two of them in one process share nothing. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const webhooks = new Set(options.webhooks);
  const codes = new Set(options.codes);
  const webhookLabel = (name: string): string => (webhooks.has(name) ? name : 'other');
  const codeLabel = (code: string | undefined): string =>
    code === undefined ? '' : codes.has(code) ? code : 'other';
  const counters = makeCounters(registry);
  const countViolation = violationCounter(registry);
  addBuild(registry, options.build);
  addProcess(registry);
  return {
    decision({ webhook, operation, verdict, code, durationSeconds, violations = [] }) {
      const name = webhookLabel(webhook);
      const known = OPERATIONS.has(operation) ? operation : 'other';
      counters.decisions.inc({ webhook: name, operation: known, verdict, code: codeLabel(code) });
      counters.durations.observe({ webhook: name }, durationSeconds);
      if (verdict === 'failed-open' || verdict === 'failed-closed') {
        counters.failures.inc({ webhook: name, outcome: verdict, code: codeLabel(code) });
      }
      for (const violation of violations) countViolation(violation);
    },
    refusal(code) {
      counters.refusals.inc({ code: codeLabel(code) });
    },
    liveCall({ call, outcome, durationSeconds }) {
      counters.liveCalls.inc({ call, outcome });
      // One that was refused took no time and would only hide how long the others took.
      if (outcome !== 'refused') counters.liveDurations.observe({ call }, durationSeconds);
    },
    observeLoad: (read) => addLoad(registry, read),
    observeConnections: connectionsObserver(registry),
    observeTlsExpiry: tlsObserver(registry),
    observeWatches: (read) => addWatches(registry, read),
    observePolicies: (read) => addPolicies(registry, read),
    contentType: registry.contentType,
    observeInstaller: (read) => addInstaller(registry, read),
    observePactos: (statuses, read) => addPactos(registry, statuses, read),
    observeReconciler: (read) => addReconciler(registry, read),
    observeLostLines(read) {
      counterOf(registry, 'pacto_gate_log_lines_lost_total', 'Lines of the log that nobody took.', read);
    },
    async scrape() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

function makeCounters(registry: Registry): {
  decisions: Counter;
  durations: Histogram;
  failures: Counter;
  refusals: Counter;
  liveCalls: Counter;
  liveDurations: Histogram;
} {
  const registers = [registry];
  return {
    decisions: new Counter({
      name: 'pacto_gate_decisions_total',
      help: 'Admission reviews answered, by what was answered.',
      labelNames: ['webhook', 'operation', 'verdict', 'code'],
      registers,
    }),
    durations: new Histogram({
      name: 'pacto_gate_decision_duration_seconds',
      help: 'From the arrival of the head of a request to its answer, waiting included.',
      labelNames: ['webhook'],
      buckets: DURATION_BUCKETS,
      registers,
    }),
    failures: new Counter({
      name: 'pacto_gate_failures_total',
      help: 'Reviews answered by the failure policy of their entry, because there was no verdict.',
      labelNames: ['webhook', 'outcome', 'code'],
      registers,
    }),
    refusals: new Counter({
      name: 'pacto_gate_refusals_total',
      help: 'Requests refused before a review could be read.',
      labelNames: ['code'],
      registers,
    }),
    liveCalls: new Counter({
      name: 'pacto_gate_live_calls_total',
      help: 'Calls to the API server that decisions waited for; refused: by our own cap.',
      labelNames: ['call', 'outcome'],
      registers,
    }),
    liveDurations: new Histogram({
      name: 'pacto_gate_live_call_duration_seconds',
      help: 'Of such a call, waiting for a turn included.',
      labelNames: ['call'],
      buckets: DURATION_BUCKETS,
      registers,
    }),
  };
}

/** Pairs of policy and binding that have samples of their own: both come and go while the process runs. */
const VIOLATION_PAIRS = 1_000;
/** What the label `action` may be. */
const ACTIONS: ReadonlySet<string> = new Set(['deny', 'warn', 'audit']);

function violationCounter(registry: Registry): (violation: ViolationFacts) => void {
  const counter = new Counter({
    name: 'pacto_gate_policy_violations_total',
    help: 'What policies found wrong, by what came of it.',
    labelNames: ['policy', 'binding', 'evaluation', 'action'],
    registers: [registry],
  });
  const pairs = new Set<string>();
  return ({ policy, binding = '', evaluation, actions }) => {
    const pair = `${policy}/${binding}`;
    const isKnown = pairs.has(pair) || pairs.size < VIOLATION_PAIRS;
    if (isKnown) pairs.add(pair);
    const who = isKnown ? { policy, binding } : { policy: 'other', binding: 'other' };
    if (actions.length === 0) counter.inc({ ...who, evaluation, action: 'ignored' });
    for (const action of actions.map((one) => one.toLowerCase()))
      counter.inc({ ...who, evaluation, action: ACTIONS.has(action) ? action : 'other' });
  };
}

function addLoad(registry: Registry, read: () => LoadFacts): void {
  gauge(registry, 'pacto_gate_requests_in_flight', 'Reviews being decided.', () => read().running);
  gauge(
    registry,
    'pacto_gate_requests_queued',
    'Requests that wait for room or a turn.',
    () => read().queued,
  );
  gauge(
    registry,
    'pacto_gate_request_bytes_in_flight',
    'Bytes of request bodies held.',
    () => read().bytesInFlight,
  );
  counterOf(
    registry,
    'pacto_gate_requests_shed_total',
    'Requests turned away because there was no room or turn.',
    () => read().refused,
  );
}

function connectionsObserver(registry: Registry): Metrics['observeConnections'] {
  const readers = new Map<string, () => ConnectionFacts>();
  const labelNames = ['listener'];
  const registers = [registry];
  return (listener, read) => {
    readers.set(listener, read);
    if (readers.size > 1) return;
    const open = new Gauge({
      name: 'pacto_gate_connections',
      help: 'Open connections.',
      labelNames,
      registers,
      collect() {
        for (const [name, facts] of readers) this.set({ listener: name }, facts().connections);
      },
    });
    void open;
    counterByListener(
      'pacto_gate_connections_dropped_total',
      'Connections turned away: too many.',
      (f) => f.dropped,
    );
    counterByListener(
      'pacto_gate_tls_handshake_failures_total',
      'TLS handshakes that did not come about.',
      (f) => f.failedHandshakes,
    );
  };

  function counterByListener(name: string, help: string, pick: (facts: ConnectionFacts) => number): void {
    void new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [listener, facts] of readers) this.inc({ listener }, pick(facts()));
      },
    });
  }
}

function addWatches(registry: Registry, read: () => readonly WatchFacts[]): void {
  const perWatch = (name: string, help: string, pick: (facts: WatchFacts) => number): void => {
    void new Gauge({
      name,
      help,
      labelNames: ['kind', 'namespace'],
      registers: [registry],
      collect() {
        for (const facts of read()) this.set({ kind: facts.kind, namespace: facts.namespace }, pick(facts));
      },
    });
  };
  perWatch('pacto_gate_watch_objects', 'Objects in the copy that a watch keeps.', (facts) => facts.objects);
  perWatch('pacto_gate_watch_synced', '1 once the copy is complete.', (facts) => (facts.synced ? 1 : 0));
  perWatch(
    'pacto_gate_watch_silent_seconds',
    'Since the last event or bookmark; from 150 on the copy is not used for decisions.',
    (facts) => facts.silentSeconds,
  );
}

function addPolicies(registry: Registry, read: () => PolicyFacts): void {
  gauge(registry, 'pacto_gate_policies', 'ValidatingAdmissionPolicies in force.', () => read().policies);
  gauge(
    registry,
    'pacto_gate_policy_problems',
    'What keeps policies from being enforced as they are written; the log names each.',
    () => read().problems,
  );
}

function addInstaller(registry: Registry, read: () => InstallerFacts): void {
  gauge(registry, 'pacto_gate_installer_leads', '1 while this installer is the one that writes.', () =>
    read().leads ? 1 : 0,
  );
  gauge(
    registry,
    'pacto_gate_installer_problems',
    'What keeps policies from being enforced as configured; the log names each.',
    () => read().problems,
  );
  void new Gauge({
    name: 'pacto_gate_installer_policies',
    help: 'Policies by what enforces them.',
    labelNames: ['by'],
    registers: [registry],
    collect() {
      for (const [by, count] of Object.entries(read().enforced)) this.set({ by }, count);
    },
  });
  void new Counter({
    name: 'pacto_gate_installer_rounds_total',
    help: 'Rounds of comparing and writing, by how they ended.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(read().rounds)) this.inc({ outcome }, count);
    },
  });
}

function tlsObserver(registry: Registry): Metrics['observeTlsExpiry'] {
  const readers = new Map<string, () => number | undefined>();
  return (listener, read) => {
    readers.set(listener, read);
    if (readers.size > 1) return;
    void new Gauge({
      name: 'pacto_gate_tls_certificate_expiry_timestamp_seconds',
      help: 'When the serving certificate ends, in seconds since the Unix epoch.',
      labelNames: ['listener'],
      registers: [registry],
      collect() {
        for (const [name, expiry] of readers) {
          const seconds = expiry();
          if (seconds === undefined) this.remove({ listener: name });
          else this.set({ listener: name }, seconds);
        }
      },
    });
  };
}

function addBuild(registry: Registry, build: BuildFacts): void {
  new Gauge({
    name: 'pacto_gate_build_info',
    help: 'What is running; always 1.',
    labelNames: ['version', 'revision', 'node'],
    registers: [registry],
  }).set({ version: build.version, revision: build.revision, node: process.version }, 1);
}

/** Read at a scrape only: the library's own set keeps observers running, which an idle process would pay for. */
function addProcess(registry: Registry): void {
  gauge(registry, 'pacto_gate_process_resident_memory_bytes', 'Resident memory.', () =>
    process.memoryUsage.rss(),
  );
  gauge(
    registry,
    'pacto_gate_process_heap_used_bytes',
    'JavaScript heap in use.',
    () => process.memoryUsage().heapUsed,
  );
  counterOf(registry, 'pacto_gate_process_cpu_seconds_total', 'CPU time, user and system.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge(registry, 'pacto_gate_process_uptime_seconds', 'Since the process began.', () => process.uptime());
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  void new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** A counter that somebody else counts. */
function counterOf(registry: Registry, name: string, help: string, read: () => number): void {
  void new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
