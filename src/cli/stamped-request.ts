/** What an API server does before it asks whoever validates: the one mutating entry of ours, whose patch the others see. */
import { APPROVAL, OPERATION } from '../cluster/kinds.ts';
import type { AdmissionRequest } from '../cluster/objects.ts';
import type { PatchOperation } from '../policies/verdict.ts';

/** Whether the entry for stamps is asked about a request. */
export function isStamped({ operation, kind, subResource = '' }: AdmissionRequest): boolean {
  return (
    operation === 'CREATE' &&
    subResource === '' &&
    [OPERATION, APPROVAL].some((one) => one.group === kind.group && one.kind === kind.kind)
  );
}

/** @param patch of our own entry: members of `spec` that are added or replaced */
export function withStamps(request: AdmissionRequest, patch: readonly PatchOperation[]): AdmissionRequest {
  const { object } = request;
  if (patch.length === 0 || typeof object !== 'object' || object === null) return request;
  const { spec } = object as { readonly spec?: object };
  const members = patch.map(({ path, value }) => [path.replace(/^\/spec\//, ''), value] as const);
  return { ...request, object: { ...object, spec: { ...spec, ...Object.fromEntries(members) } } };
}
