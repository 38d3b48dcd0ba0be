import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, type Ran } from './run-command.ts';

const AGENT = 'system:serviceaccount:pacto-node-agent:pacto-node-agent';
const NODE_NAME = 'authentication.kubernetes.io/node-name';
const CLUSTER = ['--cluster-directory', 'examples/cluster'];
const asAgentOn = (node: string): string[] => ['--as', AGENT, '--as-extra', `${NODE_NAME}=${node}`];

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-review-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

const review = (stdin: string, ...argv: string[]): Promise<Ran> =>
  runCommand(['review', '-', ...argv], { stdin });

interface Shown {
  readonly operation: string;
  readonly name: string;
  readonly namespace?: string;
  readonly resource: { readonly resource: string };
  readonly subResource?: string;
  readonly webhooks: readonly {
    readonly webhook: string;
    readonly outcome: string;
    readonly message?: string;
  }[];
}

async function shown(stdin: string, ...argv: string[]): Promise<Shown[]> {
  return JSON.parse((await review(stdin, ...argv, '--output', 'json')).out) as Shown[];
}

const lease = (name: string, more = ''): string => `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata:
  name: ${name}
  namespace: pacto-node-agent
spec:
  holderIdentity: ${name}
${more}`;

describe('the example reviews', () => {
  const expected: Record<string, number> = {
    '01-own-lease-renewed': 0,
    '02-foreign-lease-renewed': 1,
    '03-own-observation-status': 0,
    '04-foreign-observation-status': 1,
    '05-foreign-lease-deleted': 1,
    '06-no-node-claim-own-lease': 0,
    '07-no-node-claim-foreign-lease': 1,
    '08-no-claim-at-all': 1,
    '09-node-bound-token': 1,
    '10-token-asked-for-by-a-person': 1,
    '11-bare-pod-with-the-agent-account': 1,
    '12-pod-made-by-the-daemonset': 0,
    '13-lease-renewed-by-another-user': 0,
    '14-image-from-an-approved-registry': 0,
    '15-image-from-elsewhere': 1,
    '16-policy-written': 0,
    '17-policy-over-secrets': 1,
  };

  it.each(Object.entries(expected))('%s is answered with code %i', async (name, code) => {
    const file = join('examples', 'reviews', `${name}.json`);
    const ran = await runCommand(['review', file, '--config', 'examples/pacto-gate.yaml']);
    // The match conditions of the entry let everybody but the agents pass.
    const passing = name.startsWith('13-') ? /^[^\n]*no webhook is asked about this request\n$/ : /^$/;
    expect(ran.code).toBe(code);
    expect(ran.err).toMatch(passing);
    // The API server's own answer to whoever writes such a policy is of another reason, which kubectl shows by causes.
    const refusal = name.startsWith('17-')
      ? 'The ValidatingAdmissionPolicy "curious.example.com" is invalid: spec.paramKind: Forbidden: Secrets'
      : 'Error from server (Forbidden): admission webhook "';
    expect(ran.out.startsWith(refusal)).toBe(code === 1);
  });

  it('are all there, and their page says what is answered', async () => {
    const names = (await readdir('examples/reviews')).filter((name) => name.endsWith('.json'));
    expect(names.map((name) => name.replace('.json', '')).toSorted()).toEqual(Object.keys(expected));
    const page = await readFile('examples/reviews/README.md', 'utf8');
    for (const [name, code] of Object.entries(expected))
      expect(page).toMatch(new RegExp(`\`${name}\`.*\\| ${code === 0 ? 'allowed' : 'denied'}`));
  });
});

