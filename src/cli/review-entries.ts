/** Which entries an API server would ask about a request, if those that `generate webhooks` writes were applied. */
import { entriesOf } from '../app/entries.ts';
import type { EnforcedPolicies } from '../app/policies.ts';
import type { Cluster, ServerVersion } from '../cluster/cluster.ts';
import { NAMESPACE } from '../cluster/kinds.ts';
import type { AdmissionRequest } from '../cluster/objects.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import type { Log } from '../log.ts';
import {
  FIRST_MINOR_WITH_CONDITIONS,
  NAMESPACE_NAME_LABEL,
  type EntrySelector,
  type ValidatingEntry,
} from '../policies/entry.ts';
import { EntryReach } from '../policies/entry-reach.ts';
import { Attributes, nameInAnswer } from '../policies/vap/attributes.ts';
import type { Labels } from '../policies/vap/label-selector.ts';
import type { EntryAnswer } from './review-decider.ts';

export interface ReviewEntryParts {
  readonly cluster: Cluster | undefined;
  readonly version: ServerVersion | undefined;
  readonly policies: EnforcedPolicies | undefined;
  readonly log: Log;
}

export interface AskedEntries {
  readonly asked: readonly { readonly name: string; readonly path: string }[];
  /** By the API server itself, because of what it cannot decide about an entry. */
  readonly refused: readonly EntryAnswer[];
}

export interface ReviewEntries {
  about(request: AdmissionRequest): Promise<AskedEntries>;
}

/** Stands in the entries where the server's address would: only the path counts here. */
const ADDRESS = 'https://pacto-gate.invalid';
const TIMEOUT_SECONDS = 10;

/** Policies without an entry are told of once. */
export async function openReviewEntries(config: Config, parts: ReviewEntryParts): Promise<ReviewEntries> {
  const entries = (await entriesFor(config, parts)).map((entry) => ({ entry, byName: byNameAlone(entry) }));
  const looksAtLabels = entries.some(({ entry, byName }) => entry !== byName);
  const reach = new EntryReach();
  return {
    async about(request) {
      const labels = looksAtLabels ? await labelsOf(parts.cluster, request) : undefined;
      const context = labels === undefined ? {} : { namespaceLabels: labels };
      const asked: AskedEntries['asked'][number][] = [];
      const refused: EntryAnswer[] = [];
      for (const { entry, byName } of entries) {
        const found = reach.of(labels === undefined ? byName : entry, request, context);
        if (found.reach === 'refused') refused.push(refusal(entry, request, found.error));
        else if (found.reach !== 'passed')
          asked.push({ name: entry.name, path: new URL(entry.clientConfig.url ?? ADDRESS).pathname });
      }
      return { asked, refused };
    },
  };
}

/** As they would be applied to this cluster. */
async function entriesFor(
  config: Config,
  { cluster, version, policies, log }: ReviewEntryParts,
): Promise<readonly ValidatingEntry[]> {
  const isOld = version !== undefined && version.minor < FIRST_MINOR_WITH_CONDITIONS;
  const served = isOld && policies !== undefined ? await cluster?.resources() : undefined;
  const entries = entriesOf(config, {
    target: { url: ADDRESS },
    timeoutSeconds: TIMEOUT_SECONDS,
    ...(version === undefined ? {} : { kubeMinor: version.minor }),
    ...(served === undefined ? {} : { served: served.resources }),
    ...(policies === undefined ? {} : { policies: policies.sources.current() }),
  });
  for (const { policy, entry, notEnforced } of entries.policies.reach) {
    if (entry !== undefined) continue;
    for (const why of notEnforced) log.warn(why, { kind: 'ValidatingAdmissionPolicy', name: policy });
  }
  return [
    ...entries.identity.configuration.webhooks,
    ...entries.policies.configuration.webhooks,
    ...entries.delivery.configuration.webhooks,
  ];
}

/**
 * Without what only the labels of a Namespace tell: the webhook itself looks at them, and says so where it cannot.
 *
 * @returns the entry itself where it has nothing of the kind
 */
function byNameAlone(entry: ValidatingEntry): ValidatingEntry {
  const { matchLabels = {}, matchExpressions = [] } = entry.namespaceSelector;
  const expressions = matchExpressions.filter(({ key }) => key === NAMESPACE_NAME_LABEL);
  const names = Object.entries(matchLabels).filter(([key]) => key === NAMESPACE_NAME_LABEL);
  const isWhole =
    expressions.length === matchExpressions.length && names.length === Object.keys(matchLabels).length;
  const selector: EntrySelector = {
    matchLabels: Object.fromEntries(names),
    matchExpressions: expressions,
  };
  return isWhole ? entry : { ...entry, namespaceSelector: selector };
}

/** @returns undefined where they are not known */
async function labelsOf(
  cluster: Cluster | undefined,
  { namespace }: AdmissionRequest,
): Promise<Labels | undefined> {
  if (namespace === undefined) return undefined;
  try {
    const found = await cluster?.get(NAMESPACE, { name: namespace });
    return found === undefined ? undefined : (found.metadata.labels ?? {});
  } catch (error) {
    // The webhook asks again where it counts.
    if (error instanceof GateError) return undefined;
    throw error;
  }
}

/** The API server refuses what it cannot decide about, and asks nobody (vap.md C08). */
function refusal({ name }: ValidatingEntry, request: AdmissionRequest, error: string): EntryAnswer {
  const attributes = new Attributes(request);
  const { group, resource } = attributes.resource;
  const qualified = group === '' ? resource : `${resource}.${group}`;
  return {
    webhook: name,
    outcome: 'failed-closed',
    allowed: false,
    code: 403,
    reason: 'Forbidden',
    message: `${qualified} "${nameInAnswer(attributes)}" is forbidden: ${error}`,
    warnings: [],
    auditAnnotations: {},
  };
}
