/** A process of its own: serves 10,000 pods of some 11 KB, so that the client's numbers hold nothing of the server. */
import { POD } from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { startFakeApiServer } from '../../support/fake-api-server.ts';

const PODS = 10_000;

/** Shaped as a deployed pod is: 3.6 KB of managedFields, the rest containers, volumes and conditions. */
function bigPod(n: number): KubeObject {
  const text = (length: number, salt: string): string => `${salt}-${n}-`.repeat(length).slice(0, length);
  const metadata = {
    name: `pod-${n}`,
    namespace: `ns-${n % 100}`,
    uid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    labels: Object.fromEntries(
      Array.from({ length: 8 }, (_, i) => [`example.com/label-${i}`, `value-${n % 50}-${i}`]),
    ),
    managedFields: Array.from({ length: 12 }, (_, i) => ({
      manager: 'kubelet',
      fieldsV1: { [`f:${i}`]: text(270, 'f') },
    })),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      nodeName: `node-${n % 500}`,
      serviceAccountName: 'default',
      containers: Array.from({ length: 3 }, (_, i) => ({
        name: `c${i}`,
        image: `registry.example.com/team/app-${n % 300}@sha256:${'a'.repeat(64)}`,
        env: Array.from({ length: 12 }, (_, e) => ({ name: `VARIABLE_${e}`, value: text(110, 'v') })),
      })),
    },
    status: {
      phase: 'Running',
      conditions: Array.from({ length: 5 }, (_, i) => ({
        type: `Condition${i}`,
        status: 'True',
        message: text(160, 'c'),
      })),
    },
  };
}

const server = await startFakeApiServer();
for (let n = 0; n < PODS; n++) server.put(POD, bigPod(n));
process.stdout.write(`${JSON.stringify({ url: server.url, bytes: JSON.stringify(bigPod(1)).length })}\n`);
