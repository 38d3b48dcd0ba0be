/**
 * What the writer of a policy or a binding must be allowed to: our account reads the parameters, and whoever could make
 * it read what they may not read themselves would see it in messages (vap.md F10, design decision 17). The questions and
 * the sentences of refusal are those of the API server (registry of admissionregistration, authz.go).
 */
import type { UserInfo } from '../../cluster/objects.ts';
import { inertText } from '../quote.ts';
import { forbidden, type FieldError } from './field-error.ts';
import type { Binding, ParamKind, ParamRef, Policy } from './types.ts';

/** A kind that parameters may be of, and the resource by which rights to it are given. */
export interface ParamResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Plural. */
  readonly resource: string;
}

/** `resourceAttributes` of a SubjectAccessReview. */
export interface WriterAccess {
  readonly verb: 'get' | 'list';
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Left out: in all namespaces, and for kinds without them. */
  readonly namespace?: string;
  /** Left out: all objects. */
  readonly name?: string;
}

export interface WriterQuestion {
  readonly access: WriterAccess;
  /** @returns undefined where the writer may. An error beside a yes is a refusal too, as in the API server. */
  refusal(answer: { readonly allowed: boolean; readonly evaluationError?: string }): FieldError | undefined;
}

interface Write<T> {
  readonly written: T;
  /** As it is stored: this is an update then. */
  readonly old?: T | undefined;
  readonly user: UserInfo;
  readonly paramKinds: readonly ParamResource[];
}

export interface BindingWrite extends Write<Binding> {
  /** The one in force of the name in the binding; undefined where there is none. */
  readonly policy: Policy | undefined;
}

/** The group whose members may everything, also where no authorizer says so. */
const SUPERUSERS = 'system:masters';
const ANY = '*';

