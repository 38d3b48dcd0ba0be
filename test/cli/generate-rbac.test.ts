import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runCommand } from './run-command.ts';

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

/** `namespace group/resource verbs` of each rule; `*` for all namespaces. */
async function rightsOf(...flags: string[]): Promise<readonly string[]> {
  const ran = await runCommand([
    'generate',
    'rbac',
    '--service-account',
    'pacto-system/pacto-gate',
    ...flags,
  ]);
  expect(ran.code).toBe(0);
  return parseAllDocuments(ran.out)
    .map((document) => document.toJS() as Role)
    .flatMap(({ metadata, rules = [] }) =>
      rules.map(
        ({ apiGroups, resources, verbs }) =>
          `${metadata.namespace ?? '*'} ${apiGroups.join()}/${resources.join()} ${verbs.join()}`,
      ),
    );
}

describe('generate rbac of the installer', () => {
  const INSTALLER = ['--roles', 'installer', '--installer-service', 'pacto-system/pacto-gate'];
  const GROUP = 'admissionregistration.k8s.io';
  const rights = rightsOf;

  it('writes entries, native policies and one Lease, and nothing of what decisions read', async () => {
    expect(await rights(...INSTALLER, '--metrics-plain', 'true', '--metrics-host', '127.0.0.1')).toEqual([
      `* ${GROUP}/validatingwebhookconfigurations get,list,watch,patch`,
      `* ${GROUP}/validatingadmissionpolicies create,get,update,list,watch,delete`,
      `* ${GROUP}/validatingadmissionpolicybindings create,get,update,list,watch,delete`,
      'default discovery.k8s.io/endpointslices list',
      'pacto-system coordination.k8s.io/leases create',
      'pacto-system coordination.k8s.io/leases get,update',
      'pacto-system /configmaps create',
    ]);
  });

  it('writes no native policy where webhooks are to enforce, and removes those of before', async () => {
    const given = await rights(...INSTALLER, '--policies-enforcement', 'webhooks');
    expect(given).toContain(`* ${GROUP}/validatingadmissionpolicies list,watch,delete`);
    expect(given.join()).not.toContain('policies create');
  });

  it('reads the sources, may read params as a writer of native policies must, and writes the status', async () => {
    const sources = [
      '--policies-sources',
      'customResources,configMaps',
      '--policies-param-kinds',
      'v1/ConfigMap',
    ];
    const given = await rights(...INSTALLER, ...sources);
    expect(given).toEqual(
      expect.arrayContaining([
        '* /configmaps get',
        '* gate.pacto.trianalab.io/validatingadmissionpolicies get,list,watch',
        '* gate.pacto.trianalab.io/validatingadmissionpolicybindings list,watch',
        '* gate.pacto.trianalab.io/validatingadmissionpolicies/status update',
        'pacto-system /configmaps list,watch',
      ]),
    );
  });

  it('names the two configurations and the Lease', async () => {
    const { out } = await runCommand([
      'generate',
      'rbac',
      '--service-account',
      'pacto-system/pacto-gate-installer',
      ...INSTALLER,
    ]);
    const named = parseAllDocuments(out)
      .flatMap((document) => (document.toJS() as { rules?: { resourceNames?: string[] }[] }).rules ?? [])
      .flatMap(({ resourceNames = [] }) => resourceNames);
    expect(named).toEqual(['pacto-gate-policies', 'pacto-gate-node-identity', 'pacto-gate-installer']);
  });
});

