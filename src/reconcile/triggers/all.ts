/** Every watched kind, as the settings want it. */
import { CONFIG_OBJECTS } from './config-objects.ts';
import { ENDPOINT_SLICES } from './endpoint-slices.ts';
import { MONITORS } from './monitors.ts';
import { NODES } from './nodes.ts';
import { PACTOS, REVISIONS } from './pactos.ts';
import { ROUTES } from './routes.ts';
import { SERVICES } from './services.ts';
import type { Trigger } from './trigger.ts';
import { WORKLOADS } from './workloads.ts';

export function triggersFor(wanted: {
  readonly monitors: boolean;
  readonly nodeAgents: boolean;
}): readonly Trigger[] {
  return [
    PACTOS,
    REVISIONS,
    SERVICES,
    ENDPOINT_SLICES,
    ...WORKLOADS,
    ...CONFIG_OBJECTS,
    ...ROUTES,
    ...(wanted.monitors ? MONITORS : []),
    ...(wanted.nodeAgents ? NODES : []),
  ];
}
