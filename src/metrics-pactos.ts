/**
 * The five gauges of Pactos, with upstream's names and labels (operator.md §7.3), and what the reconciler is doing. They are
 * set anew at each scrape, so that a series ends with its object.
 */
import { Counter, Gauge, type Registry } from 'prom-client';

/** What upstream's exporter puts on every line (operator.md §7.3, recorded). */
const SCOPE = {
  otel_scope_name: 'pacto.trianalab.io/operator',
  otel_scope_schema_url: '',
  otel_scope_version: '',
};

const READINESS_STATES = ['Satisfied', 'BelowMinScore', 'Expired'] as const;
const CHECKS = ['done', 'partial', 'not-done', 'deferred'] as const;

export interface PactoFacts {
  readonly namespace: string;
  readonly name: string;
  /** Undefined: nobody has looked yet. */
  readonly status: string | undefined;
  /** Undefined where the contract declares none. */
  readonly readiness:
    | {
        /** 0 to 100. */
        readonly score: number;
        readonly passing: boolean;
        readonly state: (typeof READINESS_STATES)[number];
        readonly checks: Readonly<Record<(typeof CHECKS)[number], number>>;
      }
    | undefined;
}

/** What the queue of the reconciler holds, and what it has done since the start. */
export interface ReconcilerFacts {
  readonly leads: boolean;
  readonly waiting: number;
  readonly running: number;
  readonly delayed: number;
  readonly done: number;
  readonly failed: number;
}

/** @param statuses every value of the label `status`. */
export function addPactos(
  registry: Registry,
  statuses: readonly string[],
  read: () => Iterable<PactoFacts>,
): void {
  const each = (
    name: string,
    help: string,
    labels: readonly string[],
    set: (gauge: Gauge, base: Readonly<Record<string, string>>, facts: PactoFacts) => void,
  ): void => {
    void new Gauge({
      name,
      help,
      labelNames: ['name', 'namespace', ...Object.keys(SCOPE), ...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const facts of read())
          set(this, { name: facts.name, namespace: facts.namespace, ...SCOPE }, facts);
      },
    });
  };
  each(
    'pacto_contract_status',
    'Contract status: 1 for the current one.',
    ['status'],
    (gauge, base, facts) => {
      if (facts.status === undefined) return;
      for (const status of statuses) gauge.set({ ...base, status }, facts.status === status ? 1 : 0);
    },
  );
  each('pacto_readiness_score', 'Readiness score, 0 to 100.', [], (gauge, base, { readiness }) => {
    if (readiness !== undefined) gauge.set(base, readiness.score);
  });
  each('pacto_readiness_gate', '1 where the readiness gate passes.', [], (gauge, base, { readiness }) => {
    if (readiness !== undefined) gauge.set(base, readiness.passing ? 1 : 0);
  });
  each(
    'pacto_readiness_status',
    'Readiness: 1 for the current state.',
    ['status'],
    (gauge, base, { readiness }) => {
      if (readiness === undefined) return;
      for (const status of READINESS_STATES)
        gauge.set({ ...base, status }, readiness.state === status ? 1 : 0);
    },
  );
  each(
    'pacto_readiness_checks',
    'Readiness claims by their status.',
    ['status'],
    (gauge, base, { readiness }) => {
      if (readiness === undefined) return;
      for (const status of CHECKS) gauge.set({ ...base, status }, readiness.checks[status]);
    },
  );
}

export function addReconciler(registry: Registry, read: () => ReconcilerFacts): void {
  const gauge = (name: string, help: string, pick: (facts: ReconcilerFacts) => number): void => {
    void new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(pick(read()));
      },
    });
  };
  gauge('pacto_gate_reconciler_leads', '1 while this reconciler is the one that writes.', ({ leads }) =>
    leads ? 1 : 0,
  );
  gauge('pacto_gate_reconciler_waiting', 'Pactos that wait to be looked at.', ({ waiting }) => waiting);
  gauge('pacto_gate_reconciler_running', 'Pactos that are looked at.', ({ running }) => running);
  gauge('pacto_gate_reconciler_delayed', 'Pactos whose next look is due by time.', ({ delayed }) => delayed);
  void new Counter({
    name: 'pacto_gate_reconciler_looks_total',
    help: 'Looks at Pactos, by how they ended.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      const { done, failed } = read();
      this.inc({ outcome: 'done' }, done);
      this.inc({ outcome: 'failed' }, failed);
    },
  });
}
