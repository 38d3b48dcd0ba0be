/** Manifests and reviews from a file or standard input, document by document. */
import type { KubeObject } from '../cluster/objects.ts';
import { readYaml } from '../cluster/directory-yaml.ts';
import { readAtMost, readStreamAtMost } from '../bounded-file.ts';
import { GateError } from '../errors.ts';
import { isBoxedDouble, JsonError, readJson } from '../json.ts';
import { readFaultOf } from './input-file.ts';
import type { Surroundings } from './surroundings.ts';

export interface InputDocument {
  /** As given on the command line, for messages. */
  readonly file: string;
  /** From 1, counting what is not empty. */
  readonly number: number;
  readonly object: KubeObject;
}

/** Eight full AdmissionReviews: above that a file is not what was meant. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/**
 * Reads a file, or standard input for `-`. Items of a `List` count as documents of their own.
 * @param options.mayBeEmpty a file that holds no object is none to complain of.
 * @throws GateError GATE_INPUT_FILE: unreadable, not YAML or JSON, no objects, or an object without apiVersion and kind.
 */
export async function readDocuments(
  file: string,
  around: Pick<Surroundings, 'stdin'>,
  options: { readonly mayBeEmpty?: boolean } = {},
): Promise<readonly InputDocument[]> {
  const text = await readText(file, around);
  const values = /^\s*[{[]/.test(text) ? [parseJson(file, text)] : await parseYaml(file, text);
  const objects = values.flatMap((value, index) => objectsOf(file, value, index + 1));
  if (objects.length === 0 && options.mayBeEmpty !== true)
    throw refuse(file, 'holds no object: give a manifest or an AdmissionReview');
  return objects.map((object, index) => ({ file, number: index + 1, object }));
}

async function readText(file: string, { stdin }: Pick<Surroundings, 'stdin'>): Promise<string> {
  try {
    const bytes =
      file === '-' ? await readStreamAtMost(stdin, MAX_FILE_BYTES) : await readAtMost(file, MAX_FILE_BYTES);
    return bytes.toString('utf8');
  } catch (error) {
    throw refuse(file, `cannot be read: ${readFaultOf(error)}`, error);
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return readJson(Buffer.from(text), { negativeZero: 'int' });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw refuse(file, `is no JSON: ${error.message}`, error);
  }
}

/** As kubectl reads it, and number by number as a review is read. */
async function parseYaml(file: string, text: string): Promise<unknown[]> {
  const documents = await readYaml(text);
  return documents
    .map(({ fault, value }) => {
      if (fault === undefined) return value;
      const { line, column, message } = fault;
      const what = message.replace(/^is not YAML: /, '');
      throw refuse(file, `is no YAML: line ${String(line)}, column ${String(column)}: ${what}`);
    })
    .filter((value) => value !== null && value !== undefined);
}

function objectsOf(file: string, value: unknown, number: number): KubeObject[] {
  const where = `document ${String(number)}`;
  if (!isRecord(value)) throw refuse(file, `${where} is no object: need a manifest with apiVersion and kind`);
  const { apiVersion, kind, metadata = {} } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '' || typeof kind !== 'string' || kind === '')
    throw refuse(file, `${where} has no apiVersion and kind: need both`);
  if (kind === 'List' && apiVersion === 'v1' && Array.isArray(value['items']))
    return value['items'].flatMap((item) => objectsOf(file, item, number));
  if (!isRecord(metadata)) throw refuse(file, `${where}: metadata is no object: need one`);
  return [{ ...value, apiVersion, kind, metadata }];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBoxedDouble(value);
}

function refuse(file: string, what: string, cause?: unknown): GateError {
  return new GateError('GATE_INPUT_FILE', `${file === '-' ? 'standard input' : `file ${file}`}: ${what}`, {
    cause,
  });
}
