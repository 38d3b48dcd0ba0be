/**
 * The library of authorization checks. A check asks what was given with the evaluation; where the answer is not known
 * yet it throws AuthorizationPending, and the evaluation is repeated once it is (cel.md §5.6).
 */
import { BOOL, STRING, opaque } from '../cel-type.ts';
import type { CallFacts, Library } from '../library.ts';
import {
  type AuthorizationAnswer,
  AuthorizationPending,
  type AuthorizationQuery,
  type AuthorizationUser,
  type Authorize,
  type AuthorizerBinding,
} from '../signals.ts';
import { STRING_TRAVERSAL, actualSize } from '../sizes.ts';
import { CelError, Opaque, type Value } from '../values.ts';
import { define, member, unitCost } from './declare.ts';
import { label1123Faults, subdomainFaults } from './kubernetes-names.ts';
import { parseFieldSelector, parseLabelSelector } from './selectors.ts';

const AUTHORIZER = opaque('kubernetes.authorization.Authorizer');
const PATH_CHECK = opaque('kubernetes.authorization.PathCheck');
const GROUP_CHECK = opaque('kubernetes.authorization.GroupCheck');
const RESOURCE_CHECK = opaque('kubernetes.authorization.ResourceCheck');
const DECISION = opaque('kubernetes.authorization.Decision');

/** Cost of a check: two of them, and no third, fit into an expression. */
const CHECK = 350_000;

/** Of a selector: a list, and per two characters a requirement with its list of values. */
const SELECTOR = 10;
const REQUIREMENT = 50;
const REQUIREMENT_LENGTH = 2;

/** Equality is not defined on these, not even with itself. */
abstract class Incomparable extends Opaque {
  override equals(): undefined {
    return undefined;
  }
}

/** Whom a check is about, and who answers. */
interface Subject {
  readonly user: AuthorizationUser;
  readonly authorize: Authorize;
}

class AuthorizerValue extends Incomparable {
  override readonly typeName = 'kubernetes.authorization.Authorizer';
  readonly subject: Subject;

  constructor(subject: Subject) {
    super();
    this.subject = subject;
  }
}

class PathCheckValue extends Incomparable {
  override readonly typeName = 'kubernetes.authorization.PathCheck';
  readonly subject: Subject;
  readonly path: string;

  constructor(subject: Subject, path: string) {
    super();
    this.subject = subject;
    this.path = path;
  }
}

class GroupCheckValue extends Incomparable {
  override readonly typeName = 'kubernetes.authorization.GroupCheck';
  readonly subject: Subject;
  readonly group: string;

  constructor(subject: Subject, group: string) {
    super();
    this.subject = subject;
    this.group = group;
  }
}

interface ResourceAttributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

