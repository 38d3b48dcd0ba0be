/** Whether the files of interfaces read at all (contract.md §3.3.2): what they describe is nobody's business here. */
import { bundleFile } from './bundle-files.ts';
import type { BundleFiles } from './bundle-files.ts';
import { YamlProblem } from './yaml-nodes.ts';
import { parseYaml } from './yaml-parse.ts';
import { decodeSource } from './yaml-source.ts';
import { FreeForm } from './yaml-values.ts';
import { YamlWalk } from './yaml-walk.ts';

/** Ours, over all files of one contract: reading happens between two answers of the process. */
const MAX_YAML_BYTES = 2 * 1024 * 1024;
const MAX_JSON_BYTES = 16 * 1024 * 1024;

export type InterfaceSyntax =
  | { readonly outcome: 'reads' }
  | { readonly outcome: 'not-found' }
  | { readonly outcome: 'broken'; readonly language: 'YAML' | 'JSON'; readonly reason: string };

/** Reads each file once, however many interfaces name it, and only so many bytes. */
export class InterfaceFiles {
  readonly #files: BundleFiles;
  readonly #known = new Map<string, InterfaceSyntax>();
  #left = { YAML: MAX_YAML_BYTES, JSON: MAX_JSON_BYTES };

  constructor(files: BundleFiles) {
    this.#files = files;
  }

  /** A `.yaml` or `.yml` file is YAML, any other JSON: a `.proto` file never reads. */
  read(ref: string): InterfaceSyntax {
    const known = this.#known.get(ref) ?? this.#parse(ref);
    this.#known.set(ref, known);
    return known;
  }

  #parse(ref: string): InterfaceSyntax {
    const bytes = bundleFile(this.#files, ref);
    if (bytes === undefined) return { outcome: 'not-found' };
    const language = /\.ya?ml$/i.test(ref) ? 'YAML' : 'JSON';
    this.#left[language] -= bytes.length;
    const reason =
      this.#left[language] < 0
        ? `with it, more ${language} is named by interfaces than is read of one contract`
        : language === 'YAML'
          ? yamlProblem(bytes)
          : jsonProblem(bytes);
    return reason === undefined ? { outcome: 'reads' } : { outcome: 'broken', language, reason };
  }
}

function yamlProblem(bytes: Uint8Array): string | undefined {
  const source = decodeSource(bytes);
  if (!source.ok) return source.reason;
  try {
    const root = parseYaml(source.text);
    if (root !== undefined) new FreeForm(new YamlWalk(), { dates: 'verbatim', json: false }).read(root);
    return undefined;
  } catch (error) {
    if (error instanceof YamlProblem) return error.message;
    throw error;
  }
}

/** A byte order mark is no JSON, and what is no UTF-8 reads as U+FFFD, as in Go. */
function jsonProblem(bytes: Uint8Array): string | undefined {
  try {
    JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return placeOf(error);
    throw error;
  }
}

/** Not the engine's message: it shows a piece of the text, and does not always say where. */
function placeOf({ message }: SyntaxError): string {
  if (message.startsWith('Unexpected end')) return 'the text ends too early';
  const place = /at position (\d+)/.exec(message)?.[1];
  return place === undefined ? 'a character is out of place' : `it stops being JSON at character ${place}`;
}