describe('generate rbac of the reconciler', () => {
  const rights = (...flags: string[]): Promise<readonly string[]> =>
    rightsOf('--roles', 'reconciler', ...flags);
  const OWN = [
    'pacto-system coordination.k8s.io/leases create',
    'pacto-system coordination.k8s.io/leases get,update',
  ];
  const REVIEWS = [
    '* authentication.k8s.io/tokenreviews create',
    '* authorization.k8s.io/subjectaccessreviews create',
  ];
  /** In every namespace whose Pactos count. */
  const watched = (where: string): readonly string[] =>
    [
      'pacto.trianalab.io/pactos get,list,watch,patch',
      'pacto.trianalab.io/pactos/status update',
      'pacto.trianalab.io/pactos/finalizers update',
      'pacto.trianalab.io/pactorevisions list,watch,create',
      'pacto.trianalab.io/pactorevisions/status update',
      '/events create,patch',
      '/services list,watch',
      'discovery.k8s.io/endpointslices list,watch',
      'apps/deployments list,watch',
      'apps/statefulsets list,watch',
      'apps/replicasets list,watch',
      'batch/jobs list,watch',
      'batch/cronjobs list,watch',
      'networking.k8s.io/ingresses list,watch',
      'gateway.networking.k8s.io/httproutes list,watch',
      '/configmaps get,list,watch',
      '/secrets get,list,watch',
    ].map((rule) => `${where} ${rule}`);

  it('reads what verdicts depend on, and writes status, revisions, events and one Lease', async () => {
    const given = await rights();
    expect(given.toSorted()).toEqual([...watched('*'), ...REVIEWS, ...OWN].toSorted());
  });

  it('stays in the namespaces that are named', async () => {
    const given = await rights('--reconciler-namespaces', 'shop,bank');
    expect(given.toSorted()).toEqual([...REVIEWS, ...OWN, ...watched('bank'), ...watched('shop')].toSorted());
  });

  it.each([
    [
      'monitors where metrics are observed',
      ['--reconciler-metrics-observation', 'true'],
      [
        '* monitoring.coreos.com/servicemonitors list,watch',
        '* monitoring.coreos.com/podmonitors list,watch',
      ],
    ],
    [
      'observations and heartbeats where there are node agents',
      ['--reconciler-node-agent-namespace', 'agents'],
      [
        'agents pacto.trianalab.io/noderuntimeobservations list,watch',
        'agents coordination.k8s.io/leases list,watch',
      ],
    ],
    [
      'the Lease where it is said to be',
      ['--reconciler-namespace', 'pacto-operator-system'],
      ['pacto-operator-system coordination.k8s.io/leases get,update'],
    ],
    ['no watch in live mode', ['--state', 'live'], ['* /services get,list']],
  ])('asks for %s', async (_what, flags, wanted) => {
    expect(await rights(...flags)).toEqual(expect.arrayContaining(wanted));
  });

  it.each([
    ['monitors where metrics are not observed', 'monitoring.coreos.com'],
    ['observations where there are no node agents', 'noderuntimeobservations'],
    ['Pods, which are never looked at', '/pods'],
    ['any write of what it watches', '/deployments create'],
  ])('does not ask for %s', async (_what, unwanted) => {
    expect((await rights()).join('\n')).not.toContain(unwanted);
  });

  it('names the Lease', async () => {
    const argv = ['generate', 'rbac', '--service-account', 'pacto-system/gate', '--roles', 'reconciler'];
    const { out } = await runCommand(argv);
    expect(out).toMatch(/resourceNames:\s+- a4917283\.pacto\.io/);
    expect(out).toContain('app.kubernetes.io/component: reconciler');
  });
});

describe('generate rbac of several roles', () => {
  it('asks by default for what webhooks and reconciler ask, each rule once', async () => {
    const both = await rightsOf();
    const each = await Promise.all(['webhooks', 'reconciler'].map((role) => rightsOf('--roles', role)));
    expect(both.toSorted()).toEqual([...new Set(each.flat())].toSorted());
    expect(new Set(both).size).toBe(both.length);
  });

  it('labels them as those of the whole server', async () => {
    const { out } = await runCommand(['generate', 'rbac', '--service-account', 'pacto-system/pacto-gate']);
    expect(out).toContain('app.kubernetes.io/component: server');
  });
});

