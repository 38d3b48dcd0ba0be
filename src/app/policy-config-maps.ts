/** Policies in ConfigMaps: what their keys hold, and what they held when they were last in order. */
import { readObjectsOf, type FoundObject } from '../cluster/directory-file.ts';
import { DIRECTORY_LIMITS, type Problem } from '../cluster/directory-scan.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { quote } from '../errors.ts';
import { policyKindOf, readOf } from '../policies/vap/policy-objects.ts';
import type { SourcedObject } from '../policies/vap/sources.ts';

/** ConfigMaps with this label hold policies, in the namespaces of policies.namespaces. */
export const POLICIES_SELECTOR = 'gate.pacto.trianalab.io/policies=true';

/** A ConfigMap that is not in order: the last good objects of it are in force, and of a new one nothing that is wrong. */
export interface ConfigMapProblem {
  readonly namespace: string;
  readonly name: string;
  /** Which key and line, and what is wrong. */
  readonly message: string;
}

export interface ConfigMapReading {
  readonly objects: readonly SourcedObject[];
  readonly problems: readonly ConfigMapProblem[];
}

const NOTHING: ConfigMapReading = { objects: [], problems: [] };
const MANIFEST = /\.(ya?ml|json)$/i;
/** Of one ConfigMap; what is beyond is counted. */
const MOST_PROBLEMS = 20;

interface Known extends ConfigMapReading {
  /** Changes whenever the contents may have changed. */
  readonly stamp: string;
}

/** Remembers what the ConfigMaps held, for as long as it lives. */
export class ConfigMapPolicies {
  #known = new Map<string, Known>();

  /** @param maps all there are: what is not among them is forgotten. */
  async read(maps: readonly KubeObject[]): Promise<ConfigMapReading> {
    const known = new Map<string, Known>();
    for (const map of maps) {
      const { namespace = '', name = '', uid = '', resourceVersion = '' } = map.metadata;
      const key = `${namespace}/${name}`;
      const before = this.#known.get(key);
      const stamp = `${uid} ${resourceVersion}`;
      known.set(key, before?.stamp === stamp ? before : { stamp, ...(await readMap(map, before)) });
    }
    this.#known = known;
    const readings = [...known.values()];
    return {
      objects: readings.flatMap(({ objects }) => objects),
      problems: readings.flatMap(({ problems }) => problems),
    };
  }
}

async function readMap(
  map: KubeObject,
  { objects: last }: ConfigMapReading = NOTHING,
): Promise<ConfigMapReading> {
  const { namespace = '', name = '' } = map.metadata;
  const messages: string[] = [];
  const objects: SourcedObject[] = [];
  const data = fieldsOf(map['data']);
  for (const key of Object.keys(data).toSorted()) {
    if (!MANIFEST.test(key)) continue;
    const source = { source: 'configMap', namespace, name, key } as const;
    const text = data[key];
    if (typeof text !== 'string') {
      messages.push(`key ${quote(key)}: is not a text; quote it`);
      continue;
    }
    const reading = await readObjectsOf(key, Buffer.from(text), DIRECTORY_LIMITS.fileBytes);
    messages.push(...reading.problems.map((problem) => messageOf(key, problem)));
    for (const found of reading.objects) {
      const fault = faultOf(found);
      if (fault === undefined) objects.push({ object: found.object, source });
      else messages.push(messageOf(key, { message: fault, ...found }));
    }
  }
  for (const key of Object.keys(fieldsOf(map['binaryData'])))
    messages.push(`key ${quote(key)}: is binary data, which is not read; put it below data`);
  const names = new Set(objects.map(({ object }) => identityOf(object)));
  const kept = messages.length === 0 ? [] : last.filter(({ object }) => !names.has(identityOf(object)));
  return { objects: [...objects, ...kept], problems: few(messages, { namespace, name }) };
}

/** Why an object is not one that can be in force, so that the last good one of its name still is. */
function faultOf({ object }: FoundObject): string | undefined {
  const { apiVersion, kind, metadata } = object;
  const policyKind = policyKindOf(object);
  if (policyKind === undefined)
    return `${quote(`${apiVersion} ${kind}`)} is neither a ValidatingAdmissionPolicy nor a binding`;
  const read = readOf(policyKind, object);
  return read.ok ? undefined : `${policyKind} ${quote(metadata.name ?? '')}: ${read.fault}`;
}

function messageOf(
  key: string,
  { line, column, message }: Pick<Problem, 'line' | 'column' | 'message'>,
): string {
  const place = [line, column].filter((part) => part !== undefined).map(String);
  return `key ${quote(key)}${place.length === 0 ? '' : `, line ${place.join(':')}`}: ${message}`;
}

function few(
  messages: readonly string[],
  { namespace, name }: Pick<ConfigMapProblem, 'namespace' | 'name'>,
): ConfigMapProblem[] {
  const more = messages.length - MOST_PROBLEMS;
  const shown =
    more > 0
      ? [...messages.slice(0, MOST_PROBLEMS), `has ${String(more)} more problems; mend these first`]
      : messages;
  return shown.map((message) => ({ namespace, name, message }));
}

function identityOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name ?? ''}`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
