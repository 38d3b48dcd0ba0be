/**
 * The live entries of the gate beside those that should be: which is missing, and what of it is other (design decision
 * 13: the failure policy that the server answers by must be that of the entry).
 */
import type { ValidatingEntry, WebhookConfiguration } from '../../policies/entry.ts';
import { compareConditions, compareRules, compareSelectors, joinWidths, type Width } from './entry-width.ts';
import { liveEntriesOf, pathOf, placeOf, policyOf, type LiveClient, type LiveEntry } from './live-entry.ts';
import { finding, type Finding } from './preflight-finding.ts';

export interface DiffInput {
  /** What should be; entries are compared where they are of the same configuration and name. */
  readonly wanted: readonly WebhookConfiguration[];
  /** Names of the live ones. */
  readonly present: ReadonlySet<string>;
  readonly live: readonly LiveEntry[];
  /** Whether `wanted` says where the server is; else the live entries are the only source of that. */
  readonly comparesTarget: boolean;
  readonly comparesBundle: boolean;
  /** Names of configurations of which it is not known what they should be. */
  readonly incomparable: ReadonlySet<string>;
  /** Names of those that may have entries that are not among the wanted ones. */
  readonly incomplete: ReadonlySet<string>;
  /** Policies that native objects of the gate's own enforce, or are to. */
  readonly native: ReadonlySet<string>;
}

const GENERATE = 'apply what pacto-gate generate webhooks writes, or let the installer';

export function diffConfigurations(input: DiffInput): readonly Finding[] {
  const names = new Set(input.wanted.map(({ metadata }) => metadata.name));
  return [
    ...input.wanted.flatMap((configuration) => diffOf(configuration, input)),
    ...input.live
      .filter(({ ours, configuration }) => ours && !names.has(configuration))
      .filter(({ configuration }) => !input.incomparable.has(configuration))
      .map((entry) => extra(entry, 'its configuration is none of those that the gate has')),
    ...pathsTwice(input.live),
  ];
}

function diffOf(configuration: WebhookConfiguration, input: DiffInput): readonly Finding[] {
  const { name } = configuration.metadata;
  const wanted = configuration.webhooks.filter((entry) => !isNative(entry, input.native));
  const natively = configuration.webhooks.filter((entry) => isNative(entry, input.native));
  const live = input.live.filter((entry) => entry.configuration === name);
  const notes = natively
    .filter((entry) => live.every((other) => other.name !== entry.name))
    .map((entry) =>
      finding(
        'PREFLIGHT_NATIVE',
        `ValidatingWebhookConfiguration ${name}`,
        `there is no entry ${entry.name}, and a ValidatingAdmissionPolicy of the gate's own is there`,
        'the API server enforces the policy itself, which preflight does not prove',
        'look at enforcedBy in the status of the policy',
      ),
    );
  if (!input.present.has(name)) {
    if (wanted.length === 0) return notes;
    return [
      ...notes,
      finding(
        'PREFLIGHT_CONFIGURATION_MISSING',
        `ValidatingWebhookConfiguration ${name}`,
        `there is none, and it should have ${counted(wanted.length, 'entry', 'entries')}`,
        'nothing of it is enforced',
        GENERATE,
      ),
    ];
  }
  const all = [...wanted, ...natively];
  return [
    ...notes,
    ...wanted.flatMap((entry) => {
      const here = live.find((other) => other.name === entry.name);
      return here === undefined ? [missing(name, entry)] : compare(here, entry, input);
    }),
    ...live
      .filter((entry) => !input.incomplete.has(name) && all.every((other) => other.name !== entry.name))
      .map((entry) => extra(entry, 'nothing that the gate enforces has an entry of this name')),
  ];
}

function isNative({ clientConfig }: ValidatingEntry, native: ReadonlySet<string>): boolean {
  const policy = policyOf(clientConfig);
  return policy !== undefined && native.has(policy);
}

function counted(count: number, one: string, many: string): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}

