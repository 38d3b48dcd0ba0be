/** The webhook entries that a cluster has just now, whoever wrote them. */
import { IDENTITY_CONFIGURATION } from '../../policies/identity/entries.ts';
import { POLICIES_CONFIGURATION } from '../../policies/vap/entries.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import type { ReachableEntry } from '../../policies/entry-reach.ts';
import type { LabelSelector } from '../../policies/vap/types.ts';

export interface LiveEntry {
  readonly kind: 'ValidatingWebhookConfiguration' | 'MutatingWebhookConfiguration';
  readonly configuration: string;
  readonly name: string;
  /** Whether the gate answers it. */
  readonly ours: boolean;
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly timeoutSeconds: number;
  /** Rules, selectors and conditions, with the API server's defaults. */
  readonly reachable: ReachableEntry & LiveRules;
  readonly client: LiveClient;
  readonly sideEffects: string;
  readonly reviewVersions: readonly string[];
}

export interface LiveRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  readonly scope: string;
}

interface LiveRules {
  readonly rules: readonly LiveRule[];
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly matchPolicy: 'Equivalent' | 'Exact';
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
}

export interface LiveClient {
  /** With its path. */
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly port: number;
    readonly path: string;
  };
  /** Base64 of PEM, as it is written. */
  readonly caBundle?: string;
}

/** Paths that the gate alone serves (design §5). */
const OUR_PATHS =
  /^\/(?:validate\/(?:policies\/|policy-writers$|node-identity(?:\/|$)|delivery\/)|mutate\/delivery\/)/;
const OUR_NAMES: ReadonlySet<string> = new Set([POLICIES_CONFIGURATION, IDENTITY_CONFIGURATION]);
const POLICY_PATH = /^\/validate\/policies\/([^/]+)$/;

/** https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/: its defaults. */
const DEFAULT_TIMEOUT_SECONDS = 10;
const DEFAULT_PORT = 443;

type Fields = Readonly<Record<string, unknown>>;

/** In the order of the configuration. Fields of a wrong type count as left out: no API server holds any. */
export function liveEntriesOf(object: KubeObject): readonly LiveEntry[] {
  const { name = '', labels = {} } = object.metadata;
  const kind =
    object.kind === 'MutatingWebhookConfiguration'
      ? 'MutatingWebhookConfiguration'
      : 'ValidatingWebhookConfiguration';
  const isOurs = OUR_NAMES.has(name) || labels['app.kubernetes.io/name'] === 'pacto-gate';
  return fieldsIn(object['webhooks']).map((entry) => {
    const client = clientOf(fieldsOf(entry['clientConfig']));
    const failurePolicy = entry['failurePolicy'] === 'Ignore' ? 'Ignore' : 'Fail';
    return {
      kind,
      configuration: name,
      name: textOf(entry['name']),
      ours: isOurs || OUR_PATHS.test(pathOf(client)),
      failurePolicy,
      timeoutSeconds: numberOf(entry['timeoutSeconds'], DEFAULT_TIMEOUT_SECONDS),
      reachable: {
        rules: fieldsIn(entry['rules']).map(ruleOf),
        namespaceSelector: selectorOf(entry['namespaceSelector']),
        objectSelector: selectorOf(entry['objectSelector']),
        matchPolicy: entry['matchPolicy'] === 'Exact' ? 'Exact' : 'Equivalent',
        failurePolicy,
        matchConditions: fieldsIn(entry['matchConditions']).map((condition) => ({
          name: textOf(condition['name']),
          expression: textOf(condition['expression']),
        })),
      },
      client,
      sideEffects: textOf(entry['sideEffects']),
      reviewVersions: textsOf(entry['admissionReviewVersions']),
    };
  });
}

/** @returns empty for a URL that is none. */
export function pathOf({ url, service }: LiveClient): string {
  return service?.path ?? (url === undefined ? '' : (URL.parse(url)?.pathname ?? ''));
}

/** The policy that an entry of the gate is about. */
export function policyOf(client: LiveClient): string | undefined {
  const [, encoded] = POLICY_PATH.exec(pathOf(client)) ?? [];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

export function placeOf({ kind, configuration, name }: LiveEntry): string {
  return `${kind} ${configuration}, entry ${name}`;
}

function clientOf(config: Fields): LiveClient {
  const { url, caBundle } = config;
  const service = fieldsOf(config['service']);
  return {
    ...(typeof url === 'string' && { url }),
    ...(typeof service['name'] === 'string' && {
      service: {
        namespace: textOf(service['namespace']),
        name: service['name'],
        port: numberOf(service['port'], DEFAULT_PORT),
        path: textOf(service['path']),
      },
    }),
    ...(typeof caBundle === 'string' && caBundle !== '' && { caBundle }),
  };
}

function ruleOf(rule: Fields): LiveRule {
  return {
    apiGroups: textsOf(rule['apiGroups']),
    apiVersions: textsOf(rule['apiVersions']),
    operations: textsOf(rule['operations']),
    resources: textsOf(rule['resources']),
    scope: typeof rule['scope'] === 'string' ? rule['scope'] : '*',
  };
}

export function selectorOf(selector: unknown): LabelSelector {
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  const labels = Object.entries(fieldsOf(matchLabels)).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return {
    matchLabels: Object.fromEntries(labels),
    matchExpressions: fieldsIn(matchExpressions).map((one) => ({
      key: textOf(one['key']),
      operator: textOf(one['operator']),
      values: textsOf(one['values']),
    })),
  };
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function fieldsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
