/** What of a folder goes into a bundle that is packed or pushed, and what must not. */
import { relative, resolve, sep } from 'node:path';
import { GateError, quote } from '../errors.ts';
import type { BundleFiles } from '../policies/contract/bundle-files.ts';
import { counted, linesOf, parseError, placed, saidOf, type Said } from './contract-findings.ts';
import type { OverrideOptions } from './contract-options.ts';
import type { ContractSession, LoadedContract } from './contract-session.ts';
import { plain, say } from './output.ts';
import type { Surroundings } from './surroundings.ts';

/** A contract with a bundle in which no error was found. */
export type Shippable = LoadedContract & { readonly files: BundleFiles };

interface ShippingOptions extends OverrideOptions {
  /** Whether policies that lie elsewhere are fetched and enforced. */
  readonly fetches: boolean;
  /** Where the archive is written, if anywhere: it is never a part of itself. */
  readonly out?: string;
  /** Files that go along although they look like secrets. */
  readonly withFile: readonly string[];
}

/** Names under which tools keep keys, tokens and passwords. */
const SECRETS: readonly RegExp[] = [
  /^\.env(?:\..+)?$/,
  /^\.(?:npmrc|netrc|pypirc|git-credentials|dockercfg|pgpass|htpasswd)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)$/,
  /\.(?:key|pem|p12|pfx|jks|keystore|kubeconfig)$/,
  /^kubeconfig$/,
];

/**
 * Reads and validates what is to be packed or pushed, and says what is wrong on standard error.
 * @returns undefined where the contract has an error.
 * @throws GateError GATE_INPUT_FILE for a contract alone, and for files that look like secrets.
 */
export async function readyToShip(
  bundle: string,
  options: ShippingOptions,
  session: ContractSession,
  around: Surroundings,
): Promise<Shippable | undefined> {
  const read = await session.read(bundle, options);
  const tell = (said: readonly Said[]): void => {
    for (const line of linesOf(placed(said, read.lines))) around.stderr.write(`${line}\n`);
  };
  const refuse = (said: readonly Said[]): undefined => {
    tell(said);
    say(around, `${bundle}: not valid (${counted(said)}): mend it, pacto-gate validate says the same`);
    return undefined;
  };
  if (!read.ok) return refuse([parseError(read)]);
  const { contract, document, given } = read;
  if (read.files === undefined) {
    throw new GateError(
      'GATE_INPUT_FILE',
      `${bundle}: it is a contract alone: give the folder of its bundle`,
    );
  }
  const files = withoutArchives(read.files, contract.service.name, given.base, options.out, around);
  checkForSecrets(bundle, files, options.withFile);
  const result = await session.validate({ ...read, files }, options.fetches);
  const said = saidOf(result);
  if (result.errors.length > 0) return refuse(said);
  tell(said);
  return { contract, document, files };
}

/** Packing twice in the folder of a bundle must not put the first archive into the second. */
function withoutArchives(
  files: BundleFiles,
  service: string,
  base: string | undefined,
  out: string | undefined,
  around: Surroundings,
): BundleFiles {
  const target = base === undefined || out === undefined ? undefined : insideOf(base, out);
  const kept = new Map(files);
  for (const path of files.keys()) {
    const isPacked = !path.includes('/') && path.startsWith(`${service}-`) && path.endsWith('.tgz');
    if (path === target || isPacked) {
      kept.delete(path);
      if (path !== target) say(around, `left out ${quote(path)}: it is what contract pack writes`);
    }
  }
  return kept;
}

function insideOf(base: string, file: string): string {
  return relative(base, resolve(file)).split(sep).join('/');
}

/** Whoever can pull a bundle can read every file in it. */
function checkForSecrets(bundle: string, files: BundleFiles, withFile: readonly string[]): void {
  const found = [...files.keys()].filter((path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return !withFile.includes(path) && SECRETS.some((pattern) => pattern.test(name));
  });
  if (found.length === 0) return;
  const named = found.slice(0, 5).map(quote).join(', ');
  const more = found.length > 5 ? ` and ${String(found.length - 5)} more` : '';
  throw new GateError(
    'GATE_INPUT_FILE',
    `${bundle}: it holds what looks like secrets, ${named}${more}: name them in .pactoignore, or give --with-file for each that is none`,
  );
}

/** As they are shown. */
export function namesOf(files: BundleFiles): readonly string[] {
  return [...files.keys()].sort();
}

/** `3 files: interfaces/web.yaml, pacto.yaml, settings.json`. */
export function filesText(names: readonly string[]): string {
  const shown = names.slice(0, 50).join(', ');
  const more = names.length > 50 ? ` and ${String(names.length - 50)} more` : '';
  return plain(`${String(names.length)} ${names.length === 1 ? 'file' : 'files'}: ${shown}${more}`);
}