function missing(configuration: string, { name, failurePolicy }: ValidatingEntry): Finding {
  return finding(
    'PREFLIGHT_ENTRY_MISSING',
    `ValidatingWebhookConfiguration ${configuration}`,
    `there is no entry ${name}, which should be there with failure policy ${failurePolicy}`,
    'what it is about is not enforced',
    GENERATE,
  );
}

function extra(entry: LiveEntry, why: string): Finding {
  const consequence =
    entry.failurePolicy === 'Fail'
      ? 'the server does not know what it is asked, and every request that the entry selects is refused'
      : 'every request that the entry selects waits for an answer that is none';
  return finding('PREFLIGHT_ENTRY_EXTRA', placeOf(entry), why, consequence, 'remove the entry');
}

function compare(live: LiveEntry, wanted: ValidatingEntry, input: DiffInput): readonly Finding[] {
  // The same eyes for both: what is left out of either has the API server's default.
  const [should] = liveEntriesOf({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: live.kind,
    metadata: { name: live.configuration },
    webhooks: [wanted],
  });
  if (should === undefined) return [];
  return [
    ...widthFindings(live, should),
    ...conditionFindings(live, should),
    ...answerFindings(live, should),
    ...(input.comparesTarget ? targetFindings(live, should) : []),
    ...(input.comparesBundle ? bundleFindings(live, should) : []),
  ];
}

function widthFindings(live: LiveEntry, should: LiveEntry): readonly Finding[] {
  const parts = [
    { what: 'rules', width: compareRules(live.reachable.rules, should.reachable.rules) },
    {
      what: 'namespaceSelector',
      width: compareSelectors(live.reachable.namespaceSelector, should.reachable.namespaceSelector),
    },
    {
      what: 'objectSelector',
      width: compareSelectors(live.reachable.objectSelector, should.reachable.objectSelector),
    },
    { what: 'matchPolicy', width: matchPolicyWidth(live, should) },
  ];
  const other = parts.filter(({ width }) => width !== 'same');
  if (other.length === 0) return [];
  const what = `${other.map((part) => part.what).join(', ')} ${other.length === 1 ? 'is' : 'are'} not as they should be`;
  return [widthFinding(joinWidths(other.map(({ width }) => width)), placeOf(live), what, live.failurePolicy)];
}

/** Exact takes away the requests in other versions. */
function matchPolicyWidth(live: LiveEntry, should: LiveEntry): Width {
  if (live.reachable.matchPolicy === should.reachable.matchPolicy) return 'same';
  return live.reachable.matchPolicy === 'Equivalent' ? 'wider' : 'narrower';
}

function widthFinding(width: Width, where: string, what: string, failurePolicy: string): Finding {
  const beyond = `the gate is asked about requests that it should not be asked about${failurePolicy === 'Fail' ? ', and they are refused while it is away' : ''}`;
  const short = 'requests pass that should be asked about';
  switch (width) {
    case 'wider':
      return finding('PREFLIGHT_ENTRY_WIDER', where, `${what}: it reaches further`, beyond, GENERATE);
    case 'narrower':
      return finding('PREFLIGHT_ENTRY_NARROWER', where, `${what}: it reaches less`, short, GENERATE);
    default:
      return finding('PREFLIGHT_ENTRY_DIFFERS', where, what, `${short}, or ${beyond}`, GENERATE);
  }
}

function conditionFindings(live: LiveEntry, should: LiveEntry): readonly Finding[] {
  const width = compareConditions(live.reachable.matchConditions, should.reachable.matchConditions);
  if (width === 'same') return [];
  const consequence =
    width === 'wider'
      ? 'the gate is asked about requests that it need not see'
      : 'requests may pass that should be asked about';
  return [
    finding(
      'PREFLIGHT_CONDITIONS',
      placeOf(live),
      `matchConditions are not as they should be (found ${namesOf(live)}, need ${namesOf(should)})`,
      consequence,
      GENERATE,
    ),
  ];
}

function namesOf({ reachable }: LiveEntry): string {
  return reachable.matchConditions.map(({ name }) => name).join(', ') || 'none';
}