/** @returns undefined where the writer need not be asked about. */
export function policyWriterQuestion({
  written,
  old,
  user,
  paramKinds,
}: Write<Policy>): WriterQuestion | undefined {
  const { paramKind } = written;
  if (paramKind === undefined || isSuperuser(user)) return undefined;
  if (old?.paramKind !== undefined && sameKind(old.paramKind, paramKind)) return undefined;
  const { resource, group, version } = resolve(paramKind, paramKinds);
  const { kind, apiVersion } = paramKind;
  return {
    access: { verb: 'get', group, version, resource, namespace: ANY, name: ANY },
    refusal({ allowed, evaluationError }) {
      if (evaluationError !== undefined) return forbidden('spec.paramKind', faultText(evaluationError));
      if (allowed) return undefined;
      const sentence = `user ${userText(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
      return forbidden('spec.paramKind', sentence);
    },
  };
}

/**
 * The API server asks at every update of a binding with a paramRef: it compares pointers. Here one that changes nothing
 * of `spec` is not asked about, for it makes us read nothing new.
 *
 * @returns undefined where the writer need not be asked about.
 */
export function bindingWriterQuestion(write: BindingWrite): WriterQuestion | undefined {
  const { written, old, user } = write;
  const { paramRef } = written;
  if (paramRef === undefined || isSuperuser(user)) return undefined;
  if (old !== undefined && sameBinding(old, written)) return undefined;
  const verb = paramRef.name === undefined ? 'list' : 'get';
  const found = resolveFor(write);
  return {
    access: accessTo(paramRef, verb, found),
    refusal({ allowed, evaluationError }) {
      if (evaluationError !== undefined)
        return forbidden('spec.paramRef', `failed to authorize request: ${faultText(evaluationError)}`);
      if (allowed) return undefined;
      const sentence =
        found.unknown === undefined
          ? `user ${userText(user)} does not have "${verb}" permission on the object referenced by paramRef`
          : `unable to ${found.unknown} to determine minimum required permissions and user ${userText(user)} does not have "${verb}" permission for all groups, versions and resources`;
      return forbidden('spec.paramRef', sentence);
    },
  };
}

/**
 * Parameters are of kinds that an operator lists, and Secrets are none of them (design decision 17).
 *
 * @returns undefined where the policy may have its paramKind, or has none.
 */
export function paramKindError(
  { paramKind }: Policy,
  paramKinds: readonly ParamResource[],
): FieldError | undefined {
  if (paramKind === undefined) return undefined;
  const parsed = parse(paramKind.apiVersion);
  if (parsed?.group === '' && paramKind.kind === 'Secret') {
    return forbidden(
      'spec.paramKind',
      'Secrets are never parameters, because messages show what is in them; use a ConfigMap or a kind of your own',
    );
  }
  if (parsed !== undefined && listed(paramKind, parsed, paramKinds) !== undefined) return undefined;
  const shown = inertText(`(kind=${paramKind.kind}, apiVersion=${paramKind.apiVersion})`);
  return forbidden(
    'spec.paramKind',
    `pacto-gate may not read objects of this kind ${shown}; an operator can list it in policies.paramKinds and apply the roles that "pacto-gate generate rbac" prints then`,
  );
}

function isSuperuser({ groups = [] }: UserInfo): boolean {
  return groups.includes(SUPERUSERS);
}

interface Resolved {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** What nothing is known of: rights to everything are asked for then. */
const EVERYTHING: Resolved = { group: ANY, version: ANY, resource: ANY };

function resolve(paramKind: ParamKind, paramKinds: readonly ParamResource[]): Resolved {
  const parsed = parse(paramKind.apiVersion);
  if (parsed === undefined) return EVERYTHING;
  return { ...parsed, resource: listed(paramKind, parsed, paramKinds)?.resource ?? ANY };
}

/** @returns with `unknown`, in the API server's words, where less is known than which resource it is. */
function resolveFor({
  written: { policyName },
  policy,
  paramKinds,
}: BindingWrite): Resolved & { readonly unknown?: string } {
  if (policy === undefined) return { ...EVERYTHING, unknown: `get policy ${policyName}` };
  const { paramKind } = policy;
  if (paramKind === undefined) return EVERYTHING;
  const resolved = resolve(paramKind, paramKinds);
  if (resolved.resource !== ANY) return resolved;
  const what = inertText(`paramKind &{${paramKind.apiVersion} ${paramKind.kind}}`);
  return { ...resolved, unknown: `${resolved.version === ANY ? 'parse' : 'resolve'} ${what}` };
}

function accessTo({ name, namespace }: ParamRef, verb: 'get' | 'list', resolved: Resolved): WriterAccess {
  const { group, version, resource } = resolved;
  return {
    verb,
    group,
    version,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

/** `schema.ParseGroupVersion`. @returns undefined where it is none. */
function parse(apiVersion: string): { readonly group: string; readonly version: string } | undefined {
  if (apiVersion === '/') return { group: '', version: '' };
  const parts = apiVersion.split('/');
  if (parts.length > 2) return undefined;
  return { group: parts.length === 2 ? (parts[0] ?? '') : '', version: parts.at(-1) ?? '' };
}

function listed(
  { kind }: ParamKind,
  parsed: { readonly group: string; readonly version: string },
  paramKinds: readonly ParamResource[],
): ParamResource | undefined {
  return paramKinds.find(
    (one) => one.kind === kind && one.group === parsed.group && one.version === parsed.version,
  );
}

function sameKind(a: ParamKind, b: ParamKind): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind;
}

/** Both come from read.ts, which gives members in one order; only labels of selectors keep that of their writer. */
function sameBinding(a: Binding, b: Binding): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Characters of what an authorizer says of itself. */
const FAULT_LENGTH = 500;

function faultText(fault: string): string {
  return inertText(fault.length > FAULT_LENGTH ? `${fault.slice(0, FAULT_LENGTH)}…` : fault);
}

/** Far more than a name with a dozen groups; users of some directories are in thousands. */
const USER_LENGTH = 2_000;

/**
 * As Go prints a user: name, uid, groups and what else is known of them. The values of the latter are left out, for
 * they may be anything that an authenticator knows.
 */
function userText({ username = '', uid = '', groups = [], extra = {} }: UserInfo): string {
  const more = Object.keys(extra)
    .toSorted()
    .map((key) => `${key}:[…]`);
  const text = inertText(`&{${username} ${uid} [${groups.join(' ')}] map[${more.join(' ')}]}`);
  return text.length > USER_LENGTH ? `${text.slice(0, USER_LENGTH)}…` : text;
}
