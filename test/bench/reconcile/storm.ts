/**
 * A storm of events on an API server, in a process of its own: argument 1 the kind (`pods` or `slices`), 2 how many
 * patches, 3 the address of the API server, 4 the kubeconfig of its administrator. Prints how many milliseconds it took.
 */
import { createApiClient } from '../../cluster/support/api-client.ts';
import { endpointsOf, podPaths, servicePlaces, slicePath } from './fleet.ts';

const CONNECTIONS = 16;

const [, , kind = '', patches = '', url = '', adminKubeconfigPath = ''] = process.argv;
const paths = kind === 'pods' ? [...podPaths()] : [...servicePlaces()].map((place) => slicePath(place));
const api = createApiClient({ url, adminKubeconfigPath }, CONNECTIONS);
const startMs = performance.now();
let next = 0;

async function patchOn(): Promise<void> {
  for (let index = next; index < Number(patches); index = next) {
    next += 1;
    const round = Math.floor(index / paths.length);
    const body =
      kind === 'pods'
        ? { metadata: { labels: { storm: `round-${startMs.toFixed(0)}-${round}` } } }
        : { endpoints: endpointsOf(round % 2 === 1) };
    const path = paths[index % paths.length] ?? '';
    await api.demand({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  }
}

await Promise.all(Array.from({ length: CONNECTIONS }, () => patchOn()));
process.stdout.write(`${performance.now() - startMs}\n`);
await api.close();
