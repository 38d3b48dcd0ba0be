/** What an API server serves, out of a file of its discovery. */
import { discover } from '../cluster/discovery.ts';
import type { ServedResource } from '../cluster/cluster.ts';
import { GateError, messageOf } from '../errors.ts';
import { readInputFile } from './input-file.ts';

type Document = Readonly<Record<string, unknown>>;

/**
 * The file holds the answers of `kubectl get --raw /api/v1` and of `/apis/GROUP/VERSION`, one after the other
 * (APIResourceList), or aggregated discovery (APIGroupDiscoveryList).
 *
 * @throws GateError GATE_INPUT_FILE
 */
export async function readDiscovery(file: string): Promise<readonly ServedResource[]> {
  const documents = parseAll(await readInputFile(file), file);
  const lists = new Map<string, Document>();
  const aggregated: Document[] = [];
  for (const document of documents) {
    if (document['kind'] === 'APIGroupDiscoveryList') aggregated.push(document);
    else if (document['kind'] === 'APIResourceList' && typeof document['groupVersion'] === 'string')
      lists.set(document['groupVersion'], document);
    else
      throw invalid(
        file,
        'need APIResourceLists (kubectl get --raw /api/v1, /apis/GROUP/VERSION) or APIGroupDiscoveryLists',
      );
  }
  const { resources } = await discover((path) => Promise.resolve(answerTo(path, lists, aggregated)));
  if (!resources.some(({ group, version }) => group === '' && version === 'v1'))
    throw invalid(file, 'lacks v1, which every API server serves: it is not all of the discovery');
  return resources;
}

/** As an API server would answer that serves what the file says. */
function answerTo(
  path: string,
  lists: ReadonlyMap<string, Document>,
  aggregated: readonly Document[],
): unknown {
  const groupVersions = [...lists.keys()];
  if (path === '/api') return { versions: groupVersions.filter((one) => !one.includes('/')) };
  if (path === '/apis') {
    // Of both paths together: where an item is told does not matter.
    if (aggregated.length > 0)
      return { kind: 'APIGroupDiscoveryList', items: aggregated.flatMap((one) => one['items'] ?? []) };
    const versions = groupVersions
      .filter((one) => one.includes('/'))
      .map((groupVersion) => ({ groupVersion }));
    return { groups: [{ versions }] };
  }
  return lists.get(path.replace(/^\/apis?\//, ''));
}

/** JSON documents one after the other, as several commands write them into one file. */
function parseAll(text: string, file: string): readonly Document[] {
  const parts = text.split(/(?<=\})\s*(?=\{)/).filter((part) => part.trim() !== '');
  return parts.map((part) => {
    try {
      const value: unknown = JSON.parse(part);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Document;
    } catch (error) {
      throw invalid(file, `is no JSON: ${messageOf(error)}`);
    }
    throw invalid(file, 'holds something that is no JSON object');
  });
}

function invalid(file: string, what: string): GateError {
  return new GateError('GATE_INPUT_FILE', `file ${file}: ${what}`);
}
