/** Contracts from a registry in memory, and from Pactos that name it. */
import { PACTO, SECRET } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { readPacto } from '../../src/reconcile/api/read-pacto.ts';
import {
  createContractSource,
  type ContractSource,
  type NoContract,
  type ObtainedContract,
} from '../../src/reconcile/contract-source.ts';
import { BundleCache } from '../../src/registry/bundle-cache.ts';
import { pullSecretCredentials, type PullSecret } from '../../src/registry/credentials/pull-secret.ts';
import type { PullClient } from '../../src/registry/pull.ts';
import { parseRegistryReference } from '../../src/registry/reference.ts';
import { anObject } from '../support/builders.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { MemoryRegistry } from '../support/registry/memory-registry.ts';

export const INLINE = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.0.0}\n';
export const PASSWORD = 'c0rrect-horse';

/** `spec.contractRef`. */
export type Ref = Readonly<Record<string, unknown>>;

export class SourceWorld {
  readonly clock = new FakeClock();
  readonly registry = new MemoryRegistry();
  /** Thrown instead of a Secret. */
  secretFault: Error | undefined;
  secret: KubeObject | undefined;
  /** What clients of pull secrets were made of. */
  readonly credentials: unknown[] = [];
  readonly source: ContractSource;
  opened = 0;

  constructor(client?: PullClient) {
    const { clock } = this;
    const cache = new BundleCache({ clock, maxBytes: 1_000_000, keepsResults: true });
    this.source = createContractSource(() => {
      this.opened += 1;
      return Promise.resolve({
        client: client ?? this.registry,
        cache,
        withPullSecret: (secret: PullSecret, reference: string) => {
          const target = parseRegistryReference(reference);
          const found = pullSecretCredentials(secret, target);
          this.credentials.push(found.for(target.registry, target.repository));
          return client ?? this.registry;
        },
      });
    }, clock);
  }

  readonly view = {
    pullSecret: async (): Promise<KubeObject | undefined> => {
      if (this.secretFault !== undefined) throw this.secretFault;
      return this.secret;
    },
  };

  obtain(contractRef: Ref, signal = new AbortController().signal): Promise<ObtainedContract | NoContract> {
    return this.source.obtain(pacto(contractRef), { view: this.view, signal });
  }

  async message(contractRef: Ref): Promise<string> {
    const found = await this.obtain(contractRef);
    return found.ok ? 'a contract' : `${found.failure}: ${found.message}`;
  }
}

export function pacto(contractRef: Ref): ReturnType<typeof readPacto> {
  return readPacto(anObject(PACTO, { namespace: 'shop', name: 'cart' }, { spec: { contractRef } }));
}

export function secret(data: Readonly<Record<string, string>>, type?: string): KubeObject {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return anObject(
    SECRET,
    { namespace: 'shop', name: 'pull' },
    { data: Object.fromEntries(encoded), ...(type !== undefined && { type }) },
  );
}
