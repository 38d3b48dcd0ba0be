/** Contracts, bundles and resolvers written as texts. */
import { load } from '../../../src/policies/contract/load.ts';
import type { Contract } from '../../../src/policies/contract/contract.ts';
import type { Loaded } from '../../../src/policies/contract/document.ts';
import type { PolicyResolution, PolicyResolver } from '../../../src/policies/contract/policy-layer.ts';
import type { ValidationResult } from '../../../src/policies/contract/findings.ts';
import { validate } from '../../../src/policies/contract/validate.ts';
import type { ValidateOptions } from '../../../src/policies/contract/validate.ts';
import { FewKeywords } from './few-keywords.ts';

type TextFiles = Readonly<Record<string, string>>;

/** The keys that most examples leave out. */
export const CART = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.4.0}\n';

export function loaded(yaml: string): Extract<Loaded, { ok: true }> {
  const result = load(yaml);
  if (!result.ok) throw new Error(result.reason);
  return result;
}

export function bundle(files: TextFiles): ReadonlyMap<string, Uint8Array> {
  const encoder = new TextEncoder();
  return new Map(Object.entries(files).map(([path, text]) => [path, encoder.encode(text)]));
}

/** Validates `CART` and more, with a bundle of these files unless the options say otherwise. */
export async function judge(
  more: string,
  files: TextFiles = {},
  options: Partial<ValidateOptions> = {},
): Promise<ValidationResult> {
  return judgeText(CART + more, files, options);
}

export async function judgeText(
  yaml: string,
  files: TextFiles,
  options: Partial<ValidateOptions> = {},
): Promise<ValidationResult> {
  const schemas = new FewKeywords();
  return validate(loaded(yaml), { schemas, files: bundle(files), base: '', ...options });
}

/** Each problem as `CODE path`. */
export function told(problems: ValidationResult['errors']): readonly string[] {
  return problems.map(({ code, path }) => (path === '' ? code : `${code} ${path}`));
}

export interface RecordingResolver extends PolicyResolver {
  readonly asked: { readonly ref: string; readonly from: string | undefined }[];
}

/** Bundles by `base reference`, or by the reference alone: their files, and the base that they have. */
export function resolver(
  bundles: Readonly<Record<string, { readonly files: TextFiles; readonly base?: string } | string>>,
): RecordingResolver {
  const asked: { readonly ref: string; readonly from: string | undefined }[] = [];
  const contracts = new Map<string, Contract>();
  return {
    asked,
    resolve: (ref, from): Promise<PolicyResolution> => {
      asked.push({ ref, from });
      const found = bundles[`${from ?? ''} ${ref}`] ?? bundles[ref] ?? 'not found';
      if (typeof found === 'string') return Promise.resolve({ ok: false, reason: found });
      const policies = found.files['policies'] ?? '';
      const contract = contracts.get(policies) ?? loaded(CART + policies).contract;
      contracts.set(policies, contract);
      return Promise.resolve({
        ok: true,
        bundle: { contract, files: bundle(found.files), base: found.base },
      });
    },
  };
}
