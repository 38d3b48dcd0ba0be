/** The kubectl that sends a request. */
import { isBoxedDouble, stringifyJson } from '../../../../src/json.ts';
import type { ApiRequest } from '../api-client.ts';

export interface KubectlCommand {
  readonly args: readonly string[];
  readonly stdin?: string;
}

/** Where a request goes, by the parts of its path. */
export interface Target {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
}

export function targetOf(path: string): Target {
  const { pathname, searchParams } = new URL(path, 'https://127.0.0.1');
  const parts = pathname.split('/').slice(1);
  const [group = '', version = ''] = parts[0] === 'api' ? ['', parts[1]] : parts.slice(1, 3);
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  // `/api/v1/namespaces/x/status` is about the namespace, `/api/v1/namespaces/x/pods` is not.
  const isNamespace =
    rest[0] === 'namespaces' && (rest.length < 3 || /^(?:status|finalize)$/.test(rest[2] ?? ''));
  const isWithin = rest[0] === 'namespaces' && !isNamespace;
  const [resource = '', name, subresource] = isWithin ? rest.slice(2) : rest;
  return {
    group,
    version,
    namespace: isWithin ? rest[1] : undefined,
    resource,
    name,
    subresource,
    query: searchParams,
  };
}

/** Subresources that kubectl writes by name. */
const NAMED_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'scale']);
const PATCHES: ReadonlyMap<string, string> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
]);
/** Printed are names: a whole object has a uid of its own in every cluster. */
const PRINTED = ['-o', 'name'];
/** Recorded objects hold fields that an older API server does not know. */
const UNCHECKED = '--validate=ignore';

/** @returns undefined where no kubectl can express it */
export function kubectlCommand(request: ApiRequest): KubectlCommand | undefined {
  const { method, path, body } = request;
  const target = targetOf(path);
  const stdin = body === undefined ? '' : stringifyJson(body);
  const main = target.subresource === undefined;
  switch (method) {
    case 'GET':
      return { args: ['get', '--raw', path] };
    case 'POST':
      return main && keepsNumbers(body)
        ? { args: ['create', '-f', '-', UNCHECKED, ...PRINTED, ...flagsOf(target)], stdin }
        : { args: ['create', '--raw', path, '-f', '-'], stdin };
    case 'PUT':
      return main
        ? { args: ['replace', '-f', '-', UNCHECKED, ...PRINTED, ...flagsOf(target)], stdin }
        : { args: ['replace', '--raw', path, '-f', '-'], stdin };
    case 'DELETE':
      return deletion(request, target);
    case 'PATCH':
      return patch(request, target, stdin);
  }
}

/** kubectl reads what it is given, and writes 1.0 as 1; what it sends raw it does not read. */
function keepsNumbers(body: unknown): boolean {
  if (isBoxedDouble(body)) return false;
  return typeof body !== 'object' || body === null || Object.values(body).every(keepsNumbers);
}

function deletion({ path, body }: ApiRequest, target: Target): KubectlCommand | undefined {
  if (target.name === undefined) return { args: ['delete', '--raw', path] };
  const { kind: _kind, apiVersion: _version, dryRun: _dryRun, ...options } = body as Record<string, unknown>;
  // kubectl gives a propagation policy, and little else.
  if (Object.keys(options).some((key) => key !== 'propagationPolicy')) return undefined;
  return {
    args: [
      'delete',
      typeOf(target),
      target.name,
      ...within(target),
      '--wait=false',
      ...PRINTED,
      ...flagsOf(target),
    ],
  };
}

function patch(
  { contentType = '', body }: ApiRequest,
  target: Target,
  stdin: string,
): KubectlCommand | undefined {
  const { subresource, name = '' } = target;
  if (contentType === 'application/apply-patch+yaml') {
    if (subresource !== undefined) return undefined;
    const forced = target.query.get('force') === 'true' ? ['--force-conflicts'] : [];
    return {
      args: ['apply', '--server-side', ...forced, '-f', '-', UNCHECKED, ...PRINTED, ...flagsOf(target)],
      stdin,
    };
  }
  const type = PATCHES.get(contentType);
  if (type === undefined || body === undefined) return undefined;
  if (subresource !== undefined && !NAMED_SUBRESOURCES.has(subresource)) return undefined;
  return {
    args: [
      'patch',
      typeOf(target),
      name,
      ...within(target),
      ...(subresource === undefined ? [] : [`--subresource=${subresource}`]),
      `--type=${type}`,
      `--patch=${stdin}`,
      ...PRINTED,
      ...flagsOf(target),
    ],
  };
}

/** `deployments.v1.apps`; of the core group `pods`. */
function typeOf({ group, version, resource }: Target): string {
  return group === '' ? resource : `${resource}.${version}.${group}`;
}

function within({ namespace }: Target): readonly string[] {
  return namespace === undefined ? [] : ['-n', namespace];
}

function flagsOf({ query }: Target): readonly string[] {
  const manager = query.get('fieldManager');
  return [
    ...(query.get('dryRun') === 'All' ? ['--dry-run=server'] : []),
    ...(manager === null ? [] : [`--field-manager=${manager}`]),
  ];
}

/** One kubectl for several objects, which it sends one after the other. */
export function batchCommand(
  verb: 'create' | 'replace',
  objects: readonly object[],
  manager: string,
): KubectlCommand {
  return {
    args: [verb, '-f', '-', UNCHECKED, ...PRINTED, '--dry-run=server', `--field-manager=${manager}`],
    stdin: objects.map((object) => stringifyJson(object)).join('\n'),
  };
}
