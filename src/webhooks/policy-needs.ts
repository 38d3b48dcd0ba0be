/** Finds out what the evaluation of a policy needs: through the reader, or by asking who may do what. */
import { abortable } from '../abort.ts';
import type { ReviewAccess } from '../cluster/access-reviews.ts';
import type { AccessAnswer, AccessQuestion } from '../cluster/cluster.ts';
import { NAMESPACE, type Kind } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import { GateError, quote } from '../errors.ts';
import type {
  AuthorizationAnswer,
  AuthorizationQuery,
  AuthorizationSelector,
} from '../policies/cel/signals.ts';
import type { Answers, Conversion, Need, ParamsNeed } from '../policies/vap/needs.ts';
import { secondsOf } from './deadline.ts';
import { selectorText } from './label-selector-text.ts';
import { findParamKind } from './param-kinds.ts';
import type { DecisionContext } from './webhook.ts';

export interface LookUpParts {
  /** Kinds that may be parameters. */
  readonly paramKinds: readonly Kind[];
  /** Left out where nobody can be asked, as of files. */
  readonly reviewAccess?: ReviewAccess;
}

/** Of one question to the authorizer, in milliseconds (webhook-operations.md R6). */
const QUESTION_MS = 2_000;

/**
 * @param policy for messages.
 * @throws GateError where it cannot be found out: the answer is then that of the failure policy.
 */
export async function lookUp(
  need: Need,
  policy: string,
  parts: LookUpParts,
  context: DecisionContext,
): Promise<Answers[keyof Answers]> {
  switch (need.need) {
    case 'namespace':
      return (
        (await context.reader.get(NAMESPACE, { name: need.name }, { signal: context.signal, whole: true })) ??
        null
      );
    case 'paramKind':
      return paramKindFor(policy, parts.paramKinds, need);
    case 'params':
      return await readParams(policy, need, paramKindFor(policy, parts.paramKinds, need), context);
    case 'authorize':
      return await authorize(policy, need.query, parts.reviewAccess, context);
    case 'conversion':
      return notConverted(need.to);
  }
}

function paramKindFor(
  policy: string,
  kinds: readonly Kind[],
  need: { apiVersion: string; kind: string },
): Kind {
  const kind = findParamKind(kinds, need);
  if (kind !== undefined) return kind;
  throw new GateError(
    'GATE_POLICY_PARAMS',
    `policy ${quote(policy)}: its paramKind ${quote(`${need.apiVersion}/${need.kind}`)} is not in policies.paramKinds: add it there`,
  );
}

async function readParams(
  policy: string,
  { name, namespace, selector }: ParamsNeed,
  kind: Kind,
  { reader, signal }: DecisionContext,
): Promise<readonly KubeObject[]> {
  const place = namespace === undefined ? {} : { namespace };
  if (name === undefined) {
    const labelSelector = selector === undefined ? '' : selectorText(selector);
    if (labelSelector === undefined) {
      throw new GateError(
        'GATE_POLICY_PARAMS',
        `policy ${quote(policy)}: a binding selects its parameters by what can be no label: mend the keys and values in paramRef.selector`,
      );
    }
    return await reader.list(
      kind,
      { ...place, ...(labelSelector === '' ? {} : { labelSelector }) },
      { signal },
    );
  }
  const object = await reader.get(kind, { ...place, name }, { signal, whole: true });
  return object === undefined ? [] : [object];
}

/** The API server converts what it sends to a webhook whose entry has the policy's own rules (vap.md F6). */
export function notConverted(to: { group: string; version: string; kind: string }): Conversion {
  const version = to.group === '' ? to.version : `${to.group}/${to.version}`;
  return {
    error: `the review does not hold the object as ${version} ${to.kind}: give the webhook entry the rules of the policy`,
  };
}

async function authorize(
  policy: string,
  query: AuthorizationQuery,
  reviewAccess: ReviewAccess | undefined,
  context: DecisionContext,
): Promise<AuthorizationAnswer> {
  if (reviewAccess === undefined) {
    throw new GateError(
      'GATE_UNSYNCED',
      `policy ${quote(policy)}: asks the authorizer, and there is no cluster that could be asked: give one by cluster.kubeconfig`,
    );
  }
  const share = context.share(
    QUESTION_MS,
    (shareMs) =>
      new GateError(
        'GATE_DEADLINE_EXCEEDED',
        `policy ${quote(policy)}: the API server did not say within ${secondsOf(shareMs)} s whether the user may do what an expression asks: try again, or look at its authorizers`,
      ),
  );
  try {
    return authorizationOf(await abortable(reviewAccess(questionOf(query), share), share.signal));
  } finally {
    share.clear();
  }
}

/** As the API server's authorizer answers an expression: no and no opinion are the same to it, an error is neither. */
export function authorizationOf({
  allowed,
  denied,
  reason,
  evaluationError,
}: AccessAnswer): AuthorizationAnswer {
  return {
    decision: allowed ? 'allow' : denied ? 'deny' : 'noopinion',
    reason,
    // An error beside a yes is one of an authorizer that was not needed.
    ...(evaluationError === undefined || allowed ? {} : { error: evaluationError }),
  };
}

/** A question of an expression as a SubjectAccessReview. */
export function questionOf(query: AuthorizationQuery): AccessQuestion {
  const { username, uid, groups, extra } = query.user;
  const user = { username, ...(uid === '' ? {} : { uid }), groups, extra };
  if (query.kind === 'path') return { user, nonResource: { verb: query.verb, path: query.path } };
  const { verb, group, version, resource, subresource, namespace, name } = query;
  return {
    user,
    resource: {
      verb,
      group,
      ...(version === '' ? {} : { version }),
      resource,
      ...(subresource === '' ? {} : { subresource }),
      ...(namespace === '' ? {} : { namespace }),
      ...(name === '' ? {} : { name }),
      ...selector('fieldSelector', query.fieldSelector),
      ...selector('labelSelector', query.labelSelector),
    },
  };
}

/** One that did not parse, or says nothing, narrows nothing. */
function selector(
  field: 'fieldSelector' | 'labelSelector',
  parsed: AuthorizationSelector | undefined,
): Pick<NonNullable<AccessQuestion['resource']>, 'fieldSelector' | 'labelSelector'> {
  if (parsed === undefined || parsed.terms.length === 0) return {};
  return {
    [field]: { requirements: parsed.terms.map(({ key, operator, values }) => ({ key, operator, values })) },
  };
}
