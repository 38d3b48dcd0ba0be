/**
 * What events of others say, as far as it names something that may have changed. Each is read with nothing taken for granted:
 * what is not as expected is passed over.
 */
import type { ObjectHint } from '../event-sink.ts';

export type EventHint = { readonly repository: string } | { readonly object: ObjectHint };

/** Hints of one event; what a sender puts beyond them is not looked at. */
const MOST_HINTS = 100;

/**
 * An event of Flux (flux-facts.md FF-122): the object that it is about, which is the name of a Pacto or of its target in most
 * layouts, and for an OCIRepository the repository that its message names.
 */
export function fluxHints(event: unknown): readonly EventHint[] {
  const { involvedObject, message } = recordOf(event);
  const { kind, namespace, name } = recordOf(involvedObject);
  const hints: EventHint[] = [];
  if (isText(kind) && isText(namespace) && isText(name)) hints.push({ object: { kind, namespace, name } });
  // `stored artifact with revision '…' from 'oci://host/repository'`.
  const source = isText(message) ? /'(oci:\/\/[^'\s]{1,512})'/.exec(message)?.[1] : undefined;
  if (kind === 'OCIRepository' && source !== undefined) hints.push({ repository: source });
  return hints;
}

/** A push, as registries tell of it; a form that is not known gives none. */
export function registryHints(event: unknown): readonly EventHint[] {
  const repositories = new Set<string>();
  for (const form of REGISTRY_FORMS) {
    for (const repository of form(recordOf(event))) repositories.add(repository);
  }
  return [...repositories].slice(0, MOST_HINTS).map((repository) => ({ repository }));
}

type Fields = Readonly<Record<string, unknown>>;

const REGISTRY_FORMS: readonly ((event: Fields) => readonly string[])[] = [
  distribution,
  harbor,
  dockerHub,
  githubPackage,
];

/** Of the CNCF Distribution registry: `events[].target.repository`, the host from `request.host` or `target.url`. */
function distribution({ events }: Fields): readonly string[] {
  return listOf(events).flatMap((entry) => {
    const { action, target, request } = recordOf(entry);
    const { repository, url } = recordOf(target);
    const host = textOf(recordOf(request)['host']) ?? hostOf(url);
    return action === 'push' && isText(repository) && host !== undefined ? [`${host}/${repository}`] : [];
  });
}

/** `event_data.resources[].resource_url`: host, repository and tag. */
function harbor({ type, event_data: data }: Fields): readonly string[] {
  if (typeof type !== 'string' || !/^PUSH_ARTIFACT$|^pushImage$/.test(type)) return [];
  return listOf(recordOf(data)['resources']).flatMap((resource) => {
    const url = recordOf(resource)['resource_url'];
    return isText(url) ? [url] : [];
  });
}

/** Docker Hub: `repository.repo_name` beside `push_data`. */
function dockerHub({ push_data: push, repository }: Fields): readonly string[] {
  const name = recordOf(repository)['repo_name'];
  return push !== undefined && isText(name) ? [`index.docker.io/${name}`] : [];
}

/** GitHub: `package.package_version.container_metadata`, and where it is pulled from. */
function githubPackage(event: Fields): readonly string[] {
  const {
    package_version: version,
    namespace,
    name,
  } = recordOf(event['package'] ?? event['registry_package']);
  const url = textOf(recordOf(version)['package_url']);
  if (url !== undefined && !url.startsWith('http')) return [url];
  return isText(namespace) && isText(name) ? [`ghcr.io/${namespace}/${name}`] : [];
}

/** A CloudEvent: one of the above in its data, or a source or subject that names an object. */
export function cloudEventHints(event: {
  readonly data: unknown;
  readonly subject: string | undefined;
}): readonly EventHint[] {
  const { data, subject } = event;
  const within = [...fluxHints(data), ...registryHints(data)];
  const { namespace, name, kind, repository } = recordOf(data);
  if (isText(repository)) within.push({ repository });
  if (isText(namespace) && isText(name))
    within.push({ object: { kind: textOf(kind) ?? 'Pacto', namespace, name } });
  // `pactos/shop/cart`, or `shop/cart`.
  const [, ofNamespace, ofName] =
    /^(?:pactos\/)?([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/.exec(subject ?? '') ?? [];
  if (ofNamespace !== undefined && ofName !== undefined)
    within.push({ object: { kind: 'Pacto', namespace: ofNamespace, name: ofName } });
  return within.slice(0, MOST_HINTS);
}

function recordOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MOST_HINTS) : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 1_024;
}

function textOf(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}

function hostOf(url: unknown): string | undefined {
  return isText(url) ? /^https?:\/\/([^/?#@]+)\//.exec(url)?.[1] : undefined;
}
