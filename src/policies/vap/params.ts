/** Which parameters a policy is evaluated with (vap.md P01 to P12). */
import type { KubeObject } from '../../cluster/objects.ts';
import { labelsOf, selectorFault, selects } from './label-selector.ts';
import type { Answers, ParamsNeed } from './needs.ts';
import type { ParamKind, ParamRef } from './types.ts';

/** What to do about parameters: the errors are those of a configuration (vap.md P10). */
export type ParamsPlan =
  /** One evaluation without parameters. */
  | { readonly plan: 'none' }
  | { readonly plan: 'error'; readonly error: string }
  | { readonly plan: 'read'; readonly read: ParamsNeed };

/**
 * @param served of the policy's paramKind; there is a paramKind only where it is served
 * @param namespace of the request; empty for what is cluster-scoped
 */
export function planParams(
  paramKind: ParamKind | undefined,
  served: NonNullable<Answers['paramKind']> | undefined,
  paramRef: ParamRef | undefined,
  namespace: string,
): ParamsPlan {
  if (paramKind === undefined || served === undefined || paramRef === undefined) return { plan: 'none' };
  const { name = '', namespace: ownNamespace = '', selector } = paramRef;
  if (!served.namespaced && ownNamespace !== '') {
    return failed('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const searched = ownNamespace === '' ? namespace : ownNamespace;
  if (served.namespaced && searched === '') {
    return failed('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  }
  const place = {
    need: 'params',
    apiVersion: paramKind.apiVersion,
    kind: paramKind.kind,
    ...(served.namespaced ? { namespace: searched } : {}),
  } as const;
  if (name !== '') {
    return selector === undefined
      ? { plan: 'read', read: { ...place, name } }
      : failed('paramRef.name and paramRef.selector are mutually exclusive');
  }
  if (selector === undefined) return failed('one of name or selector must be provided');
  const fault = selectorFault(selector);
  return fault === undefined ? { plan: 'read', read: { ...place, selector } } : failed(fault);
}

function failed(error: string): ParamsPlan {
  return { plan: 'error', error };
}

/**
 * The parameters out of what was read: each is evaluated on its own.
 *
 * @returns a text where there are none and there must be some; no parameters mean no evaluation at all (vap.md P06)
 */
export function chooseParams(
  found: readonly KubeObject[],
  { selector, apiVersion, kind, namespace, name }: ParamsNeed,
  { parameterNotFoundAction }: ParamRef,
): readonly KubeObject[] | string {
  const chosen = found.filter(
    (object) =>
      (selector === undefined || selects(selector, labelsOf(object) ?? {})) &&
      (name === undefined || object.metadata.name === name) &&
      (namespace === undefined || object.metadata.namespace === namespace),
  );
  if (chosen.length === 0 && parameterNotFoundAction === 'Deny') {
    return 'no params found for policy binding with `Deny` parameterNotFoundAction';
  }
  // The API server's order is that of a cache; ours is one.
  if (chosen.length > 1) chosen.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  return chosen.map((object) => withType(object, { apiVersion, kind }));
}

function placeOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

/** Lists of the API server leave apiVersion and kind out of their items (vap.md P11). */
function withType(object: Partial<KubeObject>, { apiVersion, kind }: ParamKind): KubeObject {
  if (object.apiVersion !== undefined && object.kind !== undefined) return object as KubeObject;
  return { ...object, metadata: object.metadata ?? {}, apiVersion, kind };
}

/** The API server's words for a paramKind that nobody serves (vap.md P08). */
export function unknownParamKind({ apiVersion, kind }: ParamKind): string {
  const groupVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `failed to find resource referenced by paramKind: '${groupVersion}, Kind=${kind}'`;
}