describe('generate rbac of the webhooks', () => {
  const rights = (...flags: string[]): Promise<readonly string[]> =>
    rightsOf('--roles', 'webhooks', ...flags);

  it('asks for what the default configuration reads, and for no write', async () => {
    expect(await rights()).toEqual([
      '* /nodes get',
      '* authentication.k8s.io/tokenreviews create',
      '* authorization.k8s.io/subjectaccessreviews create',
      'pacto-node-agent /pods get,list,watch',
      'pacto-node-agent apps/daemonsets get',
    ]);
  });

  it.each([
    ['no watch in live mode', ['--state', 'live'], 'pacto-node-agent /pods get'],
    [
      'Nodes to be watched where their uid counts',
      ['--identity-require-node-uid', 'true'],
      '* /nodes get,list,watch',
    ],
    ['the namespace of another agent', ['--identity-agents', 'edge/agent'], 'edge /pods get,list,watch'],
    [
      'the namespace of another DaemonSet',
      ['--identity-pods-daemon-sets', 'other/agent'],
      'other apps/daemonsets get',
    ],
    [
      'token reviews for bearer callers',
      ['--metrics-enabled', 'false', '--webhooks-auth', 'bearer', '--webhooks-bearer-usernames', 'api'],
      '* authentication.k8s.io/tokenreviews create',
    ],
  ])('asks for %s', async (_what, flags, want) => {
    expect(await rights(...flags)).toContain(want);
  });

  it.each([
    ['Pods where none is looked up', ['--identity-pod-lookup', 'never'], '/pods'],
    ['Nodes where none is looked up', ['--identity-pod-lookup', 'never'], '/nodes'],
    ['DaemonSets where Pods are not judged', ['--identity-pods-enabled', 'false'], 'daemonsets'],
    ['reviews where nobody has to prove anything', ['--metrics-enabled', 'false'], 'reviews'],
    ['anything about agents without the rule', ['--identity-enabled', 'false'], 'pacto-node-agent'],
  ])('does not ask for %s', async (_what, flags, unwanted) => {
    expect((await rights(...flags)).filter((right) => right.includes(unwanted))).toEqual([]);
  });

  describe('of policies', () => {
    const nothingElse = ['--identity-enabled', 'false', '--metrics-enabled', 'false'];
    const everything = [
      ...nothingElse,
      '--policies-sources',
      'customResources,configMaps',
      '--policies-param-kinds',
      'v1/ConfigMap,rules.example.com/v1/Gadgetry:gadgetry:Cluster,v1/Namespace:Cluster',
    ];

    it('asks for what they look up, and who may do what', async () => {
      const flags = [...nothingElse, '--policies-directory', 'examples/policies'];
      expect(await rights(...flags)).toEqual([
        '* /namespaces get,list,watch',
        '* authorization.k8s.io/subjectaccessreviews create',
      ]);
    });

    it('asks for every source and parameter', async () => {
      expect(await rights(...everything)).toEqual([
        '* /namespaces get,list,watch',
        '* /configmaps get,list,watch',
        '* rules.example.com/gadgetry get,list,watch',
        '* gate.pacto.trianalab.io/validatingadmissionpolicies get,list,watch',
        '* gate.pacto.trianalab.io/validatingadmissionpolicybindings list,watch',
        '* authorization.k8s.io/subjectaccessreviews create',
        'pacto-system /configmaps list,watch',
      ]);
    });

    it('asks for no watch in live mode', async () => {
      expect(await rights(...everything, '--state', 'live')).toEqual([
        '* /namespaces get,list',
        '* /configmaps get,list',
        '* rules.example.com/gadgetry get,list',
        '* gate.pacto.trianalab.io/validatingadmissionpolicies get,list',
        '* gate.pacto.trianalab.io/validatingadmissionpolicybindings list',
        '* authorization.k8s.io/subjectaccessreviews create',
        'pacto-system /configmaps list',
      ]);
    });

    it('asks for ConfigMaps in the namespaces that may hold policies, and in no other', async () => {
      const flags = ['--policies-sources', 'configMaps', '--policies-namespaces', 'b,a'];
      expect(await rights(...nothingElse, ...flags)).toEqual([
        '* /namespaces get,list,watch',
        '* authorization.k8s.io/subjectaccessreviews create',
        'a /configmaps list,watch',
        'b /configmaps list,watch',
      ]);
    });
  });

  it.each([
    'v1/Secret',
    'v1/Secret:secrets',
    'v1/SECRET',
    'v1/ConfigMap:secrets',
    'v1/X:secrets:Cluster',
    'ConfigMap',
    'v1/configmap',
    'a/b/v1/X',
    '',
  ])('refuses the paramKind %j', async (kind) => {
    const flags = ['--policies-param-kinds', `v1/ConfigMap,${kind}`];
    const argv = ['generate', 'rbac', '--service-account', 'a/b', ...flags];
    expect(await runCommand(argv)).toMatchObject({ code: 2, out: '' });
  });

  it('says that nothing is asked where nothing is', async () => {
    const ran = await runCommand([
      'generate',
      'rbac',
      '--service-account',
      'pacto-system/pacto-gate',
      '--roles',
      'webhooks',
      '--identity-enabled',
      'false',
      '--metrics-enabled',
      'false',
    ]);
    expect([ran.code, ran.err]).toEqual([
      0,
      'pacto-gate: this configuration asks nothing of the API server: no role is needed\n',
    ]);
  });

  it('refuses what is no ServiceAccount', async () => {
    const ran = await runCommand(['generate', 'rbac', '--service-account', 'pacto-gate']);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('need namespace/name');
  });
});
