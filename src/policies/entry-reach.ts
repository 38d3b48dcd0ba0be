/**
 * Which requests an API server would ask an entry about: by its rules, selectors and match conditions, as `webhook` of
 * apiserver reads them. For our own entries and for those that somebody else wrote.
 */
import type { AdmissionRequest, GroupVersionResource, KubeObject } from '../cluster/objects.ts';
import { Cel } from './cel/cel.ts';
import { bindAuthorizer } from './cel/libraries/authorizer.ts';
import type { AuthorizationAnswer, AuthorizationQuery } from './cel/signals.ts';
import type { Value } from './cel/values.ts';
import { NAMESPACE_NAME_LABEL, type EntrySelector, type ValidatingEntry, type WebhookRule } from './entry.ts';
import { Attributes } from './vap/attributes.ts';
import { PolicyCompiler, type CompiledPolicy } from './vap/compile.ts';
import { meetsConditions } from './vap/conditions.ts';
import { Inquiry } from './vap/inquiry.ts';
import type { Labels } from './vap/label-selector.ts';
import { matches } from './vap/match.ts';
import { requestValue } from './vap/request-value.ts';
import type { LabelSelector, MatchResources } from './vap/types.ts';

/** What decides whether an entry is asked; a live one may leave out what the API server has defaults for. */
export type ReachableEntry = Partial<
  Pick<
    ValidatingEntry,
    'namespaceSelector' | 'objectSelector' | 'matchPolicy' | 'failurePolicy' | 'matchConditions'
  >
> & { readonly rules: readonly (Omit<WebhookRule, 'scope'> & { readonly scope?: string })[] };

export type Reach =
  | { readonly reach: 'called' }
  /** Goes on without the entry: it is of a kind that no webhook is asked about, or does not fit, or is let off. */
  | { readonly reach: 'passed'; readonly by: 'kind' | 'match' | 'conditions' }
  /** Fails without a call: a selector or a match condition cannot be decided. */
  | { readonly reach: 'refused'; readonly error: string }
  /** A match condition asks the authorizer, and nobody answers. */
  | { readonly reach: 'unknown'; readonly question: AuthorizationQuery };

export interface ReachContext {
  /**
   * Labels of the request's Namespace as it is stored. That of its name is always there. Left out: no other is known;
   * null: there is no such Namespace.
   */
  readonly namespaceLabels?: Labels | null;
  /** Other versions of the resource; default: that in which the review is, where it was converted. */
  readonly equivalents?: readonly GroupVersionResource[];
  readonly authorize?: (question: AuthorizationQuery) => AuthorizationAnswer | undefined;
}

/** Resources that no webhook is ever asked about (webhook-operations.md W10), of one group. */
export const EXEMPT_GROUP = 'admissionregistration.k8s.io';
export const EXEMPT_RESOURCES: ReadonlySet<string> = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]);

/** The environment of match conditions in stored mode is the same for every release (cel.md §4). */
const CONDITIONS_MINOR = 36;

/** Decides for many entries; what their match conditions compile to is kept. */
export class EntryReach {
  #compiler: PolicyCompiler | undefined;
  readonly #compiled = new WeakMap<ReachableEntry, CompiledPolicy>();

  of(entry: ReachableEntry, request: AdmissionRequest, context: ReachContext = {}): Reach {
    const attributes = new Attributes(request);
    const { group, resource } = attributes.resource;
    if (group === EXEMPT_GROUP && EXEMPT_RESOURCES.has(resource)) return { reach: 'passed', by: 'kind' };
    // Without rules an entry is about nothing, and a policy about everything.
    if (entry.rules.length === 0) return { reach: 'passed', by: 'match' };
    const matched = matches(matchOf(entry), {
      attributes,
      equivalents: (context.equivalents ?? [request.resource]).map((other) => ({
        resource: other,
        kind: request.kind,
      })),
      namespace: namespaceOf(attributes.namespace, context.namespaceLabels),
    });
    if (matched === undefined) return { reach: 'passed', by: 'match' };
    if ('error' in matched) return { reach: 'refused', error: matched.error };
    return this.#conditions(entry, attributes, matched.kind, context);
  }

