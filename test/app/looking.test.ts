import { describe, expect, it } from 'vitest';
import { openLooking, type LookingSources } from '../../src/app/looking.ts';
import { PACTO } from '../../src/cluster/kinds.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import { loadConfig } from '../../src/config.ts';
import { GateError } from '../../src/errors.ts';
import type { PactoStatus } from '../../src/reconcile/api/pacto.ts';
import { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import { createLiveView } from '../../src/reconcile/live-view.ts';
import { BundleCache } from '../../src/registry/bundle-cache.ts';
import { anObject } from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { packed } from '../support/registry/bundles.ts';
import { MemoryRegistry } from '../support/registry/memory-registry.ts';

class World {
  readonly clock = new FakeClock();
  readonly registry = new MemoryRegistry();
  opened = 0;
  readonly closed: string[] = [];
  /** Of the configuration: registries do not open. */
  fault: Error | undefined;

  async open(): Promise<ReturnType<typeof openLooking>> {
    const { clock } = this;
    const loaded = await loadConfig({
      flags: [],
      env: {},
      readFile: () => Promise.reject(new Error('none')),
    });
    if (!loaded.ok) throw new Error('the defaults are no configuration');
    const sources: LookingSources = {
      prober: {
        get: () => Promise.resolve({ answered: false, reason: 'nobody asked' }),
        protocols: () => Promise.resolve([]),
        close: async () => void this.closed.push('prober'),
      },
      registries: async () => {
        this.opened += 1;
        if (this.fault !== undefined) throw this.fault;
        return {
          client: this.registry,
          cache: new BundleCache({ clock, maxBytes: 1_000_000, keepsResults: true }),
          withPullSecret: () => this.registry,
          close: async () => void this.closed.push('registries'),
        };
      },
    };
    return openLooking(loaded.config, { clock, log: { error: () => undefined } }, sources);
  }

  async look(looking: ReturnType<typeof openLooking>, contractRef: unknown): Promise<PactoStatus> {
    const { signal } = new AbortController();
    const cluster = createMemoryCluster({ clock: this.clock });
    const view = createLiveView({ cluster, namespaces: [], nodeAgent: undefined, signal });
    const pacto = anObject(PACTO, { namespace: 'shop', name: 'cart' }, { spec: { contractRef } });
    return (await looking.pass.look(readPacto(pacto), { view, signal })).status;
  }
}

const OCI = { oci: 'registry.test/shop/cart:1.0.0' };

describe('what looks', () => {
  it('opens no registry for inline contracts, nor for word of a push, and closes what is open', async () => {
    const world = new World();
    const looking = await world.open();
    const inline = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.0.0}\n';
    expect((await world.look(looking, { inline })).contractStatus).toBe('Reference');
    looking.forget('registry.test/shop/cart');
    await world.clock.advance(0);
    expect(world.opened).toBe(0);
    await looking.close();
    expect(world.closed).toEqual(['prober']);
  });

  it('opens registries once, and forgets what is said to be pushed', async () => {
    const world = new World();
    const looking = await world.open();
    expect((await world.look(looking, OCI)).contractStatus).toBe('Unknown');
    world.registry.add(packed('1.0.0'), '1.0.0');
    expect((await world.look(looking, OCI)).contractStatus).toBe('Unknown');
    looking.forget('registry.test/shop/cart');
    await world.clock.advance(0);
    expect((await world.look(looking, OCI)).contractStatus).toBe('Reference');
    expect(world.opened).toBe(1);
    await looking.close();
    expect(world.closed).toEqual(['prober', 'registries']);
  });

  it('opens registries anew where a file of the configuration was not there yet', async () => {
    const world = new World();
    const looking = await world.open();
    world.registry.add(packed('1.0.0'), '1.0.0');
    world.fault = new GateError('GATE_CONFIG_INVALID', 'registry.certificateAuthorities: no file');
    const { contractStatus, conditions } = await world.look(looking, OCI);
    expect(contractStatus).toBe('Unknown');
    expect(conditions?.[0]?.message).toContain('registry.certificateAuthorities: no file');
    world.fault = undefined;
    expect((await world.look(looking, OCI)).contractStatus).toBe('Reference');
    await looking.close();
  });
});
