/** Namespaces that would lock the gate, or the cluster, out of its own cure (decision 20, R1). */
import { NAMESPACE_NAME_LABEL, type WebhookConfiguration } from '../../policies/entry.ts';
import { selectorFault, selects, type Labels } from '../../policies/vap/label-selector.ts';
import type { LabelSelector } from '../../policies/vap/types.ts';
import { placeOf, selectorOf, type LiveEntry } from './live-entry.ts';
import { finding, type Finding } from './preflight-finding.ts';

/** webhook-operations.md R1. */
const ALWAYS_EXCLUDED: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

export interface NamespaceInput {
  readonly entries: readonly LiveEntry[];
  readonly wanted: readonly WebhookConfiguration[];
  /** Of every Namespace; undefined where they could not be read. */
  readonly namespaces: ReadonlyMap<string, Labels> | undefined;
  readonly ownNamespace: string | undefined;
  /** `policies.excludedNamespaces`. */
  readonly excluded: readonly string[];
  /** Namespaces that entries select by name: those of the agents. */
  readonly selected: readonly string[];
}

export function checkNamespaces(input: NamespaceInput): readonly Finding[] {
  return [...coveredFindings(input), ...nameFindings(input), ...settingFindings(input)];
}

function coveredFindings(input: NamespaceInput): readonly Finding[] {
  const kept = [...new Set([input.ownNamespace ?? [], ALWAYS_EXCLUDED].flat())];
  return input.entries
    .filter(({ ours, failurePolicy }) => ours && failurePolicy === 'Fail')
    .flatMap((entry): Finding[] => {
      const selector = entry.reachable.namespaceSelector;
      if (isEmpty(selector)) return isMeantEmpty(entry, input.wanted) ? [] : [noSelector(entry)];
      if (selectorFault(selector) !== undefined || isNamedOnPurpose(entry, selector)) return [];
      const covered = kept.filter((name) => selects(selector, labelsOf(name, input.namespaces)));
      return covered.length === 0 || !reachesNamespaced(entry) ? [] : [coveredFinding(entry, covered)];
    });
}

function noSelector(entry: LiveEntry): Finding {
  return finding(
    'PREFLIGHT_NO_SELECTOR',
    placeOf(entry),
    'has no namespaceSelector, and failure policy Fail',
    'while the gate is away requests are refused in every namespace, those among them that it and the cluster need',
    'apply what pacto-gate generate webhooks writes, or let the installer',
  );
}

function coveredFinding(entry: LiveEntry, covered: readonly string[]): Finding {
  return finding(
    'PREFLIGHT_NAMESPACE_COVERED',
    placeOf(entry),
    `its namespaceSelector selects ${covered.join(', ')}, and it has failure policy Fail`,
    'while the gate is away requests are refused there that it and the cluster need in order to come back',
    `exclude ${covered.length === 1 ? 'it' : 'them'} by name, as pacto-gate generate webhooks does`,
  );
}

/** Entries about kinds without namespaces have none to select. */
function isMeantEmpty(entry: LiveEntry, wanted: readonly WebhookConfiguration[]): boolean {
  const should = wanted
    .find(({ metadata }) => metadata.name === entry.configuration)
    ?.webhooks.find(({ name }) => name === entry.name);
  return should !== undefined && isEmpty(selectorOf(should.namespaceSelector));
}

/** The entries of node identity select agents' namespaces by name, and agents by their conditions (NI21). */
function isNamedOnPurpose(entry: LiveEntry, { matchExpressions }: LabelSelector): boolean {
  const isNamed = matchExpressions.some(
    ({ key, operator }) => key === NAMESPACE_NAME_LABEL && operator === 'In',
  );
  return isNamed && entry.reachable.matchConditions.length > 0;
}

function reachesNamespaced({ reachable }: LiveEntry): boolean {
  return reachable.rules.some(({ scope }) => scope !== 'Cluster');
}

function isEmpty({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/** Of a Namespace that is not there, or is not known, what it would have at least. */
function labelsOf(name: string, namespaces: ReadonlyMap<string, Labels> | undefined): Labels {
  return namespaces?.get(name) ?? { [NAMESPACE_NAME_LABEL]: name };
}

function nameFindings(input: NamespaceInput): readonly Finding[] {
  const counting = new Set(
    [input.ownNamespace ?? [], ALWAYS_EXCLUDED, input.excluded, input.selected].flat(),
  );
  return [...counting].toSorted().flatMap((name) => {
    const label = input.namespaces?.get(name)?.[NAMESPACE_NAME_LABEL];
    if (label === name || input.namespaces?.has(name) !== true) return [];
    const what = label === undefined ? 'has no label' : `has another value (${label}) of the label`;
    const consequence = input.selected.includes(name)
      ? 'entries that select it by name do not, so that nothing is enforced there'
      : 'entries that leave it out by name do not, so that the gate can be locked out there';
    return [
      finding(
        'PREFLIGHT_NAMESPACE_UNNAMED',
        `Namespace ${name}`,
        `${what} ${NAMESPACE_NAME_LABEL}`,
        consequence,
        `kubectl label namespace ${name} ${NAMESPACE_NAME_LABEL}=${name} --overwrite`,
      ),
    ];
  });
}

function settingFindings({ ownNamespace, excluded }: NamespaceInput): readonly Finding[] {
  const found: Finding[] = [];
  const left = ALWAYS_EXCLUDED.filter((name) => !excluded.includes(name) && name !== ownNamespace);
  if (left.length > 0)
    found.push(
      finding(
        'PREFLIGHT_EXCLUSION_MISSING',
        'policies.excludedNamespaces',
        `${left.join(', ')} ${left.length === 1 ? 'is' : 'are'} not in it`,
        'a policy that matches there can keep the cluster from coming back while the gate is away',
        'put it back, unless each policy excludes it by itself',
      ),
    );
  if (ownNamespace === 'default')
    found.push(
      finding(
        'PREFLIGHT_NAMESPACE_DEFAULT',
        'Namespace default',
        'the gate runs in it',
        'entries never reach the namespace of the gate, so that no policy is enforced on what people put into default',
        'install the gate into a namespace of its own',
      ),
    );
  return found;
}
