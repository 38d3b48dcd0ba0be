/** Entries of policies by `generate webhooks`, and policies for the API server itself by `generate policies`. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { ValidatingEntry, WebhookConfiguration } from '../../src/policies/entry.ts';
import { settings } from '../policies/identity/settings.ts';
import { widths } from '../policies/identity/entry-width.ts';
import { wrongReach } from '../policies/vap/entry-probes.ts';
import { runCommand, type Ran } from './run-command.ts';

const SERVICE = ['--service', 'pacto-system/pacto-gate'];
const NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'pacto-system'];
const NATIVE = 'admissionregistration.k8s.io/v1';

const webhooks = (...argv: string[]): Promise<Ran> =>
  runCommand(['generate', 'webhooks', ...SERVICE, ...argv]);

function policyObject(name: string, apiVersion = NATIVE, resources = ['*/*']): object {
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name, labels: { own: 'label' } },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources }],
      },
      validations: [{ expression: 'false', message: 'no' }],
    },
  };
}

const bindingObject = (policyName: string, apiVersion = NATIVE, name = policyName): object => ({
  apiVersion,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName, validationActions: ['Deny'] },
});

/** As `kubectl get --raw` prints them, one after the other. */
const DISCOVERY = [
  {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      { name: 'pods', kind: 'Pod', namespaced: true, verbs: ['create'] },
      { name: 'pods/log', kind: 'Pod', namespaced: true, verbs: ['get'] },
      { name: 'nodes', kind: 'Node', namespaced: false, verbs: ['create'] },
    ],
  },
  {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'apps/v1',
    resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true, verbs: ['create'] }],
  },
];
const AGGREGATED = {
  kind: 'APIGroupDiscoveryList',
  items: [
    {
      metadata: { name: '' },
      versions: [
        {
          version: 'v1',
          resources: [
            { resource: 'pods', responseKind: { kind: 'Pod' }, scope: 'Namespaced', verbs: ['create'] },
          ],
        },
      ],
    },
  ],
};

let directory: string;
const file = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-entries-'));
  const documents = (objects: readonly object[]): string =>
    objects.map((one) => stringify(one, { compat: 'yaml-1.1' })).join('---\n');
  const write = (name: string, text: string): Promise<void> => writeFile(file(name), text);
  await write(
    'policies.yaml',
    documents([policyObject('wide'), bindingObject('wide'), policyObject('loose', NATIVE, ['pods'])]),
  );
  await write('unbound.yaml', documents([policyObject('loose')]));
  await write('wrong.yaml', documents([{ ...policyObject('wrong'), spec: { validations: 5 } }]));
  await write('discovery.json', DISCOVERY.map((one) => JSON.stringify(one)).join('\n'));
  await write('joined.json', DISCOVERY.map((one) => JSON.stringify(one, null, 2)).join(''));
  await write('aggregated.json', JSON.stringify(AGGREGATED));
  await write('part.json', JSON.stringify(DISCOVERY[1]));
  await write('list.json', '{"kind":"List","items":[]}');
  await write('broken.json', '{"kind":');
  await mkdir(file('cluster'));
  const ours = 'gate.pacto.trianalab.io/v1';
  await write(
    'cluster/objects.yaml',
    documents([
      policyObject('custom', ours, ['pods']),
      bindingObject('custom', ours, 'z'),
      bindingObject('custom', ours, 'a'),
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one', namespace: 'shop' } },
    ]),
  );
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

const configurations = ({ out }: Ran): readonly WebhookConfiguration[] =>
  parseAllDocuments(out).map((document) => document.toJS() as WebhookConfiguration);
const entriesOf = (ran: Ran): readonly ValidatingEntry[] => configurations(ran).at(-1)?.webhooks ?? [];
const rulesOf = (ran: Ran): readonly string[] =>
  entriesOf(ran).flatMap(({ rules }) =>
    rules.map(({ apiGroups, resources }) => `${apiGroups.join()}: ${resources.join()}`),
  );
const fromFiles = (...argv: string[]): Promise<Ran> =>
  webhooks('--policies-files', file('policies.yaml'), ...argv);

