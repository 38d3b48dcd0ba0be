/** A contract's text read, overridden and validated: the same on the event loop and in the worker. */
import type { BundleFiles } from '../policies/contract/bundle-files.ts';
import type { Contract } from '../policies/contract/contract.ts';
import type { Problem, ValidationResult } from '../policies/contract/findings.ts';
import type { JsonValue } from '../policies/contract/json-value.ts';
import { failureText, load } from '../policies/contract/load.ts';
import {
  overrideConfigurations,
  type ConfigurationOverride,
} from '../policies/contract/operator-overrides.ts';
import type { SchemaChecks } from '../policies/contract/schema-checks.ts';
import { validate } from '../policies/contract/validate.ts';

export interface ContractJob {
  readonly text: Uint8Array;
  readonly files: BundleFiles | undefined;
  readonly overrides: readonly ConfigurationOverride[];
}

export type ReadContract =
  /** Neither is a contract to look at then (operator.md §3.2, steps 6 and 7). */
  | {
      readonly ok: false;
      readonly stage: 'load' | 'override';
      readonly message: string;
      /** It took too long or too much memory, and nothing is known of what it says. */
      readonly isTooHard?: true;
    }
  | {
      readonly ok: true;
      /** As its overrides leave it. */
      readonly contract: Contract;
      /** Of its own text: what a revision is of. */
      readonly service: { readonly name: string; readonly version: string };
      readonly validation: ValidationResult;
      /** As they are written, where the typed view has what they mean: dates (contract.md §2.3 h). */
      readonly metadataAsWritten: JsonValue | undefined;
      readonly configurationsAsWritten: JsonValue | undefined;
    };

/** Tells a text, its bundle and its overrides from all others. */
export function contractKey(
  { sha256, digest }: { readonly sha256: string; readonly digest: string },
  overrides: readonly ConfigurationOverride[],
): string {
  return `${sha256} ${digest} ${JSON.stringify(overrides)}`;
}

export async function readContractOf(job: ContractJob, schemas: SchemaChecks): Promise<ReadContract> {
  const loaded = load(job.text);
  if (!loaded.ok)
    return { ok: false, stage: 'load', message: `failed to parse the contract: ${failureText(loaded)}` };
  const changed = overrideConfigurations(loaded.document, loaded.contract, job.overrides);
  if (!changed.ok) return { ok: false, stage: 'override', message: changed.reason };
  const { contract, document } = changed;
  const validation = await validate(
    { contract, document },
    { schemas, ...(job.files !== undefined && { files: job.files }) },
  );
  const generic = document.generic.ok ? document.generic.value : undefined;
  return {
    ok: true,
    contract,
    service: { name: loaded.contract.service.name, version: loaded.contract.service.version },
    validation,
    metadataAsWritten: fieldOf(generic, 'metadata'),
    configurationsAsWritten: fieldOf(generic, 'configurations'),
  };
}

/** Of V8, for an object or list with few entries. */
const OBJECT_BYTES = 64;
const ENTRY_BYTES = 16;

/** @returns bytes of memory that it takes, roughly: a text of values such as `{}` takes twenty times its length. */
export function weightOf(read: ReadContract): number {
  let bytes = 0;
  const left: unknown[] = [read];
  while (left.length > 0) {
    const value = left.pop();
    bytes += ENTRY_BYTES;
    if (typeof value === 'string') bytes += value.length;
    if (typeof value !== 'object' || value === null) continue;
    bytes += OBJECT_BYTES;
    for (const [key, entry] of Object.entries(value)) {
      if (!Array.isArray(value)) bytes += key.length;
      left.push(entry);
    }
  }
  return bytes;
}

function fieldOf(value: JsonValue | undefined, field: string): JsonValue | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, field)
    ? (value as Record<string, JsonValue>)[field]
    : undefined;
}

/** `path: message`, joined as operator.md §3.2 step 8 has it. */
export function validationText(errors: readonly Problem[]): string {
  return errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}
