/** One Pacto before the reconciler as the program runs it, with a registry and probes by hand: what is written of it. */
import { EVENT, PACTO, PACTO_REVISION, type Kind } from '../../src/cluster/kinds.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { PactoStatus } from '../../src/reconcile/api/pacto.ts';
import type { Prober } from '../../src/reconcile/observe/prober.ts';
import { BundleCache } from '../../src/registry/bundle-cache.ts';
import { RecordedRegistry } from '../conformance/operator/registry.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aPacto, configWith, run } from './running.ts';

const REPOSITORY = 'registry.test/shop/cart';
const SIBLING = 'registry.test/shop/pay:1.2.0';
const DIGEST = `sha256:${'c'.repeat(64)}`;

export interface Situation {
  /** The contract, in the Pacto itself. */
  readonly inline?: string;
  /** The contract with its bundle, in a registry. */
  readonly files?: Readonly<Record<string, string>>;
  /** A Pacto `pay` with a Service of that name, and the contract that it has from a registry. */
  readonly sibling?: string;
  /** Further fields of the spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly objects?: readonly (readonly [Kind, KubeObject])[];
  readonly flags?: Readonly<Record<string, string>>;
  readonly prober?: Partial<Prober>;
  /** How long is waited, milliseconds. */
  readonly waitMs?: number;
}

export interface Written {
  readonly status: PactoStatus;
  /** Of each status that was written, in turn, that of `pay` among them. */
  readonly statuses: readonly string[];
  /** `Warning ValidationFailed`, each once, sorted. */
  readonly events: readonly string[];
  readonly revisions: readonly string[];
  /** Lines of `pacto_contract_status` that are 1. */
  readonly gauges: readonly string[];
}

export async function writtenOf(situation: Situation): Promise<Written> {
  const { inline, files, sibling, spec, objects = [], flags, prober, waitMs = 0 } = situation;
  const clock = new FakeClock();
  const statuses: string[] = [];
  const cluster = createMemoryCluster({
    clock,
    admit: ({ kind, subresource, object: { status } }) => {
      if (kind !== PACTO || subresource !== 'status') return;
      statuses.push(String((status as PactoStatus | undefined)?.contractStatus));
    },
  });
  const registry = new RecordedRegistry();
  if (files !== undefined) registry.push({ ref: `${REPOSITORY}:1.0.0`, digest: DIGEST, files });
  if (sibling !== undefined) {
    registry.push({ ref: SIBLING, digest: `sha256:${'d'.repeat(64)}`, files: { 'pacto.yaml': sibling } });
    await cluster.create(
      PACTO,
      aPacto('pay', { contractRef: { oci: SIBLING }, target: { serviceName: 'pay' } }),
    );
  }
  for (const [kind, object] of objects) {
    const made = await cluster.create(kind, object);
    const status = object['status'];
    if (status !== undefined) await cluster.replaceStatus(kind, { ...made, status });
  }
  const contractRef = files === undefined ? { inline } : { oci: `${REPOSITORY}:1.0.0` };
  await cluster.create(PACTO, aPacto('cart', { checkIntervalSeconds: 300, contractRef, ...spec }));
  const running = run(cluster, clock, await configWith(flags), {
    prober: {
      get: () => Promise.resolve({ answered: false, reason: 'nobody is there' }),
      protocols: () => Promise.resolve([]),
      close: () => Promise.resolve(),
      ...prober,
    },
    registries: () =>
      Promise.resolve({
        client: registry,
        cache: new BundleCache({ clock, maxBytes: 1024 * 1024, keepsResults: true }),
        withPullSecret: (secret, reference) => registry.withSecret(secret, reference),
        close: () => Promise.resolve(),
      }),
  });
  try {
    await running.settle();
    if (waitMs > 0) await running.turn(waitMs);
    const pacto = await cluster.get(PACTO, { namespace: 'shop', name: 'cart' });
    const events = (await cluster.list(EVENT)).items
      .filter(
        (event) => (event as unknown as { involvedObject: { name: string } }).involvedObject.name === 'cart',
      )
      .map(({ type, reason }) => `${String(type)} ${String(reason)}`);
    const lines = (await running.scrape()).split('\n');
    return {
      status: pacto?.['status'] ?? {},
      statuses,
      events: [...new Set(events)].sort(),
      revisions: (await cluster.list(PACTO_REVISION)).items
        .map(({ metadata }) => metadata.name ?? '')
        .filter((name) => name.startsWith('cart-')),
      gauges: lines.filter(
        (line) =>
          line.startsWith('pacto_contract_status{') && line.endsWith(' 1') && line.includes('name="cart"'),
      ),
    };
  } finally {
    await running.stop();
    await cluster.close();
  }
}