interface CheckedResource extends ResourceAttributes {
  /** As written; empty: none. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

class ResourceCheckValue extends Incomparable {
  override readonly typeName = 'kubernetes.authorization.ResourceCheck';
  readonly subject: Subject;
  readonly resource: CheckedResource;

  constructor(subject: Subject, resource: CheckedResource) {
    super();
    this.subject = subject;
    this.resource = resource;
  }
}

class DecisionValue extends Incomparable {
  override readonly typeName = 'kubernetes.authorization.Decision';
  readonly answer: AuthorizationAnswer;

  constructor(answer: AuthorizationAnswer) {
    super();
    this.answer = answer;
  }
}

/**
 * The values of `authorizer` and `authorizer.requestResource` for one request.
 *
 * @param user who makes the request
 * @param requested what the request is about, with empty strings for what it has not
 */
export function bindAuthorizer(
  user: AuthorizationUser,
  requested: ResourceAttributes,
  authorize: Authorize,
): AuthorizerBinding {
  const subject = { user, authorize };
  const { group, resource, subresource, namespace, name } = requested;
  return {
    authorizer: new AuthorizerValue(subject),
    requestResource: new ResourceCheckValue(subject, {
      group,
      resource,
      subresource,
      namespace,
      name,
      fieldSelector: '',
      labelSelector: '',
    }),
  };
}

/** Nothing, or white space as Go sees it. */
function isBlank(text: string): boolean {
  return /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/.test(text);
}

function pathCheck({ subject }: AuthorizerValue, path: string): Value {
  return isBlank(path) ? new CelError('path must not be empty') : new PathCheckValue(subject, path);
}

function serviceAccount({ subject }: AuthorizerValue, namespace: string, name: string): Value {
  if (subdomainFaults(name).length > 0) return new CelError('Invalid service account name');
  if (label1123Faults(namespace).length > 0) return new CelError('Invalid service account namespace');
  const user = {
    username: `system:serviceaccount:${namespace}:${name}`,
    uid: '',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra: {},
  };
  return new AuthorizerValue({ user, authorize: subject.authorize });
}

function resourceCheck({ subject, group }: GroupCheckValue, resource: string): Value {
  if (isBlank(resource)) return new CelError('resource must not be empty');
  return new ResourceCheckValue(subject, {
    group,
    resource,
    subresource: '',
    namespace: '',
    name: '',
    fieldSelector: '',
    labelSelector: '',
  });
}

function checkPath({ subject, path }: PathCheckValue, verb: string): Value {
  return ask(subject, { kind: 'path', user: subject.user, verb, path });
}

function checkResource({ subject, resource: checked }: ResourceCheckValue, verb: string): Value {
  const { fieldSelector, labelSelector, ...attributes } = checked;
  return ask(subject, {
    kind: 'resource',
    user: subject.user,
    verb,
    version: '*',
    ...attributes,
    ...(fieldSelector === '' ? {} : { fieldSelector: parseFieldSelector(fieldSelector) }),
    ...(labelSelector === '' ? {} : { labelSelector: parseLabelSelector(labelSelector) }),
  });
}

/** @throws AuthorizationPending where the answer is not known yet */
function ask(subject: Subject, query: AuthorizationQuery): DecisionValue {
  const answer = subject.authorize(query);
  if (answer === undefined) throw new AuthorizationPending(query);
  return new DecisionValue(answer);
}

function checkCost(): number {
  return CHECK;
}

function selectorCost({ args: [, selector = null] }: CallFacts): number {
  const length = actualSize(selector);
  const requirements = Math.ceil(length / REQUIREMENT_LENGTH) * REQUIREMENT;
  return SELECTOR + Math.ceil(length * STRING_TRAVERSAL) + requirements;
}

function narrowing(
  name: Exclude<keyof CheckedResource, 'group' | 'resource'>,
  id: string,
  cost: (facts: CallFacts) => number,
) {
  return define(name, cost, [
    member(id, [RESOURCE_CHECK, STRING], RESOURCE_CHECK, (check: ResourceCheckValue, value: string) => {
      return new ResourceCheckValue(check.subject, { ...check.resource, [name]: value });
    }),
  ]);
}

export const authorizerLibrary: Library = {
  name: 'kubernetes.authz',
  since: 27,
  functions: [
    define('path', unitCost, [member('authorizer_path', [AUTHORIZER, STRING], PATH_CHECK, pathCheck)]),
    define('group', unitCost, [
      member(
        'authorizer_group',
        [AUTHORIZER, STRING],
        GROUP_CHECK,
        (authorizer: AuthorizerValue, group: string) => {
          return new GroupCheckValue(authorizer.subject, group);
        },
      ),
    ]),
    define('serviceAccount', unitCost, [
      member('authorizer_serviceaccount', [AUTHORIZER, STRING, STRING], AUTHORIZER, serviceAccount),
    ]),
    define('resource', unitCost, [
      member('groupcheck_resource', [GROUP_CHECK, STRING], RESOURCE_CHECK, resourceCheck),
    ]),
    narrowing('subresource', 'resourcecheck_subresource', unitCost),
    narrowing('namespace', 'resourcecheck_namespace', unitCost),
    narrowing('name', 'resourcecheck_name', unitCost),
    define('check', checkCost, [
      member('pathcheck_check', [PATH_CHECK, STRING], DECISION, checkPath),
      member('resourcecheck_check', [RESOURCE_CHECK, STRING], DECISION, checkResource),
    ]),
    define('allowed', unitCost, [
      // An authorizer that fails may still allow, as in Kubernetes: `errored` tells.
      member(
        'decision_allowed',
        [DECISION],
        BOOL,
        ({ answer }: DecisionValue) => answer.decision === 'allow',
      ),
    ]),
    define('reason', unitCost, [
      member('decision_reason', [DECISION], STRING, ({ answer }: DecisionValue) => answer.reason),
    ]),
    define('errored', unitCost, [
      member('decision_errored', [DECISION], BOOL, ({ answer }: DecisionValue) => answer.error !== undefined),
    ]),
    define('error', unitCost, [
      member('decision_error', [DECISION], STRING, ({ answer }: DecisionValue) => answer.error ?? ''),
    ]),
  ],
};

/**
 * Selectors have a gate of their own in Kubernetes, which is open at every compatibility version: they are there
 * before checks are (cel.md §4).
 */
export const authorizerSelectorsLibrary: Library = {
  name: 'kubernetes.authzSelectors',
  since: 0,
  functions: [
    narrowing('fieldSelector', 'authorizer_fieldselector', selectorCost),
    narrowing('labelSelector', 'authorizer_labelselector', selectorCost),
  ],
};
