/** A pass over a cluster in memory, contracts written in the Pacto itself, and a clock that a test turns. */
import { DEPLOYMENT, ENDPOINT_SLICE, PACTO, SERVICE, type Kind } from '../../src/cluster/kinds.ts';
import { createMemoryCluster } from '../../src/cluster/memory.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { LogFields } from '../../src/log.ts';
import type { PactoStatus } from '../../src/reconcile/api/pacto.ts';
import { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import { createPass } from '../../src/reconcile/cluster-pass.ts';
import { readContractOf } from '../../src/reconcile/contract-reading.ts';
import { createContractSource } from '../../src/reconcile/contract-source.ts';
import { createLiveView } from '../../src/reconcile/live-view.ts';
import type { ObserveSettings } from '../../src/reconcile/observe/dimension.ts';
import type { Prober } from '../../src/reconcile/observe/prober.ts';
import type { Pass, PassResult } from '../../src/reconcile/pass.ts';
import { FewKeywords } from '../policies/contract/few-keywords.ts';
import { anObject } from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { service, slice } from './observe/survey-objects.ts';
import { NAMESPACE, WINDOW_MS } from './observe/survey.ts';
import { Refusing } from './sight-world.ts';

export const CART = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.4.0}\n';

export interface Written {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
  readonly generation?: number;
}

export interface PassWorldOptions {
  readonly settings?: Partial<ObserveSettings>;
  readonly prober?: Partial<Prober>;
}

export class PassWorld {
  readonly clock = new FakeClock();
  readonly cluster = createMemoryCluster({ clock: this.clock });
  readonly refusing = new Refusing(this.cluster);
  readonly logged: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
  readonly #schemas = new FewKeywords();
  readonly #pass: Pass;

  constructor({ settings, prober }: PassWorldOptions = {}) {
    const registries = { client: {} as never, cache: {} as never, withPullSecret: () => ({}) as never };
    this.#pass = createPass({
      source: createContractSource(() => Promise.resolve(registries), this.clock),
      reader: { read: (_key, job) => readContractOf(job, this.#schemas) },
      schemas: this.#schemas,
      prober: {
        get: () => Promise.resolve({ answered: false, reason: 'nobody asked' }),
        protocols: () => Promise.resolve([]),
        ...prober,
      },
      settings: { probing: false, metrics: false, nameMatch: false, nodeAgent: undefined, ...settings },
      stabilizationMs: WINDOW_MS,
      clock: this.clock,
      log: { error: (message, fields) => void this.logged.push({ message, fields }) },
    });
  }

  async put(kind: Kind, object: KubeObject): Promise<void> {
    const { namespace = '', name = '' } = object.metadata;
    const there = await this.cluster.get(kind, { namespace, name });
    await (there === undefined
      ? this.cluster.create(kind, object)
      : this.cluster.replace(kind, { ...object, metadata: { ...object.metadata, ...there.metadata } }));
  }

  async look(
    { spec, status, generation = 1 }: Written,
    signal = new AbortController().signal,
  ): Promise<PassResult> {
    const pacto = anObject(
      PACTO,
      { namespace: NAMESPACE, name: 'cart', generation, resourceVersion: '1' },
      { spec, ...(status !== undefined && { status }) },
    );
    const view = createLiveView({ cluster: this.refusing, namespaces: [], nodeAgent: undefined, signal });
    return await this.#pass.look(readPacto(pacto), { view, signal });
  }

  /** What an API server makes of a status that was written. */
  stored({ status }: PassResult): PactoStatus {
    return JSON.parse(JSON.stringify(status)) as PactoStatus;
  }
}

export const API = 'interfaces: [{name: api, type: openapi, ref: a.yaml}]\n';
export const API_TARGET = { serviceName: 'web', interfaceBindings: [{ interface: 'api', servicePort: 80 }] };

/** `web`, with or without something ready behind it. */
export function webObjects(ready: boolean): { readonly service: KubeObject; readonly slice: KubeObject } {
  return { service: service(), slice: slice('web', [{ ready }]) };
}

/** Findings, conditions and events in short. */
export function saidBy({ status, events }: PassResult): {
  readonly status: string | undefined;
  readonly findings: readonly string[];
  readonly conditions: readonly string[];
  readonly events: readonly string[];
} {
  return {
    status: status.contractStatus,
    findings: (status.findings ?? []).map(({ code, subject = '' }) => `${code} ${subject}`.trim()),
    conditions: (status.conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is}/${reason}`),
    events: events.map(({ type, reason }) => `${type} ${reason}`),
  };
}

export const inline = (more = '', spec: Written['spec'] = {}): Written['spec'] => ({
  contractRef: { inline: CART + more },
  ...spec,
});

/** Behind `web` something is ready, or nothing; there is a Deployment of that name. */
export async function webWorld(ready = true, options: PassWorldOptions = {}): Promise<PassWorld> {
  const made = new PassWorld(options);
  const objects = webObjects(ready);
  await made.put(SERVICE, objects.service);
  await made.put(ENDPOINT_SLICE, objects.slice);
  const template = { spec: { containers: [{ image: 'r.test/web:1' }] } };
  await made.put(
    DEPLOYMENT,
    anObject(DEPLOYMENT, { namespace: NAMESPACE, name: 'web' }, { spec: { template } }),
  );
  return made;
}
