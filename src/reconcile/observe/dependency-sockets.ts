/** Where the connections to a provider end (operator.md §13.4). */
import type { KubeObject } from '../../cluster/objects.ts';
import { allEndpoints, servicePorts, slicePorts, specOf } from './endpoints.ts';
import { canonicalAddress } from './ip-address.ts';

/** @returns undefined for what is no address. */
export function socketText(address: string, port: number): string | undefined {
  const canonical = canonicalAddress(address);
  return canonical === undefined ? undefined : `${canonical} ${String(port)}`;
}

/**
 * The Service's own addresses with its ports, and every endpoint that it has now with the port that traffic reaches there: a
 * kube-proxy replacement connects to those. One that is not ready any more was the provider as well. What connects to another
 * port of the same Pod says nothing of the provider.
 */
export function socketsOf(service: KubeObject, slices: readonly KubeObject[]): ReadonlySet<string> {
  const own = servicePorts(service).filter(isTcp);
  const sockets = new Set<string>();
  const add = (addresses: readonly string[], ports: readonly (number | undefined)[]): void => {
    for (const address of addresses) {
      for (const port of ports) {
        const socket = port === undefined ? undefined : socketText(address, port);
        if (socket !== undefined) sockets.add(socket);
      }
    }
  };
  add(
    clusterAddresses(service),
    own.map(({ port }) => port),
  );
  for (const slice of slices) {
    const ports = slicePorts(slice)
      .filter(isTcp)
      .map(({ port }) => port);
    add(
      allEndpoints([slice]).flatMap(({ addresses }) => addresses),
      ports,
    );
  }
  return sockets;
}

function clusterAddresses(service: KubeObject): readonly string[] {
  const { clusterIP, clusterIPs } = specOf(service);
  const all: readonly unknown[] = [clusterIP, ...(Array.isArray(clusterIPs) ? clusterIPs : [])];
  return all.filter((one) => typeof one === 'string');
}

/** Node agents see nothing else. */
function isTcp({ protocol }: { readonly protocol: string }): boolean {
  return protocol === 'TCP';
}
