/** What a command about contracts works with: the registry, schemas in their worker, and a contract read and overridden. */
import { resolve } from 'node:path';
import { readContract } from '../app/contract-reader.ts';
import { openRegistries, type Registries } from '../app/registry.ts';
import type { Config } from '../config.ts';
import { GateError, messageOf, quote } from '../errors.ts';
import { bestTag } from '../policies/contract/best-tag.ts';
import { CONTRACT_FILE, type BundleFiles } from '../policies/contract/bundle-files.ts';
import type { Contract } from '../policies/contract/contract.ts';
import type { ContractDocument, LoadFailure } from '../policies/contract/document.ts';
import type { ValidationResult } from '../policies/contract/findings.ts';
import { failureText, load } from '../policies/contract/load.ts';
import { override } from '../policies/contract/overrides.ts';
import type { PolicyResolution, PolicyResolver } from '../policies/contract/policy-layer.ts';
import { validate } from '../policies/contract/validate.ts';
import { pullBundle } from '../registry/pull.ts';
import { SchemaPool } from '../schema/schema-pool.ts';
import type { Lines } from './contract-findings.ts';
import { readGivenContract, type GivenContract, type Pulled } from './contract-input.ts';
import type { OverrideOptions } from './contract-options.ts';
import { readInputFile } from './input-file.ts';
import { PullProgress } from './pull-progress.ts';
import type { Surroundings } from './surroundings.ts';

/** A contract that loads, as its overrides leave it. */
export interface LoadedContract {
  readonly contract: Contract;
  readonly document: ContractDocument;
  /** With the contract as it is now. */
  readonly files: BundleFiles | undefined;
}

interface ReadFrom {
  readonly given: GivenContract;
  readonly lines: Lines;
}

export type ReadResult =
  | ({ readonly ok: true } & LoadedContract & ReadFrom)
  /** Why it does not load: `PARSE_ERROR`. */
  | ({ readonly ok: false } & LoadFailure & ReadFrom);

export class ContractSession {
  readonly #schemas = new SchemaPool();
  readonly #config: Config;
  readonly #around: Surroundings;
  #registries: Promise<Registries> | undefined;
  #hasUnanswered = false;

  constructor(config: Config, around: Surroundings) {
    this.#config = config;
    this.#around = around;
  }

  /** Whether a policy could not be fetched for a reason that says nothing about the contract. */
  get hasUnanswered(): boolean {
    return this.#hasUnanswered;
  }

  /** Opened at the first question: most contracts need none. */
  registries(): Promise<Registries> {
    return (this.#registries ??= openRegistries(this.#config, {
      clock: this.#around.clock,
      cachesOnDisk: true,
    }));
  }

  /** @throws GateError where there is nothing to load, or a values file cannot be read. */
  async read(name: string, { values, set }: OverrideOptions): Promise<ReadResult> {
    const given = await readGivenContract(name, this.#around, (reference) => this.#pull(reference));
    const loaded = load(given.text);
    const { document } = loaded;
    const lines = { written: document.text };
    if (values.length === 0 && set.length === 0) {
      return loaded.ok ? { ...loaded, files: given.files, given, lines } : { ...loaded, given, lines };
    }
    const texts = await Promise.all(values.map((file) => readInputFile(file)));
    const changed = override(document, { values: texts, set });
    if (!changed.ok) return { ok: false, reason: named(changed.reason, values), given, lines };
    const again = load(changed.text);
    if (!again.ok) {
      // Its lines are those of a text that nobody sees.
      const { line: _line, ...failure } = again;
      return { ...failure, reason: `with its overrides: ${again.reason}`, given, lines };
    }
    const files = given.files && new Map(given.files).set(CONTRACT_FILE, Buffer.from(changed.text));
    return { ...again, files, given, lines: { ...lines, overridden: changed.text } };
  }

  /** Fetches policies that a contract refers to: from registries, and below a contract on this machine from beside it. */
  readonly #resolver: PolicyResolver = {
    resolve: async (reference, from): Promise<PolicyResolution> => {
      try {
        const isLocal = !reference.startsWith('oci://');
        if (isLocal && from === undefined) {
          return { ok: false, reason: 'a contract that is on no disk may not name a local path' };
        }
        const name = isLocal ? resolve(from ?? '', reference.replace(/^file:\/\//, '')) : reference;
        const given = await readGivenContract(name, this.#around, (text) => this.#pull(text));
        if (given.files === undefined) return { ok: false, reason: 'it is a contract without a bundle' };
        const loaded = load(given.text);
        return loaded.ok
          ? { ok: true, bundle: { contract: loaded.contract, files: given.files, base: given.base } }
          : { ok: false, reason: `its contract does not load: ${failureText(loaded)}` };
      } catch (error) {
        this.#hasUnanswered ||= !(error instanceof GateError) || error.disposition !== 'input';
        return { ok: false, reason: messageOf(error) };
      }
    },
  };

  /** @param fetches whether policies that lie elsewhere are fetched and enforced. */
  validate(
    { contract, document, files, given }: LoadedContract & Pick<ReadFrom, 'given'>,
    fetches: boolean,
  ): Promise<ValidationResult> {
    return validate(
      { contract, document },
      {
        schemas: this.#schemas,
        ...(files !== undefined && { files }),
        ...(fetches && { resolver: this.#resolver }),
        ...(given.base !== undefined && { base: given.base }),
      },
    );
  }

  async close(): Promise<void> {
    await this.#schemas.close();
    const opened = await this.#registries?.catch(() => undefined);
    await opened?.close();
  }

  async #pull(reference: string): Promise<Pulled> {
    const { client, cache } = await this.registries();
    const progress = new PullProgress(this.#around, reference);
    const { files, digest, ref } = await pullBundle(client, reference, {
      readContract,
      chooseTag: (tags) => bestTag(tags),
      cache,
      onProgress: (received, total) => progress.received(received, total),
    });
    return { files, digest, reference: `oci://${ref}` };
  }
}

/** Runs the work of one command, and closes what it opened. */
export async function withContracts<T>(
  config: Config,
  around: Surroundings,
  work: (session: ContractSession) => Promise<T>,
): Promise<T> {
  const session = new ContractSession(config, around);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** `cart 1.4.0`, for a line of text. */
export function titleOf({ service }: Contract): string {
  const inert = (text: string): string => quote(text).slice(1, -1);
  return `${inert(service.name)} ${inert(service.version)}`;
}

/** Values files have numbers where they are merged, and names on the command line. */
function named(reason: string, files: readonly string[]): string {
  return reason.replace(/^values file (\d+)/, (all, number: string) => {
    const file = files[Number(number) - 1];
    return file === undefined ? all : `values file ${file}`;
  });
}
