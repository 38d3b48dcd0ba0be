/** From the text of a contract to its two views (contract.md §2). Never throws: texts are hostile. */
import { quote } from '../quote.ts';
import type { Contract } from './contract.ts';
import { decodeContract } from './decode.ts';
import type { ContractDocument, GenericView, Loaded } from './document.ts';
import { parseYaml } from './yaml-parse.ts';
import type { YamlNode } from './yaml-nodes.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { decodeSource } from './yaml-source.ts';
import { FreeForm } from './yaml-values.ts';
import { YamlWalk } from './yaml-walk.ts';

/** The only version there is (contract.md §1.1). */
const PACTO_VERSION = '2.0';

type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

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
    : { ok: false, reason: contract.reason, document };
}

function parse(source: string | Uint8Array): { text: string; root: Outcome<YamlNode | undefined> } {
  const decoded = decodeSource(source);
  if (!decoded.ok) return { text: decoded.text, root: decoded };
  return { text: decoded.text, root: attempt(() => parseYaml(decoded.text)) };
}

/** A text without a document is null (contract.md §2.2). */
function genericView(root: Outcome<YamlNode | undefined>): GenericView {
  if (!root.ok) return root;
  const node = root.value;
  if (node === undefined) return { ok: true, value: null };
  return attempt(() => new FreeForm(new YamlWalk(), { dates: 'verbatim', json: true }).read(node));
}

function contractOf(root: Outcome<YamlNode | undefined>): Contract {
  if (!root.ok) throw new YamlProblem(root.reason);
  if (root.value === undefined) throw new YamlProblem('it holds no document');
  const contract = decodeContract(root.value);
  if (contract.pactoVersion === '') throw new YamlProblem('pactoVersion is required');
  if (contract.pactoVersion !== PACTO_VERSION) {
    throw new YamlProblem(
      `pactoVersion ${quote(contract.pactoVersion)} is not supported, only "${PACTO_VERSION}" is`,
    );
  }
  if (contract.service.name === '') throw new YamlProblem('service.name is required');
  if (contract.service.version === '') throw new YamlProblem('service.version is required');
  return contract;
}

function attempt<T>(read: () => T): Outcome<T> {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    if (error instanceof YamlProblem) return { ok: false, reason: error.message };
    throw error;
  }
}
