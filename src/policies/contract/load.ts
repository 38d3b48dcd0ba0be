/** From the text of a contract to its two views (contract.md §2). Never throws: texts are hostile. */
import { quote } from '../quote.ts';
import type { Contract } from './contract.ts';
import { decodeContract } from './decode.ts';
import type { ContractDocument, GenericView, Loaded, LoadFailure } from './document.ts';
import { parseYaml } from './yaml-parse.ts';
import type { YamlNode } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { decodeSource } from './yaml-source.ts';
import { FreeForm } from './yaml-values.ts';
import { YamlWalk } from './yaml-walk.ts';

/** The only version there is (contract.md §1.1). */
const PACTO_VERSION = '2.0';

interface Failed {
  readonly ok: false;
  readonly problem: YamlProblem;
}
type Outcome<T> = { readonly ok: true; readonly value: T } | Failed;

/** The generic view alone, for a text that layer 1 looks at although it does not load. */
export function readDocument(source: string | Uint8Array): ContractDocument {
  const { text, root } = parse(source);
  return { text, generic: genericView(root) };
}

/** @param source at most 1 MiB, else it is refused unread */
export function load(source: string | Uint8Array): Loaded {
  const { text, root } = parse(source);
  const document = { text, generic: genericView(root) };
  const contract = attempt(() => contractOf(root));
  return contract.ok
    ? { ok: true, contract: contract.value, document }
    : { ok: false, ...failureOf(contract.problem), document };
}

/** A failure in one sentence, for where nothing else says its place: `service.owner (line 5): …`. */
export function failureText({ reason, path, line }: LoadFailure): string {
  const at = line === undefined ? undefined : `line ${String(line)}`;
  const place = path === undefined ? at : at === undefined ? path : `${path} (${at})`;
  return place === undefined ? reason : `${place}: ${reason}`;
}

function failureOf({ said, path, line }: YamlProblem): LoadFailure {
  return { reason: said, ...(path !== undefined && { path }), ...(line !== undefined && { line }) };
}

function parse(source: string | Uint8Array): { text: string; root: Outcome<YamlNode | undefined> } {
  const decoded = decodeSource(source);
  if (!decoded.ok) return { text: decoded.text, root: failed(new YamlProblem(decoded.reason)) };
  return { text: decoded.text, root: attempt(() => parseYaml(decoded.text)) };
}

/** A text without a document is null (contract.md §2.2). */
function genericView(root: Outcome<YamlNode | undefined>): GenericView {
  if (!root.ok) return { ok: false, reason: root.problem.message };
  const node = root.value;
  if (node === undefined) return { ok: true, value: null };
  const view = attempt(() => new FreeForm(new YamlWalk(), { dates: 'verbatim', json: true }).read(node));
  return view.ok ? view : { ok: false, reason: view.problem.message };
}

function contractOf(root: Outcome<YamlNode | undefined>): Contract {
  if (!root.ok) throw root.problem;
  if (root.value === undefined) throw new YamlProblem('it holds no document');
  const contract = decodeContract(root.value);
  const { pactoVersion, service } = contract;
  if (pactoVersion !== PACTO_VERSION) {
    const found = pactoVersion === '' ? 'is missing' : `is ${quote(pactoVersion)}, which is not supported`;
    throw new YamlProblem(`${found}: write pactoVersion: "${PACTO_VERSION}"`, { path: 'pactoVersion' });
  }
  if (service.name === '') throw new YamlProblem('is missing or empty', { path: 'service.name' });
  if (service.version === '') throw new YamlProblem('is missing or empty', { path: 'service.version' });
  return contract;
}

function attempt<T>(read: () => T): Outcome<T> {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    if (error instanceof YamlProblem) return failed(error);
    throw error;
  }
}

function failed(problem: YamlProblem): Failed {
  return { ok: false, problem };
}
