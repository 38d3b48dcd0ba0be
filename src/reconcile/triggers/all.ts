/** Every watched kind, as the settings want it. */
import { CONFIG_OBJECTS } from './config-objects.ts';
import { ENDPOINT_SLICES } from './endpoint-slices.ts';
import { MONITORS } from './monitors.ts';
import { nodeTriggers } from './nodes.ts';
import { PACTOS, REVISIONS } from './pactos.ts';
import { ROUTES } from './routes.ts';
import { SERVICES } from './services.ts';
import type { Trigger } from './trigger.ts';
import { WORKLOADS } from './workloads.ts';

export interface WantedTriggers {
  /** Whether ServiceMonitors and PodMonitors are looked at. */
  readonly monitors: boolean;
  /** Undefined: there are no node agents. */
  readonly nodeAgent: { readonly connectionMs: number } | undefined;
}

export function triggersFor({ monitors, nodeAgent }: WantedTriggers): readonly Trigger[] {
  return [
    PACTOS,
    REVISIONS,
    SERVICES,
    ENDPOINT_SLICES,
    ...WORKLOADS,
    ...CONFIG_OBJECTS,
    ...ROUTES,
    ...(monitors ? MONITORS : []),
    ...(nodeAgent === undefined ? [] : nodeTriggers(nodeAgent.connectionMs)),
  ];
}
