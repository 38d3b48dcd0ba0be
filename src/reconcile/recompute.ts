/** How whoever may not write has the leader look: by an annotation that wakes it (design §5). */
import type { Cluster } from '../cluster/cluster.ts';
import { apiVersionOf, PACTO } from '../cluster/kinds.ts';
import { REQUESTED_AT } from './triggers/pactos.ts';
import type { PactoKey } from './wake.ts';

/** Its own, so that it takes over no field but its annotation. */
const FIELD_MANAGER = 'pacto-gate-verdict';

/**
 * Applied to a Pacto that exists, as its uid is named: none is ever made by it.
 * @throws GateError as Cluster.apply.
 */
export async function requestRecompute(
  cluster: Pick<Cluster, 'apply'>,
  { namespace, name }: PactoKey,
  { uid, nowMs, signal }: { readonly uid: string; readonly nowMs: number; readonly signal?: AbortSignal },
): Promise<void> {
  await cluster.apply(
    PACTO,
    {
      apiVersion: apiVersionOf(PACTO),
      kind: PACTO.kind,
      metadata: { namespace, name, uid, annotations: { [REQUESTED_AT]: new Date(nowMs).toISOString() } },
    },
    { fieldManager: FIELD_MANAGER, force: true, ...(signal !== undefined && { signal }) },
  );
}
