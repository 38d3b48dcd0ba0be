/** Our CustomResourceDefinitions (manifests/crds) on a control plane. */
import { readdirSync } from 'node:fs';
import type { ApiClient } from './api-client.ts';
import type { ControlPlane } from './control-plane.ts';
import { pollUntil } from './polling.ts';

const DIRECTORY = 'manifests/crds';
const GROUP = 'gate.pacto.trianalab.io';

/** Resolves once the API server serves both kinds. */
export async function applyPolicyDefinitions(
  plane: Pick<ControlPlane, 'kubectl'>,
  api: Pick<ApiClient, 'request'>,
): Promise<void> {
  const files = readdirSync(DIRECTORY).filter((file) => file.includes(`.${GROUP}.`));
  const { code, stderr } = await plane.kubectl([
    'apply',
    '--server-side',
    ...files.flatMap((file) => ['-f', `${DIRECTORY}/${file}`]),
  ]);
  if (code !== 0) throw new Error(stderr);
  for (const resource of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']) {
    await pollUntil(`${resource} of ${GROUP} served`, 20_000, async () => {
      const { status } = await api.request({ method: 'GET', path: `/apis/${GROUP}/v1/${resource}` });
      return status === 200 ? true : undefined;
    });
  }
}
