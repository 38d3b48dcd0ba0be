/** What looks at a Pacto, from contracts to probes: for the reconciler and for the command line. */
import { observeSettings } from './reconciler-settings.ts';
import { openRegistries } from './registry.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { createPass } from '../reconcile/cluster-pass.ts';
import { ContractReader } from '../reconcile/contract-reader.ts';
import { createContractSource, type SourceRegistries } from '../reconcile/contract-source.ts';
import type { MirrorRunnerOptions } from '../reconcile/mirror-runner.ts';
import { createHttpProber } from '../reconcile/observe/http-prober.ts';
import type { Prober } from '../reconcile/observe/prober.ts';
import type { Pass } from '../reconcile/pass.ts';
import { SchemaPool } from '../schema/schema-pool.ts';

export interface LookingParts {
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
}

export interface LookingSources {
  /** Where a Service is to be asked; default: by its name in the cluster. */
  readonly prober?: Prober & { close(): Promise<void> };
  /** Default: as the configuration has them. */
  readonly registries?: () => Promise<SourceRegistries & { close(): Promise<void> }>;
}

export interface Looking extends Pick<MirrorRunnerOptions, 'source' | 'reader'> {
  readonly pass: Pass;
  forget(repository: string): void;
  close(): Promise<void>;
}

/** Nothing of it is opened before it is needed; `close` it. */
export function openLooking(
  config: Config,
  { clock, log }: LookingParts,
  sources: LookingSources = {},
): Looking {
  const schemas = new SchemaPool({ clock });
  const reader = new ContractReader({ schemas, clock });
  const prober = sources.prober ?? createHttpProber({ clock });
  let opened: ReturnType<NonNullable<LookingSources['registries']>> | undefined;
  const open = sources.registries ?? (() => openRegistries(config, { clock, cachesOnDisk: false }));
  const openOnce = (): NonNullable<typeof opened> => {
    opened ??= open().catch((error: unknown) => {
      // A file that it names may be there at the next look.
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const source = createContractSource(openOnce, clock);
  const pass = createPass({
    source,
    reader,
    schemas,
    prober,
    settings: observeSettings(config),
    stabilizationMs: config.reconciler.stabilizationSeconds * 1_000,
    clock,
    log,
  });
  return {
    pass,
    source,
    reader,
    forget(repository) {
      // Where nothing is opened nothing was pulled.
      if (opened !== undefined) source.forget(repository);
    },
    async close() {
      await reader.close();
      await schemas.close();
      await prober.close();
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}
