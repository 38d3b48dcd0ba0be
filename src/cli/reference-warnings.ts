/**
 * What the layers take for right because upstream does (contract.md §9.1), and what a person hardly ever means: a
 * reference without `oci://` is a path of this machine, and a name that no registry takes is found out when it is fetched.
 */
import { GateError, quote } from '../errors.ts';
import type { Contract } from '../policies/contract/contract.ts';
import { parseReference } from '../policies/contract/reference.ts';
import { parseRegistryReference } from '../registry/reference.ts';
import type { Said } from './contract-findings.ts';

export function referenceWarnings(contract: Contract): readonly Said[] {
  return referencesOf(contract).flatMap(({ ref, path }) => {
    const warning = warningOf(ref);
    return warning === undefined ? [] : [{ ...warning, severity: 'warning' as const, path }];
  });
}

/** Where a contract refers to others: an empty reference is none. */
export function referencesOf({
  dependencies,
  configurations,
  policies,
}: Contract): readonly { readonly ref: string; readonly path: string }[] {
  return Object.entries({ dependencies, configurations, policies }).flatMap(([section, items]) =>
    items.flatMap(({ ref }, index) =>
      ref === undefined || ref === '' ? [] : [{ ref, path: `${section}[${String(index)}].ref` }],
    ),
  );
}

function warningOf(ref: string): Pick<Said, 'code' | 'message'> | undefined {
  const reference = parseReference(ref);
  // What is malformed is an error already.
  if (reference.problem !== undefined) return undefined;
  if (reference.scheme === 'local') {
    return {
      code: 'LOCAL_REFERENCE',
      message: `${quote(ref)} is a path of this machine; a registry begins with oci://, and push takes nothing else`,
    };
  }
  try {
    parseRegistryReference(ref);
    return undefined;
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    return { code: 'REFERENCE_UNUSABLE', message: `no registry can be asked for it: ${error.message}` };
  }
}
