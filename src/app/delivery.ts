/** The delivery gate in this process: what it watches, and the webhooks that answer. Loaded only where it is switched on. */
import { createHash } from 'node:crypto';
import { startWatch, type Watch, type WatchParts } from './watch.ts';
import type { Clock } from '../clock.ts';
import type { ReviewAccess } from '../cluster/access-reviews.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { APPROVAL, CONFIG_MAP, OPERATION, PACTO, STAGE } from '../cluster/kinds.ts';
import type { Config } from '../config.ts';
import { IDENTITY_POLICY } from '../policies/delivery/names.ts';
import { deliveryWebhooks } from '../webhooks/delivery.ts';
import type { Webhook } from '../webhooks/webhook.ts';

/** What decisions look up: Stages, what is asked of them, the verdicts, and who may do what. */
export function watchWhatDeliveryNeeds(
  { delivery }: Pick<Config, 'delivery'>,
  parts: WatchParts,
  cluster: Cluster,
): readonly Watch[] {
  return [
    ...[STAGE, OPERATION, APPROVAL].map((kind) => startWatch({ cluster, kind, whole: true }, parts)),
    startWatch({ cluster, kind: PACTO }, parts),
    startWatch(
      {
        cluster,
        kind: CONFIG_MAP,
        select: {
          namespace: delivery.namespace,
          fieldSelector: `metadata.name=${IDENTITY_POLICY.configMap}`,
        },
      },
      parts,
    ),
  ];
}

export function webhooksOfDelivery(
  { delivery, reconciler }: Pick<Config, 'delivery' | 'reconciler'>,
  { clock, reviewAccess }: { readonly clock: Clock; readonly reviewAccess: ReviewAccess | undefined },
): readonly Webhook[] {
  const { namespace, failurePolicy, workloads, stickySeconds, promoter } = delivery;
  return deliveryWebhooks({
    settings: { promoterUsername: promoter, sha256 },
    namespace,
    failurePolicy,
    workloads,
    stickyMs: stickySeconds * 1_000,
    stabilizationMs: reconciler.stabilizationSeconds * 1_000,
    reviewAccess,
    clock,
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
