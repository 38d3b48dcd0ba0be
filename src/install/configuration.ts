/**
 * A ValidatingWebhookConfiguration as it is in the cluster, and how its entries are filled: by server-side apply of
 * `webhooks` and nothing else, never by creating or deleting the object (design decision 22), and not at all where the
 * API server holds the same already (webhook-operations.md R8).
 */
import { isDeepStrictEqual } from 'node:util';
import type { Cluster } from '../cluster/cluster.ts';
import { appliedBy, ownedItems } from '../cluster/field-sets.ts';
import { apiVersionOf, VALIDATING_WEBHOOK_CONFIGURATION } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import type { ValidatingEntry } from '../policies/entry.ts';
import { FIELD_MANAGER } from './names.ts';

export interface LiveConfiguration {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** By name, whoever wrote them. */
  readonly entries: ReadonlyMap<string, ValidatingEntry>;
  /** Names of those that we have applied, alone or with others. */
  readonly owned: ReadonlySet<string>;
}

/** @returns undefined where there is no such configuration. */
export async function readConfiguration(
  cluster: Pick<Cluster, 'get'>,
  name: string,
  signal?: AbortSignal,
): Promise<LiveConfiguration | undefined> {
  const options = signal === undefined ? {} : { signal };
  const object = await cluster.get(VALIDATING_WEBHOOK_CONFIGURATION, { name }, options);
  return object === undefined ? undefined : liveConfiguration(object);
}

function liveConfiguration(object: KubeObject): LiveConfiguration {
  const webhooks = Array.isArray(object['webhooks'])
    ? (object['webhooks'] as readonly ValidatingEntry[])
    : [];
  const { name = '', uid = '', resourceVersion = '' } = object.metadata;
  const owned = new Set(ownedItems(appliedBy(object, FIELD_MANAGER), 'webhooks'));
  return { name, uid, resourceVersion, entries: new Map(webhooks.map((one) => [one.name, one])), owned };
}

/**
 * @param entries all that are to be ours; one that we applied before and is not among them is removed.
 * @returns the configuration as it is then; the same value where nothing was to be written.
 * @throws GateError GATE_CLUSTER_CONFLICT where it has changed since it was read.
 */
export async function fillConfiguration(
  cluster: Pick<Cluster, 'apply'>,
  live: LiveConfiguration,
  entries: readonly ValidatingEntry[],
  signal?: AbortSignal,
): Promise<LiveConfiguration> {
  if (isFilled(live, entries)) return live;
  const { name, uid, resourceVersion } = live;
  const object = await cluster.apply(
    VALIDATING_WEBHOOK_CONFIGURATION,
    {
      apiVersion: apiVersionOf(VALIDATING_WEBHOOK_CONFIGURATION),
      kind: VALIDATING_WEBHOOK_CONFIGURATION.kind,
      // With its uid: applied to what somebody has deleted meanwhile, it would be created.
      metadata: { name, uid, resourceVersion },
      webhooks: entries,
    },
    { fieldManager: FIELD_MANAGER, force: true, ...(signal !== undefined && { signal }) },
  );
  return liveConfiguration(object);
}

/** Whether a configuration holds these entries as ours and no other of ours. */
function isFilled(live: LiveConfiguration, entries: readonly ValidatingEntry[]): boolean {
  const names = new Set(entries.map(({ name }) => name));
  return (
    entries.every(
      (entry) => live.owned.has(entry.name) && isSameEntry(live.entries.get(entry.name), entry),
    ) && [...live.owned].every((name) => names.has(name) || !live.entries.has(name))
  );
}

/** Whether two entries mean the same to an API server. */
export function isSameEntry(a: ValidatingEntry | undefined, b: ValidatingEntry): boolean {
  return a !== undefined && isDeepStrictEqual(normal(a), normal(b));
}

/** With the API server's defaults (admissionregistration v1), and nothing that has no meaning. */
function normal(entry: ValidatingEntry): object {
  const { service, url, caBundle } = entry.clientConfig;
  return {
    name: entry.name,
    clientConfig: {
      url,
      caBundle: caBundle === '' ? undefined : caBundle,
      service: service === undefined ? undefined : { ...service, port: withDefault(service.port, 443) },
    },
    rules: entry.rules.map((rule) => ({ ...rule, scope: withDefault(rule.scope, '*') })),
    failurePolicy: withDefault(entry.failurePolicy, 'Fail'),
    matchPolicy: withDefault(entry.matchPolicy, 'Equivalent'),
    namespaceSelector: selector(entry.namespaceSelector),
    objectSelector: selector(entry.objectSelector),
    sideEffects: entry.sideEffects,
    timeoutSeconds: withDefault(entry.timeoutSeconds, 10),
    admissionReviewVersions: entry.admissionReviewVersions,
    matchConditions: entry.matchConditions ?? [],
  };
}

/** Of a live entry every field may be missing, whatever its type says. */
function withDefault<T>(value: T | undefined, fallback: T): T {
  return value ?? fallback;
}

function selector(given: ValidatingEntry['namespaceSelector'] | undefined): object {
  const { matchLabels = {}, matchExpressions = [] } = given ?? {};
  return {
    matchLabels,
    matchExpressions: matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator, values })),
  };
}

/** What whoever installs this has to run once; we never do (design decision 22). */
export function createCommand(name: string): string {
  const object = JSON.stringify({
    apiVersion: apiVersionOf(VALIDATING_WEBHOOK_CONFIGURATION),
    kind: VALIDATING_WEBHOOK_CONFIGURATION.kind,
    metadata: { name },
  });
  return `echo '${object}' | kubectl create -f -`;
}
