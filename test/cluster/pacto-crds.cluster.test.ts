/** The definitions of Pacto's own kinds on real API servers: they answer as upstream's are recorded to (operator.md §1). */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readExceptions } from '../conformance/exceptions.ts';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane, type KubernetesVersion } from './support/control-plane.ts';
import { CRD_FAMILIES, runCrdFamily } from './support/crd-vectors.ts';
import { createDefinitions } from './support/custom-resources.ts';

const DIRECTORY = 'manifests/crds';
const ROOT = '/apis/pacto.trianalab.io/v1alpha1/namespaces/default';

const definitions = (): readonly object[] =>
  readdirSync(DIRECTORY)
    .filter((file) => file.startsWith('pacto.trianalab.io_'))
    .map((file) => parse(readFileSync(`${DIRECTORY}/${file}`, 'utf8')) as object);

for (const version of ['1.36', '1.29'] satisfies readonly KubernetesVersion[]) {
  clusterSuite(`the definitions of Pacto on ${version}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let api: ApiClient;
    beforeAll(async () => {
      plane = await startControlPlane({ version });
      api = createApiClient(plane);
      await createDefinitions(api, definitions());
    });
    afterAll(async () => {
      await api?.close();
      await plane?.stop();
    });

    it('are established without a complaint about their schemas', async () => {
      const { items } = (await api.demand({
        method: 'GET',
        path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      })) as unknown as {
        readonly items: readonly {
          readonly status: { readonly conditions: readonly { type: string; status: string }[] };
        }[];
      };
      expect(items).toHaveLength(3);
      for (const { status } of items) {
        const holds = status.conditions.filter((condition) => condition.status === 'True');
        expect(holds.map(({ type }) => type).sort((a, b) => (a < b ? -1 : 1))).toEqual([
          'Established',
          'NamesAccepted',
        ]);
      }
    });

    // Recorded from 1.36.3: words of refusals are those of its release.
    it.each(CRD_FAMILIES)('answer as recorded: %s', async (family) => {
      const { total, failures, ids } = await runCrdFamily(
        api,
        family,
        version === '1.36' ? 'all' : 'outcome',
      );
      const excepted = readExceptions(readFileSync('docs/conformance.md', 'utf8'));
      const failed = new Set(failures.map(({ id }) => id));
      process.stdout.write(`${family}: ${String(total - failed.size)}/${String(total)} (${version})\n`);
      expect(failures.filter(({ id }) => !excepted.has(id))).toEqual([]);
      expect(ids.filter((id) => excepted.has(id) && !failed.has(id))).toEqual([]);
    });

    it('take what node agents publish, whole, and show it', async () => {
      const [observation] = parseAllDocuments(readFileSync('examples/cluster/observations.yaml', 'utf8')).map(
        (document) => document.toJS() as { readonly status: object },
      );
      const { status } = observation ?? {};
      const made = await api.demand({
        method: 'POST',
        path: `${ROOT}/noderuntimeobservations`,
        body: {
          apiVersion: 'pacto.trianalab.io/v1alpha1',
          kind: 'NodeRuntimeObservation',
          metadata: { name: 'worker-a' },
        },
      });
      const stored = await api.request({
        method: 'PUT',
        path: `${ROOT}/noderuntimeobservations/worker-a/status?fieldValidation=Strict`,
        body: { ...made, status },
      });
      expect([stored.status, stored.body['status'], stored.warnings]).toEqual([200, status, []]);
      const { stdout } = await plane.kubectl(['get', 'noderuntimeobservations', '--no-headers']);
      expect(stdout.trim().split(/\s+/).slice(0, 2)).toEqual(['worker-a', 'Ready']);
    });

    it('show of a Pacto its verdict, its Service, its version and its findings', async () => {
      const made = await api.demand({
        method: 'POST',
        path: `${ROOT}/pactos`,
        body: {
          apiVersion: 'pacto.trianalab.io/v1alpha1',
          kind: 'Pacto',
          metadata: { name: 'shown' },
          spec: { contractRef: { inline: 'x' }, target: { serviceName: 'cart' } },
        },
      });
      const summary = { errorCount: 3, warningCount: 1, infoCount: 0, unknownCount: 0 };
      await api.demand({
        method: 'PUT',
        path: `${ROOT}/pactos/shown/status`,
        body: { ...made, status: { contractStatus: 'NonCompliant', contractVersion: '1.4.0', summary } },
      });
      const { stdout } = await plane.kubectl(['get', 'pacto', 'shown']);
      const [header = '', line = ''] = stdout.split('\n');
      expect(header.split(/\s{2,}/).map((name) => name.trim())).toEqual([
        'NAME',
        'STATUS',
        'SERVICE',
        'VERSION',
        'ERRORS',
        'WARNINGS',
        'LAST RECONCILED',
        'AGE',
      ]);
      expect(line.split(/\s+/).slice(0, 6)).toEqual(['shown', 'NonCompliant', 'cart', '1.4.0', '3', '1']);
    });
  });
}