describe('generate webhooks with policies', () => {
  it('writes both configurations as one stream, or as a List', async () => {
    const ran = await fromFiles();
    expect(ran.code).toBe(0);
    const [identity, policies, ...more] = configurations(ran);
    expect(more).toEqual([]);
    expect([identity, policies].map((one) => one?.metadata.name)).toEqual([
      'pacto-gate-node-identity',
      'pacto-gate-policies',
    ]);
    expect(policies?.webhooks.map(({ name }) => name)).toEqual(['wide.policies.gate.pacto.trianalab.io']);
    expect(await fromFiles()).toEqual(ran);
    const json = JSON.parse((await fromFiles('-o', 'json')).out) as { kind: string; items: unknown[] };
    expect(json).toEqual({ apiVersion: 'v1', kind: 'List', items: [identity, policies] });
    expect(ran.out).toContain((await fromFiles('-o', 'yaml')).out.trimEnd());
  });

  it('has the same entries of identity as without policies', async () => {
    const [identity] = configurations(await fromFiles());
    expect(identity).toEqual(parse((await webhooks()).out));
  });

  it('reaches nothing that it must not', async () => {
    for (const argv of [[], ['--kube-version', '1.27', '--discovery', file('discovery.json')]]) {
      const conditions = argv.length === 0;
      const [identity, policies] = configurations(await fromFiles(...argv));
      expect(policies?.webhooks).toHaveLength(1);
      expect(policies?.webhooks.flatMap((entry) => wrongReach(entry, NAMESPACES))).toEqual([]);
      expect(widths(identity?.webhooks ?? [], settings(), conditions)).toEqual([]);
    }
  });

  it('says what is not enforced, a line for each sentence', async () => {
    const { err } = await fromFiles();
    expect(err).toContain(
      'policy "wide": requests in the namespaces kube-node-lease, kube-public, kube-system and pacto-system',
    );
    expect(err).toContain('policy "wide": requests about events, nodes');
    expect(err).toContain('ValidatingAdmissionPolicy "loose": has no binding');
  });

  it('writes a configuration without entries where no policy has a binding', async () => {
    const ran = await webhooks('--policies-files', file('unbound.yaml'), '--identity-enabled=false');
    expect(ran.code).toBe(0);
    expect(configurations(ran)).toMatchObject([{ metadata: { name: 'pacto-gate-policies' }, webhooks: [] }]);
    expect(ran.err).toContain('identity.enabled is false');
  });

  it('leaves out before 1.28 what is wide, unless it knows what is served', async () => {
    const unsure = await fromFiles('--kube-version', '1.27');
    expect(unsure.code).toBe(0);
    expect(entriesOf(unsure)).toEqual([]);
    expect(unsure.err).toContain('what it serves is not known: give --discovery');
    for (const name of ['discovery.json', 'joined.json'])
      expect(rulesOf(await fromFiles('--kube-version', '1.27', '--discovery', file(name)))).toEqual([
        ': pods/*',
        'apps: */*',
      ]);
    const argv = ['--kube-version', '1.27', '--discovery', file('aggregated.json')];
    const aggregated = await fromFiles(...argv);
    expect(rulesOf(aggregated)).toEqual([': pods/*']);
    expect(aggregated.err).toContain('write the entries anew when it serves more');
  });

  it('reads policies, version and discovery from the cluster', async () => {
    const argv = [
      '--policies-sources',
      'customResources',
      '--from-cluster',
      '--cluster-directory',
      file('cluster'),
    ];
    const ran = await webhooks(...argv);
    expect(ran.code).toBe(0);
    expect(entriesOf(ran).map(({ name, matchConditions }) => [name, matchConditions?.length])).toEqual([
      ['custom.policies.gate.pacto.trianalab.io', 1],
      ['policy-writers.gate.pacto.trianalab.io', undefined],
    ]);
    const old = await webhooks(...argv, '--cluster-directory-version', '1.27');
    expect(entriesOf(old).map(({ matchConditions }) => matchConditions)).toEqual([undefined, undefined]);
    expect(rulesOf(old)[0]).toBe(': pods');
  });

  it.each<[string, () => string[], string]>([
    [
      'sources that it was not told to read',
      () => ['--policies-sources', 'customResources'],
      'give --from-cluster',
    ],
    ['a cluster that nothing names', () => ['--from-cluster'], 'there is no cluster'],
    [
      'a policy that cannot be read',
      () => ['--policies-files', file('wrong.yaml')],
      'without it less would be enforced',
    ],
    ['a file that is not there', () => ['--policies-files', file('none.yaml')], 'none.yaml'],
    ['two discoveries', () => ['--from-cluster', '--discovery', 'x'], '--discovery and --from-cluster'],
    ['a part of a discovery', () => ['--discovery', file('part.json')], 'it is not all of the discovery'],
    ['another file', () => ['--discovery', file('list.json')], 'need APIResourceLists'],
    ['a broken file', () => ['--discovery', file('broken.json')], 'is no JSON'],
  ])('refuses %s with code 2', async (_name, argv, message) => {
    const ran = await webhooks(...argv());
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
  });

  it('takes its target from the configuration', async () => {
    const config = file('gate.yaml');
    await writeFile(
      config,
      stringify({
        installer: { service: 'ns/gate:8443', namespace: 'own' },
        policies: { files: [file('policies.yaml')] },
      }),
    );
    const ran = await runCommand(['generate', 'webhooks', '--config', config]);
    const [entry] = entriesOf(ran);
    expect(entry?.clientConfig.service).toMatchObject({ namespace: 'ns', name: 'gate', port: 8443 });
    expect(entry?.namespaceSelector.matchExpressions?.[0]?.values).toEqual([
      'kube-node-lease',
      'kube-public',
      'kube-system',
      'ns',
      'own',
    ]);
  });
});