describe('review of manifests', () => {
  it('allows an agent its own Lease, as an update of what is in the cluster', async () => {
    const ran = await review(lease('worker-a'), ...CLUSTER, ...asAgentOn('worker-a'));
    expect(ran).toEqual({
      code: 0,
      out: 'lease.coordination.k8s.io/worker-a configured (review only)\n',
      err: '',
    });
  });

  it('denies a foreign Lease in the words of kubectl', async () => {
    const file = join(directory, 'lease.yaml');
    await writeFile(file, lease('worker-b'));
    const ran = await runCommand(['review', file, ...CLUSTER, ...asAgentOn('worker-a')]);
    expect(ran).toMatchObject({ code: 1, err: '' });
    expect(ran.out).toMatch(
      new RegExp(
        `^Error from server \\(Forbidden\\): error when patching "${file}": admission webhook "node-identity\\.gate\\.pacto\\.trianalab\\.io" denied the request: .*worker-b.*\n$`,
      ),
    );
  });

  it.each([
    ['create', [], 'error when creating "STDIN"'],
    ['delete', ['--operation', 'delete'], 'error when deleting "STDIN"'],
  ])('denies to %s one that is not in a cluster', async (_name, argv, text) => {
    const ran = await review(lease('worker-b'), ...argv, ...asAgentOn('worker-a'));
    expect(ran.code).toBe(1);
    expect(ran.out).toContain(text);
  });

  it('compares with --old as with a whole object', async () => {
    const old = join(directory, 'old.yaml');
    await writeFile(old, lease('worker-a').replace('  name: worker-a', '  name: worker-a\n  labels: {a: b}'));
    const ran = await review(lease('worker-a'), '--old', old, ...asAgentOn('worker-a'));
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('error when replacing "STDIN"');
    expect(ran.out).toContain('metadata.labels');
  });

  it('reads every document and every item of a List, and takes the worst answer', async () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [JSON.parse(JSON.stringify(configMap('a'))), configMap('b')],
    };
    const text = `${lease('worker-a')}\n---\n---\n# nothing\n---\n${JSON.stringify(list)}\n---\n${lease('worker-b')}`;
    const ran = await review(text, ...CLUSTER, ...asAgentOn('worker-a'));
    expect(ran.code).toBe(1);
    expect(ran.out.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'lease.coordination.k8s.io/worker-a',
      'configmap/a',
      'configmap/b',
      'Error',
      '',
    ]);
    expect(ran.err).toContain('standard input: document 2: no webhook is asked about this request');
  });

  it('addresses requests as an API server does', async () => {
    const [generated] = await shown(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"x-"}}',
      '-n',
      'shop',
    );
    expect(generated).toMatchObject({
      operation: 'CREATE',
      name: 'x-xxxxx',
      namespace: 'shop',
      webhooks: [],
    });
    const [policy] = await shown(
      '{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"x"}}',
    );
    expect(policy).toMatchObject({ resource: { resource: 'networkpolicies' }, namespace: 'default' });
    const [node] = await shown('{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}', '-n', 'shop');
    expect(node?.namespace).toBeUndefined();
    const token =
      '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","metadata":{"name":"pacto-node-agent","namespace":"pacto-node-agent"},"spec":{}}';
    const [asked] = await shown(token, '--as', 'someone');
    expect(asked).toMatchObject({
      resource: { resource: 'serviceaccounts' },
      subResource: 'token',
      webhooks: [{ webhook: 'node-identity-tokens.gate.pacto.trianalab.io', outcome: 'denied' }],
    });
  });

  it('writes to status alone with --subresource status', async () => {
    const observation = `
apiVersion: pacto.trianalab.io/v1alpha1
kind: NodeRuntimeObservation
metadata: {name: worker-a, namespace: pacto-node-agent, finalizers: [x.example.com/y]}
status: {state: Ready}`;
    const status = await review(observation, ...CLUSTER, ...asAgentOn('worker-a'), '--subresource', 'status');
    expect(status.code).toBe(0);
    const main = await review(observation, ...CLUSTER, ...asAgentOn('worker-a'));
    expect(main.code).toBe(1);
    expect(main.out).toContain('finalizers');
  });

  it('gives the same answer for a dry-run', async () => {
    const argv = [...CLUSTER, ...asAgentOn('worker-a')];
    expect(await review(lease('worker-b'), ...argv, '--dry-run')).toEqual(
      await review(lease('worker-b'), ...argv),
    );
  });

  it('looks a Pod up as on the release that the directory stands for', async () => {
    const argv = [...CLUSTER, '--cluster-directory-version', '1.29', '--config', 'examples/pacto-gate.yaml'];
    const file = 'examples/reviews/06-no-node-claim-own-lease.json';
    const auto = ['--identity-pod-lookup', 'auto'];
    expect((await runCommand(['review', file, ...argv, ...auto])).code).toBe(0);
    const newer = argv.with(3, '1.30');
    expect((await runCommand(['review', file, ...newer, ...auto])).code).toBe(1);
  });

  it('says as whom manifests are decided where nobody is named', async () => {
    const ran = await review(lease('worker-a'), ...CLUSTER);
    expect(ran.code).toBe(0);
    expect(ran.err).toContain(
      'pacto-gate: decided as kubernetes-admin, an administrator. Give --as for somebody else\n',
    );
    expect((await runCommand(['review', '--help'])).out).toMatch(/default:\s+kubernetes-admin/);
  });

  it.each([
    [['--operation', 'delete', '--old', 'examples/cluster/leases.yaml'], '--operation, --old'],
    [
      ['--as', 'x', '--as-group', 'g', '--as-uid', 'u', '--as-extra', 'k=v'],
      '--as, --as-group, --as-uid, --as-extra',
    ],
    [
      ['--name', 'x', '-n', 'y', '--subresource', 'status', '--dry-run'],
      '--name, --namespace, --subresource, --dry-run',
    ],
  ])('refuses %j beside an AdmissionReview, which is whole', async (argv, named) => {
    const file = 'examples/reviews/02-foreign-lease-renewed.json';
    const ran = await runCommand(['review', file, ...argv]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(`document 1 is an AdmissionReview, which is whole: leave out ${named}, or`);
  });

  it('could not find out where a look-up counts and there is no cluster', async () => {
    for (const name of ['06-no-node-claim-own-lease', '12-pod-made-by-the-daemonset']) {
      const ran = await runCommand(['review', `examples/reviews/${name}.json`]);
      expect(ran.code).toBe(3);
      expect(ran.out).toContain('[GATE_UNSYNCED]');
      expect(ran.err).toContain('Give --cluster-directory or --cluster-kubeconfig');
    }
    // Nothing could prove the node of this one, and no look-up is needed to say so.
    expect((await runCommand(['review', 'examples/reviews/08-no-claim-at-all.json'])).code).toBe(1);
  });

  it('could not find out where a file that may hold the object cannot be read', async () => {
    await writeFile(join(directory, 'bad.yaml'), 'a: [');
    const ran = await runCommand([
      'review',
      'examples/reviews/12-pod-made-by-the-daemonset.json',
      '--cluster-directory',
      directory,
    ]);
    expect(ran.code).toBe(3);
    expect(ran.err).toMatch(/bad\.yaml:1:\d+: is not YAML: .*\[GATE_DIRECTORY\]\n/);
    expect(ran.out).toContain('may hold it and cannot be read');
    await rm(join(directory, 'bad.yaml'));
  });

  it('could not find out where a decision fails, by either failure policy', async () => {
    const claims = [
      '--as-extra',
      'authentication.kubernetes.io/pod-name=p',
      '--as-extra',
      'authentication.kubernetes.io/pod-uid=u',
    ];
    const argv = ['--as', AGENT, ...claims, '--identity-pod-lookup', 'always'];
    const closed = await review(lease('worker-a'), ...argv);
    expect(closed.code).toBe(3);
    expect(closed.out).toContain('Error from server (InternalError)');
    const open = await review(lease('worker-a'), ...argv, '--identity-failure-policy', 'Ignore');
    expect(open.code).toBe(3);
    expect(open.out).toMatch(
      /^Warning: .*not enforced on this request.*\nlease.* created \(review only\)\n$/,
    );
  });

  it('keeps extra keys as impersonation makes them: lower-cased, values collected', async () => {
    const twice = [
      '--as',
      AGENT,
      '--as-extra',
      `${NODE_NAME.toUpperCase()}=worker-a`,
      '--as-extra',
      `${NODE_NAME}=worker-a`,
    ];
    const ran = await review(lease('worker-a'), ...CLUSTER, ...twice);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('node-name');
  });
});

