/** `review` asks the webhooks that the API server would ask, by the entries that `generate webhooks` writes. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { fakeTerminal, runCommand, type Ran } from './run-command.ts';
import { run } from '../../src/cli/program.ts';

const NATIVE = 'admissionregistration.k8s.io/v1';

function policyObjects(name: string, constraints: object = {}): readonly object[] {
  const resourceRules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps', 'nodes'] },
  ];
  return [
    {
      apiVersion: NATIVE,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: { resourceRules, ...constraints },
        validations: [{ expression: 'false', message: `denied by ${name}` }],
      },
    },
    {
      apiVersion: NATIVE,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}

const namespace = (name: string, zone: string): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { zone } },
});
const configMap = (within: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'x', namespace: within },
});
const LONG = 'a'.repeat(240);

let directory: string;
const file = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-review-'));
  const write = (name: string, objects: readonly object[]): Promise<void> =>
    writeFile(file(name), objects.map((one) => stringify(one)).join('---\n'));
  await mkdir(file('cluster'));
  await write('cluster/namespaces.yaml', [namespace('east', 'east'), namespace('west', 'west')]);
  await write('all.yaml', policyObjects('all'));
  const namespaceSelector = { matchLabels: { zone: 'east' } };
  await write('zone.yaml', policyObjects('zone', { namespaceSelector }));
  await write('long.yaml', policyObjects(LONG));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

async function review(object: object, policies: string, ...argv: string[]): Promise<Ran> {
  const terminal = fakeTerminal({ stdin: JSON.stringify(object) });
  const args = ['review', '-', '--as', 'somebody', '--operation', 'CREATE'];
  const code = await run([...args, '--policies-files', file(policies), ...argv], terminal.around);
  return { code, ...terminal.written };
}

const NOBODY = 'no webhook is asked about this request';

describe('review with policies of the configuration', () => {
  it('denies what the entry of a policy reaches', async () => {
    const ran = await review(configMap('east'), 'all.yaml', '--cluster-directory', file('cluster'));
    expect(ran.code).toBe(1);
    expect(ran.out).toContain(
      "ValidatingAdmissionPolicy 'all' with binding 'all' denied request: denied by all",
    );
  });

  it.each<[string, object]>([
    ['in a namespace that entries leave out', configMap('kube-system')],
    ['of a kind that entries leave out', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' } }],
  ])('asks nobody about an object %s', async (_what, object) => {
    const ran = await review(object, 'all.yaml', '--cluster-directory', file('cluster'));
    expect(ran.code).toBe(0);
    expect(ran.err).toContain(NOBODY);
  });

  it('looks at the labels of the Namespace in the cluster', async () => {
    const cluster = ['--cluster-directory', file('cluster')];
    expect(await review(configMap('east'), 'zone.yaml', ...cluster)).toMatchObject({ code: 1 });
    const west = await review(configMap('west'), 'zone.yaml', ...cluster);
    expect(west.code).toBe(0);
    expect(west.err).toContain(NOBODY);
  });

  it('could not find out where the labels count and there is no cluster', async () => {
    const ran = await review(configMap('east'), 'zone.yaml');
    expect(ran.code).toBe(3);
    expect(ran.out).toContain('zone.policies.gate.pacto.trianalab.io');
  });

  it('says that a policy has no entry', async () => {
    const ran = await review(configMap('east'), 'long.yaml', '--cluster-directory', file('cluster'));
    expect(ran.code).toBe(0);
    expect(ran.err).toContain('has no entry, so that webhooks enforce nothing of it: the name of its entry');
    expect(ran.err).toContain(NOBODY);
  });
});

it('review could not find out where a match condition of an entry fails, which refuses the request', async () => {
  const request = {
    uid: 'u',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    name: 'x',
    namespace: 'pacto-node-agent',
    operation: 'CREATE',
    userInfo: { username: 'somebody' },
    object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { serviceAccountName: 5 } },
    oldObject: null,
  };
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
  await writeFile(file('review.json'), JSON.stringify(review));
  const ran = await runCommand(['review', file('review.json')]);
  expect(ran.code).toBe(3);
  expect(ran.out).toContain('pods "x" is forbidden: expression ');
});
