/** A control plane with node agents, our server and its entries: what most cluster tests start from. */
import { createApiClient, type ApiClient } from './api-client.ts';
import { installAgents } from './agents.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { installEntries, startGate, type Gate } from './gate.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

export interface SiteOptions {
  readonly plane: ControlPlaneOptions;
  /** Default: node-a and node-b, each with its agent's Pod. */
  readonly nodes?: readonly string[];
  /** Puts a proxy between our server and the API server. */
  readonly proxied?: boolean;
  readonly serveFlags?: readonly string[];
  readonly entryFlags?: readonly string[];
  /** Runs when the agents are there and no entry yet. */
  readonly beforeEntries?: (site: Pick<Site, 'plane' | 'api'>) => Promise<void>;
}

export interface Site {
  readonly plane: ControlPlane;
  readonly api: ApiClient;
  readonly gate: Gate;
  /** Between our server and the API server, where that was asked for. */
  readonly proxy: TcpProxy | undefined;
  /** Of the agents' DaemonSet. */
  readonly daemonSetUid: string;
  stop(): Promise<void>;
}

/** @throws what the first part that fails throws; nothing is left running then. */
export async function startSite(options: SiteOptions): Promise<Site> {
  const plane = await startControlPlane(options.plane);
  const api = createApiClient(plane, 16);
  let gate: Gate | undefined;
  let proxy: TcpProxy | undefined;
  const stop = async (): Promise<void> => {
    await gate?.stop();
    await proxy?.close();
    await api.close();
    await plane.stop();
  };
  try {
    const daemonSetUid = await installAgents(plane, api, options.nodes ?? ['node-a', 'node-b']);
    await options.beforeEntries?.({ plane, api });
    if (options.proxied === true) proxy = await startTcpProxy(Number(new URL(plane.url).port));
    gate = await startGate({
      plane,
      flags: options.serveFlags ?? [],
      ...(proxy !== undefined && { server: `https://127.0.0.1:${proxy.port}` }),
    });
    await installEntries(plane, api, gate, { flags: options.entryFlags ?? [] });
    return { plane, api, gate, proxy, daemonSetUid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