function answerFindings(live: LiveEntry, should: LiveEntry): readonly Finding[] {
  const found: Finding[] = [];
  const where = placeOf(live);
  if (live.failurePolicy !== should.failurePolicy)
    found.push(
      finding(
        'PREFLIGHT_FAILURE_POLICY',
        where,
        `failurePolicy is ${live.failurePolicy} and should be ${should.failurePolicy}`,
        live.failurePolicy === 'Ignore'
          ? 'while the gate is away requests pass, although it was said that they do not'
          : 'while the gate is away requests are refused, although it was said that they pass',
        GENERATE,
      ),
    );
  if (live.timeoutSeconds !== should.timeoutSeconds)
    found.push(
      finding(
        'PREFLIGHT_TIMEOUT',
        where,
        `timeoutSeconds is ${String(live.timeoutSeconds)} and should be ${String(should.timeoutSeconds)}`,
        'requests wait for the gate for another time than was said',
        `${GENERATE}, or set installer.timeoutSeconds`,
      ),
    );
  if (live.sideEffects !== should.sideEffects || !live.reviewVersions.includes('v1'))
    found.push(
      finding(
        'PREFLIGHT_REVIEW',
        where,
        `sideEffects is ${live.sideEffects || 'not set'} and admissionReviewVersions ${live.reviewVersions.join(', ') || 'none'}; need ${should.sideEffects} and v1`,
        'dry runs are refused, or the gate is asked in a version that it cannot read',
        GENERATE,
      ),
    );
  return found;
}

function targetFindings(live: LiveEntry, should: LiveEntry): readonly Finding[] {
  const [here, there] = [addressOf(live.client), addressOf(should.client)];
  if (here === there) return [];
  return [
    finding(
      'PREFLIGHT_TARGET',
      placeOf(live),
      `clientConfig is ${here} and should be ${there}`,
      live.failurePolicy === 'Fail'
        ? 'another server is asked, or none, and then what the entry selects is refused'
        : 'another server is asked, or none, and then nothing is enforced',
      GENERATE,
    ),
  ];
}

export function addressOf({ url, service }: LiveClient): string {
  if (service === undefined) return url ?? 'not set';
  const { namespace, name, port, path } = service;
  return `service ${namespace}/${name}:${String(port)}${path}`;
}

function bundleFindings(live: LiveEntry, should: LiveEntry): readonly Finding[] {
  if (certificatesOf(live.client.caBundle) === certificatesOf(should.client.caBundle)) return [];
  return [
    finding(
      'PREFLIGHT_CA_BUNDLE',
      placeOf(live),
      live.client.caBundle === undefined
        ? 'there is no caBundle'
        : 'caBundle is not what installer.caFile holds',
      'the API server may not trust the gate, and then no request reaches it',
      GENERATE,
    ),
  ];
}

/** What the bundle says, whatever lies between its certificates and in whichever order they are. */
function certificatesOf(bundle: string | undefined): string {
  if (bundle === undefined) return '';
  const pem = Buffer.from(bundle, 'base64').toString('latin1');
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  return blocks
    .map((block) => block.replace(/\s/g, ''))
    .toSorted()
    .join('\n');
}

/** Two entries on one path ask the gate twice about a request, and only one of them is kept by whoever writes them. */
function pathsTwice(live: readonly LiveEntry[]): readonly Finding[] {
  const byPath = new Map<string, LiveEntry[]>();
  for (const entry of live) {
    if (!entry.ours) continue;
    const path = pathOf(entry.client);
    byPath.set(path, [...(byPath.get(path) ?? []), entry]);
  }
  return [...byPath].flatMap(([path, entries]) => {
    const configurations = new Set(entries.map(({ configuration }) => configuration));
    if (configurations.size < 2) return [];
    return [
      finding(
        'PREFLIGHT_PATH_TWICE',
        path,
        `is asked by entries of ${[...configurations].toSorted().join(' and ')}`,
        'the gate decides twice about one request, and removing one entry changes nothing',
        'delete the configuration that nobody keeps',
      ),
    ];
  });
}
