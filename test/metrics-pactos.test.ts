import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { addPactos, addReconciler, type PactoFacts, type ReconcilerFacts } from '../src/metrics-pactos.ts';

const SCOPE = 'otel_scope_name="pacto.trianalab.io/operator",otel_scope_schema_url="",otel_scope_version=""';
const READINESS: NonNullable<PactoFacts['readiness']> = {
  score: 62.5,
  passing: false,
  state: 'BelowMinScore',
  checks: { done: 2, partial: 1, 'not-done': 3, deferred: 0 },
};

/** Samples without comments. */
async function samples(registry: Registry): Promise<readonly string[]> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function pactoLines(facts: PactoFacts[]): () => Promise<readonly string[]> {
  const registry = new Registry();
  addPactos(registry, ['Compliant', 'Invalid'], () => facts);
  return () => samples(registry);
}

const labels = `name="cart",namespace="shop",${SCOPE}`;

describe('the gauges of Pactos', () => {
  it('have upstream’s names and labels, with every value of a label (operator.md §7.3)', async () => {
    const lines = await pactoLines([
      { namespace: 'shop', name: 'cart', status: 'Invalid', readiness: READINESS },
    ])();
    expect(lines).toEqual([
      `pacto_contract_status{${labels},status="Compliant"} 0`,
      `pacto_contract_status{${labels},status="Invalid"} 1`,
      `pacto_readiness_score{${labels}} 62.5`,
      `pacto_readiness_gate{${labels}} 0`,
      `pacto_readiness_status{${labels},status="Satisfied"} 0`,
      `pacto_readiness_status{${labels},status="BelowMinScore"} 1`,
      `pacto_readiness_status{${labels},status="Expired"} 0`,
      `pacto_readiness_checks{${labels},status="done"} 2`,
      `pacto_readiness_checks{${labels},status="partial"} 1`,
      `pacto_readiness_checks{${labels},status="not-done"} 3`,
      `pacto_readiness_checks{${labels},status="deferred"} 0`,
    ]);
  });

  it('open the gate of whoever passes', async () => {
    const readiness = { ...READINESS, passing: true, state: 'Satisfied' as const };
    const lines = await pactoLines([{ namespace: 'shop', name: 'cart', status: 'Compliant', readiness }])();
    expect(lines).toContain(`pacto_readiness_gate{${labels}} 1`);
    expect(lines).toContain(`pacto_readiness_status{${labels},status="Satisfied"} 1`);
  });

  it('of readiness are absent, not 0, where none is declared', async () => {
    const lines = await pactoLines([
      { namespace: 'shop', name: 'cart', status: 'Compliant', readiness: undefined },
    ])();
    expect(lines.filter((line) => line.startsWith('pacto_readiness'))).toEqual([]);
  });

  it('say nothing of a Pacto that nobody has looked at', async () => {
    const lines = await pactoLines([
      { namespace: 'shop', name: 'cart', status: undefined, readiness: undefined },
    ])();
    expect(lines).toEqual([]);
  });

  it('end with the Pacto, and with its readiness (T6)', async () => {
    const facts: PactoFacts[] = [
      { namespace: 'shop', name: 'cart', status: 'Compliant', readiness: READINESS },
      { namespace: 'shop', name: 'web', status: 'Compliant', readiness: undefined },
    ];
    const lines = pactoLines(facts);
    expect(await lines()).toHaveLength(13);
    facts[0] = { namespace: 'shop', name: 'cart', status: 'Compliant', readiness: undefined };
    expect(await lines()).toHaveLength(4);
    facts.length = 0;
    expect(await lines()).toEqual([]);
  });

  it('keep Pactos of one name in two namespaces apart', async () => {
    const at = (namespace: string, status: string): PactoFacts => ({
      namespace,
      name: 'cart',
      status,
      readiness: undefined,
    });
    const lines = await pactoLines([at('shop', 'Compliant'), at('bank', 'Invalid')])();
    expect(lines.filter((line) => line.endsWith(' 1'))).toEqual([
      expect.stringContaining('namespace="shop"') as string,
      expect.stringContaining('namespace="bank"') as string,
    ]);
  });
});

describe('the reconciler', () => {
  it('says at each scrape who leads, what waits, and what was done', async () => {
    const registry = new Registry();
    let facts: ReconcilerFacts = { leads: false, waiting: 3, running: 2, delayed: 5, done: 7, failed: 1 };
    addReconciler(registry, () => facts);
    expect(await samples(registry)).toEqual([
      'pacto_gate_reconciler_leads 0',
      'pacto_gate_reconciler_waiting 3',
      'pacto_gate_reconciler_running 2',
      'pacto_gate_reconciler_delayed 5',
      'pacto_gate_reconciler_looks_total{outcome="done"} 7',
      'pacto_gate_reconciler_looks_total{outcome="failed"} 1',
    ]);
    facts = { ...facts, leads: true, done: 8 };
    const later = await samples(registry);
    expect(later).toContain('pacto_gate_reconciler_leads 1');
    expect(later).toContain('pacto_gate_reconciler_looks_total{outcome="done"} 8');
  });
});
