/** Where a capability is to be found: the port of the interface that it is bound to (operator.md §5.5, §5.7). */
import type { KubeObject } from '../../cluster/objects.ts';
import type { Capability } from '../../policies/contract/contract.ts';
import type { Surveyed } from './dimension.ts';
import { findPort, type ServicePort } from './endpoints.ts';
import { attempt } from './sighting.ts';

export type CapabilityPort =
  | { readonly found: 'port'; readonly service: KubeObject; readonly port: ServicePort }
  /** It cannot be observed: no binding, none over HTTP, none of the interface, no Service (T15), no such port. */
  | { readonly found: 'nothing' }
  | { readonly found: 'failure'; readonly error: unknown };

const NOTHING: CapabilityPort = { found: 'nothing' };

/** Names of ports do not help here, whatever the settings say. Rejects with the signal's reason only. */
export async function capabilityPort(
  { target, view, signal }: Surveyed,
  { binding }: Capability,
): Promise<CapabilityPort> {
  if (binding?.type !== 'http' || target.service === undefined) return NOTHING;
  const bound = target.interfaces.get(binding.interface);
  if (bound === undefined) return NOTHING;
  const at = { namespace: target.namespace, name: target.service };
  const read = await attempt(() => view.service(at), signal);
  if (!read.ok) return { found: 'failure', error: read.error };
  const port = read.value === undefined ? undefined : findPort(read.value, bound);
  return read.value === undefined || port === undefined
    ? NOTHING
    : { found: 'port', service: read.value, port };
}

/**
 * A path for the request line: only ever what stands behind the host (operator.md §0.3, INV-6). Percent escapes and a query
 * stay as they are written, which upstream escapes once more (recorded, a defect); what no URL may hold is escaped.
 *
 * @param path of a contract or a monitor, of any text; none is the root.
 */
export function probePath(path: string | undefined): string {
  const written = (path ?? '').toWellFormed();
  const safe = encodeURI(written).replaceAll('%25', '%').replaceAll('#', '%23');
  return safe.startsWith('/') ? safe : `/${safe}`;
}
