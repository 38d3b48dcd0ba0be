/** Whole looks at the largest contracts that an object may hold, with the worker that reads them. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock as clock } from '../../src/clock.ts';
import { PACTO } from '../../src/cluster/kinds.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import { createPass } from '../../src/reconcile/cluster-pass.ts';
import { ContractReader } from '../../src/reconcile/contract-reader.ts';
import { createContractSource } from '../../src/reconcile/contract-source.ts';
import { createLiveView } from '../../src/reconcile/live-view.ts';
import type { PassResult } from '../../src/reconcile/pass.ts';
import { STATUS_BYTES } from '../../src/reconcile/status-size.ts';
import { SchemaPool } from '../../src/schema/schema-pool.ts';
import { longestStretchMs } from '../schema/stall-probe.ts';
import { anObject } from '../support/builders.ts';

/** What the API server takes of a whole object, less what else is in it. */
const TEXT_BYTES = 1024 * 1024;
const CART = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.4.0}\n';
/** A webhook beside it has seconds to answer; the worst of these took a third of one. */
const STRETCH_MS = 1_500;

/** As many entries as there is room for. */
function full(begin: string, entry: (index: number) => string, end = ''): string {
  const parts = [CART, begin];
  let bytes = CART.length + begin.length + end.length;
  for (let index = 0; ; index += 1) {
    const next = entry(index);
    bytes += Buffer.byteLength(next);
    if (bytes > TEXT_BYTES) return [...parts, end].join('');
    parts.push(next);
  }
}

const CONTRACTS = {
  interfaces: full('interfaces:\n', (n) => `- {name: n${String(n)}, type: openapi, ref: a.yaml}\n`),
  dependencies: full(
    'dependencies:\n',
    (n) => `- {name: d${String(n)}, ref: "oci://r.test/d", required: true, compatibility: "^1.0.0"}\n`,
  ),
  configurations: full(
    'configurations:\n',
    (n) => `- {name: c${String(n)}, required: true, schema: a.json, values: {a: 1}}\n`,
  ),
  'values of a configuration': full(
    'configurations: [{name: a, required: true, schema: a.json, values: {b: 1',
    (n) => `, k${String(n)}: v`,
    '}}]\n',
  ),
  policies: full('policies:\n', (n) => `- {name: p${String(n)}, schema: a.json}\n`),
  metadata: full('metadata:\n', (n) => `  k${String(n)}: v\n`),
  'a list in metadata': full('metadata: {a: [1', () => ',1', ']}\n'),
  'one text of four bytes a character': full('metadata: {a: "', () => '🌊', '"}\n'),
  'one text that JSON writes sixfold': full('metadata: {a: "', () => '\\x01', '"}\n'),
};

async function look(inline: string): Promise<PassResult> {
  const schemas = new SchemaPool({ clock });
  const reader = new ContractReader({ schemas, clock });
  onTestFinished(async () => {
    await reader.close();
    await schemas.close();
  });
  const pass = createPass({
    source: createContractSource(() => Promise.reject(new Error('no registry')), clock),
    reader,
    schemas,
    prober: { get: () => expect.unreachable(), protocols: () => expect.unreachable() },
    settings: { probing: false, metrics: true, nameMatch: true, nodeAgent: undefined },
    stabilizationMs: 120_000,
    clock,
    log: { error: (message) => expect.unreachable(message) },
  });
  const { signal } = new AbortController();
  const cluster = createMemoryCluster({ clock });
  const spec = { contractRef: { inline }, target: { serviceName: 'web' } };
  const pacto = readPacto(anObject(PACTO, { namespace: 'shop', name: 'cart', generation: 1 }, { spec }));
  return await pass.look(pacto, {
    view: createLiveView({ cluster, namespaces: [], nodeAgent: undefined, signal }),
    signal,
  });
}

describe('a contract of a MiB', () => {
  it.each(Object.entries(CONTRACTS))(
    'full of %s has a verdict that the API server takes, and holds nobody up',
    async (_, inline) => {
      const found: PassResult[] = [];
      const stretchMs = await longestStretchMs(async () => void found.push(await look(inline)));
      const [{ status }] = found as [PassResult];
      expect(['Compliant', 'Unknown', 'Warning', 'NonCompliant']).toContain(status.contractStatus);
      expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThanOrEqual(STATUS_BYTES);
      expect(stretchMs).toBeLessThan(STRETCH_MS);
    },
  );
});
