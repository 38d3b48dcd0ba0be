/** A control plane with node agents, our server and its entries: what most cluster tests start from. */
import { createApiClient, type ApiClient } from './api-client.ts';
import { installAgents } from './agents.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { installEntries, startGate, type Gate } from './gate.ts';

export interface SiteOptions {
  readonly plane: ControlPlaneOptions;
  /** Default: node-a and node-b, each with its agent's Pod. */
  readonly nodes?: readonly string[];
  readonly serveFlags?: readonly string[];
  readonly entryFlags?: readonly string[];
  /** Runs when the agents are there and no entry yet. */
  readonly beforeEntries?: (site: Pick<Site, 'plane' | 'api'>) => Promise<void>;
}

export interface Site {
  readonly plane: ControlPlane;
  readonly api: ApiClient;
  readonly gate: Gate;
  /** Of the agents' DaemonSet. */
  readonly daemonSetUid: string;
  stop(): Promise<void>;
}

/** @throws what the first part that fails throws; nothing is left running then. */
export async function startSite(options: SiteOptions): Promise<Site> {
  const plane = await startControlPlane(options.plane);
  const api = createApiClient(plane, 16);
  let gate: Gate | undefined;
  const stop = async (): Promise<void> => {
    await gate?.stop();
    await api.close();
    await plane.stop();
  };
  try {
    const daemonSetUid = await installAgents(plane, api, options.nodes ?? ['node-a', 'node-b']);
    await options.beforeEntries?.({ plane, api });
    gate = await startGate({ plane, flags: options.serveFlags ?? [] });
    await installEntries(plane, api, gate, { flags: options.entryFlags ?? [] });
    return { plane, api, gate, daemonSetUid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
