/** Where an Ingress leads to. */
import type { KubeObject } from '../../cluster/objects.ts';
import { listOf, recordOf } from '../triggers/trigger.ts';

export interface IngressBackend {
  /** In the namespace of the Ingress. */
  readonly service: string;
  /** Of the Service: its number or its name; undefined where it names none. */
  readonly port: number | string | undefined;
}

/** Backends that are Services, the default one among them. */
export function ingressBackends(ingress: KubeObject): readonly IngressBackend[] {
  const { defaultBackend, rules } = recordOf(ingress['spec']);
  const paths = listOf(rules).flatMap(({ http }) => listOf(recordOf(http)['paths']));
  return [defaultBackend, ...paths.map(({ backend }) => backend)].flatMap((backend) => {
    const { name, port } = recordOf(recordOf(backend)['service']);
    return typeof name === 'string' && name !== '' ? [{ service: name, port: portOf(port) }] : [];
  });
}

function portOf(port: unknown): number | string | undefined {
  const { number, name } = recordOf(port);
  if (typeof number === 'number') return number;
  return typeof name === 'string' && name !== '' ? name : undefined;
}
