import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, type Ran } from './run-command.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-review-policies-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

const review = (stdin: string, ...argv: string[]): Promise<Ran> =>
  runCommand(['review', '-', ...argv], { stdin });

const deployment = (
  change: { team?: string; image?: string; replicas?: string; namespace?: string } = {},
): string => `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: ${change.namespace ?? 'shop'}
  labels: { team: ${change.team ?? 'checkout'} }
spec:
  replicas: ${change.replicas ?? '2'}
  template: { spec: { containers: [{ name: c, image: '${change.image ?? 'registry.example/web:1'}' }] } }
`;

const EXAMPLES = ['--policies', 'examples/policies'];
const CLUSTER = ['--cluster-directory', 'examples/cluster'];
const AS_ADMIN = 'pacto-gate: decided as kubernetes-admin, an administrator. Give --as for somebody else\n';

describe('review with policies of the API server', () => {
  it('allows what they allow', async () => {
    expect(await review(deployment(), ...EXAMPLES, ...CLUSTER)).toEqual({
      code: 0,
      out: 'deployment.apps/web created (review only)\n',
      err: AS_ADMIN,
    });
  });

  it('denies in the words of kubectl for a native policy, with warnings first', async () => {
    const ran = await review(deployment({ team: '""', replicas: '1' }), ...EXAMPLES, ...CLUSTER);
    expect(ran.code).toBe(1);
    expect(ran.out).toBe(
      `Warning: Validation failed for ValidatingAdmissionPolicy 'two-replicas' with binding 'two-replicas': production needs two replicas or more, found 1
Error from server (Forbidden): error when creating "STDIN": deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'owner-label' with binding 'owner-label' denied request: the label team is missing, name the team that is on call for this workload
`,
    );
  });

  it('denies in the words of kubectl for a webhook where the policies are of the configuration', async () => {
    const ran = await review(deployment({ team: '""' }), '--config', 'examples/pacto-gate.yaml');
    expect(ran.code).toBe(1);
    expect(ran.out).toBe(
      `Error from server (Forbidden): error when creating "STDIN": admission webhook "owner-label.policies.gate.pacto.trianalab.io" denied the request: ValidatingAdmissionPolicy 'owner-label' with binding 'owner-label' denied request: the label team is missing, name the team that is on call for this workload
`,
    );
  });

  it('takes parameters and namespaces from files', async () => {
    const argv = [
      ...EXAMPLES,
      '--params',
      'examples/cluster/parameters.yaml',
      '--namespaces',
      'examples/cluster/namespaces.yaml',
    ];
    const ran = await review(deployment({ image: 'evil' }), ...argv);
    expect(ran).toMatchObject({ code: 1, err: AS_ADMIN });
    expect(ran.out).toContain("'approved-registries' denied request: not from an approved registry: evil");
    const gone = await review(deployment({ namespace: 'nowhere' }), ...argv);
    expect(gone.out).toBe(
      'Error from server (NotFound): error when creating "STDIN": namespaces "nowhere" not found\n',
    );
  });

  it('takes parameters by labels from the directory of the configuration', async () => {
    const policies = await file(
      'by-labels.yaml',
      `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: limits }
spec:
  paramKind: { apiVersion: v1, kind: ConfigMap }
  matchConstraints:
    resourceRules:
      - { apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments] }
  validations:
    - expression: object.spec.replicas <= int(params.data.most)
      messageExpression: "'at most ' + params.data.most"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: limits }
spec:
  policyName: limits
  validationActions: [Deny]
  paramRef: { selector: { matchLabels: { limits: replicas } }, parameterNotFoundAction: Deny }
`,
    );
    const cluster = await mkdtemp(join(directory, 'cluster-'));
    const limit = (name: string, most: number, label: string): string =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'shop', labels: { limits: label } },
        data: { most: String(most) },
      });
    const shop = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await writeFile(
      join(cluster, 'all.yaml'),
      [shop, limit('few', 3, 'replicas'), limit('many', 9, 'replicas'), limit('none', 0, 'other')].join(
        '\n---\n',
      ),
    );
    const config = await file(
      'by-labels-config.json',
      JSON.stringify({
        cluster: { source: 'directory', directory: cluster },
        policies: { files: [policies], paramKinds: ['v1/ConfigMap'] },
      }),
    );
    expect(await review(deployment({ replicas: '3' }), '--config', config)).toMatchObject({ code: 0 });
    const denied = await review(deployment({ replicas: '4' }), '--config', config);
    expect(denied.code).toBe(1);
    expect(denied.out).toContain("with binding 'limits' denied request: at most 3");
  });

  it('says so where nothing is known of a namespace', async () => {
    const ran = await review(deployment({ team: '""' }), ...EXAMPLES);
    expect(ran.code).toBe(0);
    expect(ran.err).toContain('namespace "shop": nothing is known of it');
  });

  it('shows what the audit log would hold in JSON', async () => {
    const ran = await review(deployment({ replicas: '1' }), ...EXAMPLES, ...CLUSTER, '-o', 'json');
    const [{ policies }] = JSON.parse(ran.out) as [{ policies: object }];
    expect(policies).toMatchObject({
      allowed: true,
      auditAnnotations: {
        'owner-label/team': 'checkout',
        'validation.policy.admission.k8s.io/validation_failure': expect.stringContaining(
          'two-replicas',
        ) as string,
      },
      decisions: [{ policy: 'two-replicas', evaluation: 'deny', actions: ['Warn', 'Audit'] }],
    });
  });

  it('fails with code 3 where the authorizer would have to be asked', async () => {
    const claim =
      '{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a","namespace":"shop","annotations":{"example.com/keep":"true"}}}';
    const ran = await review(claim, '--operation', 'delete', ...EXAMPLES, ...CLUSTER);
    expect(ran.code).toBe(3);
    expect(ran.err).toContain('nobody can tell');
  });
});

