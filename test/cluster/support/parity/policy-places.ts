/** Where our server finds policies: files, ConfigMaps or our own custom resources; and a server that keeps no copies. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../../../../src/cluster/objects.ts';
import { stringifyJson } from '../../../../src/json.ts';
import type { ApiClient } from '../api-client.ts';
import type { ControlPlane } from '../control-plane.ts';
import { createDefinitions } from '../custom-resources.ts';
import { GATE_NAMESPACE } from '../gate.ts';

export type PolicySource = 'files' | 'configMaps' | 'customResources' | 'customResourcesLive';

interface PolicyPlace {
  /** Of `pacto-gate serve`. */
  readonly serveFlags: readonly string[];
  /** Of `pacto-gate generate webhooks`. */
  readonly generateFlags: readonly string[];
  /** Puts them there; what is there stays. */
  place(objects: readonly KubeObject[]): Promise<void>;
}

const CONFIG_MAPS = `/api/v1/namespaces/${GATE_NAMESPACE}/configmaps`;
const GROUP = 'gate.pacto.trianalab.io';
const DEFINITIONS = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'].map(
  (plural) => `manifests/crds/${plural}.${GROUP}.yaml`,
);
const PLURALS: ReadonlyMap<string, string> = new Map([
  ['ValidatingAdmissionPolicy', 'validatingadmissionpolicies'],
  ['ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'],
]);

export function policyPlaces(
  plane: ControlPlane,
  api: ApiClient,
): Readonly<Record<PolicySource, PolicyPlace>> {
  const directory = join(plane.directory, 'policies');
  const inFiles = [`--policies-directory=${directory}`];
  const inCluster = (source: PolicySource): readonly string[] => [
    `--policies-sources=${source}`,
    `--policies-namespaces=${GATE_NAMESPACE}`,
  ];
  const fromCluster = ['--from-cluster', `--cluster-kubeconfig=${plane.adminKubeconfigPath}`];
  const customResources: PolicyPlace = {
    serveFlags: inCluster('customResources'),
    generateFlags: [...fromCluster, ...inCluster('customResources')],
    async place(objects) {
      await Promise.all(objects.map((object) => createCustomResource(api, object)));
    },
  };
  return {
    files: {
      serveFlags: inFiles,
      generateFlags: inFiles,
      place(objects) {
        rmSync(directory, { recursive: true, force: true });
        mkdirSync(directory);
        for (const [index, object] of objects.entries())
          writeFileSync(join(directory, `${index}.json`), stringifyJson(object));
        return Promise.resolve();
      },
    },
    configMaps: {
      serveFlags: inCluster('configMaps'),
      generateFlags: [...fromCluster, ...inCluster('configMaps')],
      async place(objects) {
        await Promise.all(objects.map((object, index) => createConfigMap(api, `policies-${index}`, object)));
      },
    },
    customResources,
    // The same cases, of which the policies lie there by then.
    customResourcesLive: {
      ...customResources,
      serveFlags: [...customResources.serveFlags, '--state=live'],
    },
  };
}

/** Of our own kinds. Early: a policy about everything would refuse them too. */
export async function createPolicyDefinitions(api: ApiClient): Promise<void> {
  await createDefinitions(
    api,
    DEFINITIONS.map((file) => parse(readFileSync(file, 'utf8')) as object),
  );
}

async function createConfigMap(api: ApiClient, name: string, object: KubeObject): Promise<void> {
  await api.demand({
    method: 'POST',
    path: CONFIG_MAPS,
    body: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { [`${GROUP}/policies`]: 'true' } },
      data: { 'policy.json': stringifyJson(object) },
    },
  });
}

/** The group in it is changed, and nothing else. */
async function createCustomResource(api: ApiClient, object: KubeObject): Promise<void> {
  const plural = PLURALS.get(object.kind);
  if (plural === undefined) throw new Error(`${object.kind} is no policy`);
  const { status, body } = await api.request({
    method: 'POST',
    path: `/apis/${GROUP}/v1/${plural}`,
    body: { ...object, apiVersion: `${GROUP}/v1` },
  });
  const isThere = status === 409 && body.reason === 'AlreadyExists';
  if (status !== 201 && !isThere) throw new Error(`${object.metadata.name} was refused: ${body.message}`);
}
