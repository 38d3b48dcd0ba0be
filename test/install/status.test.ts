import { describe, expect, it } from 'vitest';
import { GATE_POLICY } from '../../src/cluster/kinds.ts';
import { createMemoryCluster, type MemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { GateError } from '../../src/errors.ts';
import type { Desired } from '../../src/install/desired.ts';
import type { Enforced } from '../../src/install/round.ts';
import { StatusWriter } from '../../src/install/status.ts';
import { collectPolicies } from '../../src/policies/vap/sources.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { desiredOf } from './support/pretended.ts';

const ENTRY = 'a.policies.gate.pacto.trianalab.io';
const WEBHOOK: ReadonlyMap<string, Enforced> = new Map([['a', { by: 'Webhook', entry: ENTRY }]]);
const NATIVE: ReadonlyMap<string, Enforced> = new Map([['a', { by: 'Native' }]]);

class Bench {
  readonly clock = new FakeClock();
  readonly cluster: MemoryCluster = createMemoryCluster({ clock: this.clock });
  readonly errors: string[] = [];
  readonly writer = new StatusWriter({
    clock: this.clock,
    factsOf: () => Promise.resolve({ compileErrors: [], typeWarnings: [] }),
    onError: (name) => this.errors.push(name),
  });
  desired: Desired = desiredOf(['a']);

  async load(): Promise<void> {
    for (const { object } of this.desired.policies.policies) this.cluster.load(GATE_POLICY, object);
    await this.refresh();
  }

  /** As a watch brings the objects. */
  async refresh(): Promise<void> {
    const stored = (await this.cluster.list(GATE_POLICY)).items;
    const bindings = this.desired.policies.bindings.map(({ object, source }) => ({ object, source }));
    const objects = stored.map((object) => ({ object, source: { source: 'customResource' } as const }));
    this.desired = { ...this.desired, policies: collectPolicies([...objects, ...bindings]) };
  }

  write(enforced: ReadonlyMap<string, Enforced>): Promise<void> {
    return this.writer.write(this.desired, enforced, this.cluster, new AbortController().signal);
  }

  async status(name = 'a'): Promise<Record<string, unknown>> {
    const object: KubeObject | undefined = await this.cluster.get(GATE_POLICY, { name });
    return (object?.['status'] ?? {}) as Record<string, unknown>;
  }
}

describe('status of policies', () => {
  it('is written once for a change, also while the copy that is watched is old', async () => {
    const bench = new Bench();
    await bench.load();
    await bench.write(WEBHOOK);
    await bench.write(WEBHOOK);
    expect(bench.cluster.calls('replaceStatus')).toBe(1);
    expect(await bench.status()).toMatchObject({ enforcedBy: 'Webhook', entry: ENTRY });
    await bench.refresh();
    await bench.write(WEBHOOK);
    expect(bench.cluster.calls('replaceStatus')).toBe(1);
    await bench.write(NATIVE);
    expect(bench.cluster.calls('replaceStatus')).toBe(2);
    expect(await bench.status()).toMatchObject({ enforcedBy: 'Native' });
    expect(bench.errors).toEqual([]);
  });

  it('is put back when somebody else changes it', async () => {
    const bench = new Bench();
    await bench.load();
    await bench.write(WEBHOOK);
    await bench.refresh();
    const [policy] = (await bench.cluster.list(GATE_POLICY)).items;
    if (policy !== undefined) await bench.cluster.replaceStatus(GATE_POLICY, { ...policy, status: {} });
    await bench.refresh();
    await bench.write(WEBHOOK);
    expect(await bench.status()).toMatchObject({ enforcedBy: 'Webhook' });
  });

  it('says what an entry does not reach, and nothing of that where the API server enforces', async () => {
    const bench = new Bench();
    await bench.load();
    bench.desired = {
      ...bench.desired,
      reach: [{ policy: 'a', entry: ENTRY, notEnforced: ['Nodes are left out'] }],
    };
    await bench.write(WEBHOOK);
    expect(await bench.status()).toMatchObject({ notEnforcedHere: ['Nodes are left out'] });
    await bench.refresh();
    await bench.write(NATIVE);
    expect((await bench.status())['notEnforcedHere']).toEqual([]);
  });

  it('of one that is not the first of its name says so', async () => {
    const bench = new Bench();
    await bench.load();
    const { policies } = bench.desired;
    const problem = {
      kind: 'ValidatingAdmissionPolicy',
      name: 'a',
      source: { source: 'customResource' },
      cause: 'duplicate',
      message: 'left out: there is another of this name, of file "a.yaml"',
    } as const;
    bench.desired = { ...bench.desired, policies: { ...policies, policies: [], problems: [problem] } };
    await bench.write(new Map());
    expect(await bench.status()).toMatchObject({ enforcedBy: 'None' });
    expect(JSON.stringify(await bench.status())).toContain('a.yaml');
    await bench.write(new Map());
    expect(bench.cluster.calls('replaceStatus')).toBe(1);
  });

  it('leaves out what is gone, and says what it could not write', async () => {
    const bench = new Bench();
    await bench.load();
    bench.cluster.unload(GATE_POLICY, { name: 'a' });
    await bench.write(WEBHOOK);
    expect(bench.errors).toEqual([]);
    const allow = bench.cluster.refuseCalls(new GateError('GATE_CLUSTER_FORBIDDEN', 'no'), ['replaceStatus']);
    await bench.write(WEBHOOK);
    expect(bench.errors).toEqual(['a']);
    allow();
  });
});