describe('the namespaces of policies that come from ConfigMaps', () => {
  const excluded = async (...sources: string[]): Promise<readonly string[] | undefined> => {
    const cluster = ['--from-cluster', '--cluster-directory', file('cluster')];
    const ran = await fromFiles('--policies-namespaces', 'rules', ...sources, ...cluster);
    return entriesOf(ran)[0]?.namespaceSelector.matchExpressions?.[0]?.values;
  };

  it('are never reached: a policy that denies everything can still be taken away there', async () => {
    expect(await excluded('--policies-sources', 'configMaps')).toContain('rules');
  });

  it('are reached where no policy comes from ConfigMaps', async () => {
    expect(await excluded()).not.toContain('rules');
  });

  it('are that of the gate where none is named, wherever the command runs', async () => {
    await mkdir(file('maps'));
    const map = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        namespace: 'pacto-system',
        name: 'rules',
        labels: { 'gate.pacto.trianalab.io/policies': 'true' },
      },
      data: {
        'all.yaml': [policyObject('mapped'), bindingObject('mapped')]
          .map((one) => stringify(one, { compat: 'yaml-1.1' }))
          .join('---\n'),
      },
    };
    await writeFile(file('maps/map.yaml'), stringify(map));
    const argv = ['--from-cluster', '--cluster-directory', file('maps'), '--policies-sources', 'configMaps'];
    const unknown = await webhooks(...argv);
    expect([unknown.code, unknown.err]).toEqual([
      2,
      expect.stringContaining('nothing says in which namespaces'),
    ]);
    const ran = await runCommand(['generate', 'webhooks', ...argv], {
      env: { PACTO_GATE_INSTALLER_SERVICE: 'pacto-system/pacto-gate' },
    });
    expect(entriesOf(ran).map(({ name }) => name)).toEqual(['mapped.policies.gate.pacto.trianalab.io']);
  });
});

describe('generate policies', () => {
  const policies = (...argv: string[]): Promise<Ran> => runCommand(['generate', 'policies', ...argv]);

  it('writes them for the API server itself, with our label, in one order', async () => {
    const ran = await policies(
      '--policies-files',
      file('policies.yaml'),
      '--policies-sources',
      'customResources',
      '--from-cluster',
      '--cluster-directory',
      file('cluster'),
    );
    expect(ran.code).toBe(0);
    const objects = parseAllDocuments(ran.out).map((one) => one.toJS() as { kind: string; metadata: object });
    const metadata = (name: string): object => ({
      name,
      labels: { 'gate.pacto.trianalab.io/managed-by': 'pacto-gate' },
    });
    const of = (kind: string, name: string): object => ({
      apiVersion: NATIVE,
      kind,
      metadata: metadata(name),
    });
    const spec = expect.anything() as unknown;
    expect(objects).toEqual([
      { ...of('ValidatingAdmissionPolicy', 'custom'), spec },
      { ...of('ValidatingAdmissionPolicyBinding', 'a'), spec },
      { ...of('ValidatingAdmissionPolicyBinding', 'z'), spec },
      { ...of('ValidatingAdmissionPolicy', 'wide'), spec },
      { ...of('ValidatingAdmissionPolicyBinding', 'wide'), spec },
    ]);
    // For the YAML of kubectl a bare no is false.
    expect(ran.out).toContain('message: "no"');
  });

  it.each<[string, () => string[], string]>([
    ['no policies', () => [], 'the configuration names no policies'],
    [
      'policies without a binding',
      () => ['--policies-files', file('unbound.yaml')],
      'no policy has a binding',
    ],
    [
      'sources that it was not told to read',
      () => ['--policies-sources', 'configMaps'],
      'give --from-cluster',
    ],
  ])('refuses %s with code 2', async (_name, argv, message) => {
    const ran = await policies(...argv());
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
  });
});