function configMap(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
}

describe('review refuses with code 2', () => {
  it.each([
    ['nothing', '', 'holds no object'],
    ['broken JSON', '{"a": ', 'is no JSON'],
    ['broken YAML', 'a: [', 'is no YAML: line 1, column 5: '],
    ['two keys on one line', 'a: b: c', 'is no YAML: line 1, column 4: a second key stands on one line'],
    ['a scalar', 'hello', 'document 1 is no object'],
    ['a number that is none', 'a: .nan', 'holds a number that JSON cannot carry (.inf or .nan)'],
    ['a number without end', 'a: [-.inf]', 'holds a number that JSON cannot carry (.inf or .nan)'],
    [
      'a deep block',
      Array.from({ length: 2_800 }, (_, index) => `${' '.repeat(index)}a:`).join('\n'),
      'is nested more than 512 levels deep',
    ],
    ['very many anchors', '&a '.repeat(700_000), 'has more than 600000 parts'],
    ['an object without kind', 'apiVersion: v1', 'has no apiVersion and kind'],
    ['metadata that is no object', '{"apiVersion":"v1","kind":"X","metadata":[]}', 'metadata is no object'],
    [
      'a review without request',
      '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
      'document 1',
    ],
    [
      'an unknown review version',
      '{"apiVersion":"admission.k8s.io/v9","kind":"AdmissionReview","request":{"uid":"u"}}',
      'document 1',
    ],
    [
      'aliases without end',
      `a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [${'*a,'.repeat(40)}]\nc: &c [${'*b,'.repeat(40)}]\nd: [${'*c,'.repeat(40)}]`,
      'is no YAML',
    ],
  ])('%s', async (_name, text, message) => {
    const ran = await review(text);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
    expect(ran.err).toMatch(/\[GATE_[A-Z_]+\]\n$/);
  });

  it.each([
    ['a file that is not there', ['/nowhere/x.yaml'], '[GATE_INPUT_FILE]'],
    ['a directory', ['examples'], 'it is a directory, need a file [GATE_INPUT_FILE]'],
    ['a group without a user', ['-', '--as-group', 'g'], 'need --as'],
    ['an extra without value', ['-', '--as', 'x', '--as-extra', 'k'], 'need key=value'],
    ['an unknown operation', ['-', '--operation', 'patch'], 'need CREATE, UPDATE, DELETE or CONNECT'],
    ['a cluster that is not there', ['-', '--cluster-directory', '/nowhere'], '[GATE_DIRECTORY]'],
  ])('%s', async (_name, argv, message) => {
    const ran = await runCommand(['review', ...argv], { stdin: lease('worker-a') });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
  });
});