const widgets = (expression: string, more = ''): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: widgets }
spec:
  matchConstraints:
    resourceRules:
      - { apiGroups: [example.com], apiVersions: [v1], operations: ['*'], resources: [gadgetry] }
  validations: [{ expression: ${JSON.stringify(expression)} }]
${more}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: widgets }
spec: { policyName: widgets, validationActions: [Deny] }
`;
const DEFINITION = `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgetry.example.com }
spec:
  group: example.com
  scope: Cluster
  names: { kind: Widget, plural: gadgetry }
  versions: [{ name: v1, served: true, storage: true }]
`;
const WIDGET =
  'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: w }\nspec: { size: 1.0, big: 9007199254740993 }\n';

describe('review of custom resources', () => {
  it('knows their resource and scope by their definition', async () => {
    const policies = await file('crd.yaml', widgets("request.resource.resource == 'other'") + DEFINITION);
    const ran = await review(WIDGET, '--policies', policies);
    expect(ran.out).toBe(
      `The gadgetry "w" is invalid: : ValidatingAdmissionPolicy 'widgets' with binding 'widgets' denied request: failed expression: request.resource.resource == 'other'\n`,
    );
    expect(ran.err).not.toContain('nothing is known');
  });

  it('tells a whole double from an integer, and keeps 64 bits, as the API server does', async () => {
    const expression = 'type(object.spec.size) == double && object.spec.big == 9007199254740993';
    const policies = await file('numbers.yaml', widgets(expression) + DEFINITION);
    expect(await review(WIDGET, '--policies', policies)).toMatchObject({ code: 0 });
  });

  it('says what is wrong with policies and goes on', async () => {
    const policies = await file('wrong.yaml', widgets('1 +') + DEFINITION);
    const ran = await review(WIDGET, '--policies', policies);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('compilation error: compilation failed: ERROR: <input>:1:4: Syntax error');
    expect(ran.err).toContain('ValidatingAdmissionPolicy "widgets": no API server would take it');
  });

  it.each([
    ['a value of a wrong type', widgets('true').replace('[Deny]', '7'), 'ValidatingAdmissionPolicyBinding'],
    ['a file that is not there', undefined, 'there is no such file'],
  ])('refuses %s with code 2', async (_what, text, message) => {
    const policies = text === undefined ? join(directory, 'none.yaml') : await file('type.yaml', text);
    const ran = await review(WIDGET, '--policies', policies);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(message);
  });

  it.each([
    [
      'a policy without binding',
      widgets('false').split('---')[0] ?? '',
      'has no binding, so it is never asked',
    ],
    ['a binding without policy', `---${widgets('false').split('---')[1] ?? ''}`, 'its policy is not given'],
  ])('says that %s does nothing', async (_what, text, message) => {
    const ran = await review(WIDGET, '--policies', await file('loose.yaml', text));
    expect(ran.code).toBe(0);
    expect(ran.err).toContain(message);
  });
});