  #conditions(
    entry: ReachableEntry,
    attributes: Attributes,
    kind: AdmissionRequest['kind'],
    { authorize }: ReachContext,
  ): Reach {
    if ((entry.matchConditions ?? []).length === 0) return { reach: 'called' };
    const inquiry = new Inquiry();
    const { object, oldObject } = attributes.request;
    const steps = meetsConditions(
      this.#compile(entry),
      () => ({
        object: (object ?? null) as Value,
        oldObject: (oldObject ?? null) as Value,
        // The request's own resource and no namespace, as in those of policies (vap.md C03, C04).
        request: requestValue(attributes, attributes.resource, kind),
        namespaceObject: null,
        ...authorizerOf(attributes, inquiry),
      }),
      inquiry,
    );
    let next = steps.next();
    while (next.done !== true) {
      const step = next.value;
      if (step.need === 'authorize') {
        const answer = authorize?.(step.query);
        if (answer === undefined) return { reach: 'unknown', question: step.query };
        next = steps.next(answer);
      } else next = steps.next();
    }
    if (next.value === 'match') return { reach: 'called' };
    return next.value === 'skip'
      ? { reach: 'passed', by: 'conditions' }
      : { reach: 'refused', error: next.value.error };
  }

  #compile(entry: ReachableEntry): CompiledPolicy {
    let compiled = this.#compiled.get(entry);
    if (compiled === undefined) {
      this.#compiler ??= new PolicyCompiler(new Cel(), CONDITIONS_MINOR);
      compiled = this.#compiler.compile({
        name: '',
        validations: [],
        failurePolicy: entry.failurePolicy ?? 'Fail',
        auditAnnotations: [],
        matchConditions: entry.matchConditions ?? [],
        variables: [],
      });
      this.#compiled.set(entry, compiled);
    }
    return compiled;
  }
}

/**
 * Whether the request would wait for the entry, or fail because of it.
 *
 * @param labels of the request's Namespace; undefined: its name alone is known
 * @param reach to be shared where there are many questions
 */
export function entryReaches(
  entry: ReachableEntry,
  request: AdmissionRequest,
  labels?: Labels,
  reach: EntryReach = new EntryReach(),
): boolean {
  const context = labels === undefined ? {} : { namespaceLabels: labels };
  return reach.of(entry, request, context).reach !== 'passed';
}

function matchOf(entry: ReachableEntry): MatchResources {
  return {
    namespaceSelector: selectorOf(entry.namespaceSelector),
    objectSelector: selectorOf(entry.objectSelector),
    resourceRules: entry.rules.map((rule) => ({ ...rule, scope: rule.scope ?? '*', resourceNames: [] })),
    excludeResourceRules: [],
    matchPolicy: entry.matchPolicy ?? 'Equivalent',
  };
}

function selectorOf({ matchLabels = {}, matchExpressions = [] }: EntrySelector = {}): LabelSelector {
  return {
    matchLabels,
    matchExpressions: matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator, values })),
  };
}

function namespaceOf(name: string, labels: Labels | null | undefined): KubeObject | null {
  if (labels === null || name === '') return null;
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { ...labels, [NAMESPACE_NAME_LABEL]: name } },
  };
}

function authorizerOf(
  { resource, subresource, namespace, name, request }: Attributes,
  inquiry: Inquiry,
): ReturnType<typeof bindAuthorizer> {
  const { username = '', uid = '', groups = [], extra = {} } = request.userInfo;
  return bindAuthorizer(
    { username, uid, groups, extra },
    { group: resource.group, resource: resource.resource, subresource, namespace, name },
    (query) => inquiry.authorization(query),
  );
}
