/** What an API server serves: aggregated discovery where it has that (on by default from 1.27), group by group elsewhere. */
import { GateError } from '../errors.ts';
import { isRecord } from './answers.ts';
import type { ServedResource, ServedResources } from './cluster.ts';

/** Reads one path with an `Accept` header. */
type Read = (path: string, accept: string) => Promise<unknown>;

const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(',');
const PLAIN = 'application/json';

/** @throws GateError as a read does; a group whose own server does not answer is in `unknown`. */
export async function discover(read: Read): Promise<ServedResources> {
  const resources: ServedResource[] = [];
  const unknown: string[] = [];
  for (const path of ['/api', '/apis']) {
    const answer = await read(path, `${AGGREGATED},${PLAIN}`);
    const into = { resources, unknown };
    if (isRecord(answer) && answer['kind'] === 'APIGroupDiscoveryList') takeAggregated(answer, into);
    else await readEach(answer, path, read, into);
  }
  return { resources, unknown };
}

interface Into {
  readonly resources: ServedResource[];
  readonly unknown: string[];
}

function takeAggregated(answer: Record<string, unknown>, { resources, unknown }: Into): void {
  for (const group of records(answer['items'])) {
    const name = text(isRecord(group['metadata']) ? group['metadata']['name'] : undefined);
    for (const version of records(group['versions'])) {
      const at = { group: name, version: text(version['version']) };
      // The answer of an aggregated server from before it failed may say too little.
      if (version['freshness'] === 'Stale') unknown.push(`${name}/${at.version}`);
      for (const one of records(version['resources'])) {
        const whole = {
          ...at,
          resource: text(one['resource']),
          namespaced: one['scope'] === 'Namespaced',
        };
        // One that has subresources alone has no kind of its own.
        if (isRecord(one['responseKind'])) resources.push(served(whole, one));
        for (const part of records(one['subresources']))
          resources.push(
            served({ ...whole, resource: `${whole.resource}/${text(part['subresource'])}` }, part),
          );
      }
    }
  }
}

function served(
  at: Pick<ServedResource, 'group' | 'version' | 'resource' | 'namespaced'>,
  found: Record<string, unknown>,
): ServedResource {
  const kind = isRecord(found['responseKind']) ? text(found['responseKind']['kind']) : '';
  return { ...at, kind, verbs: texts(found['verbs']) };
}

/** The older way: one answer for each group and version. */
async function readEach(answer: unknown, path: string, read: Read, into: Into): Promise<void> {
  const found = isRecord(answer) ? answer : {};
  const versions =
    path === '/api'
      ? texts(found['versions'])
      : records(found['groups']).flatMap((group) =>
          records(group['versions']).map((version) => text(version['groupVersion'])),
        );
  for (const groupVersion of versions) {
    try {
      takeList(await read(`${path}/${groupVersion}`, PLAIN), groupVersion, into.resources);
    } catch (error) {
      // An aggregated server that is away; the API server itself answers for its own groups.
      if (!(error instanceof GateError) || path === '/api') throw error;
      into.unknown.push(groupVersion);
    }
  }
}

function takeList(answer: unknown, groupVersion: string, resources: ServedResource[]): void {
  const [group = '', version = ''] = groupVersion.includes('/')
    ? groupVersion.split('/')
    : ['', groupVersion];
  for (const one of records(isRecord(answer) ? answer['resources'] : [])) {
    const { name, kind, namespaced, verbs } = one;
    resources.push({
      group,
      version,
      resource: text(name),
      kind: text(kind),
      namespaced: namespaced === true,
      verbs: texts(verbs),
    });
  }
}

function records(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
