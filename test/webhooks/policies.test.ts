import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPolicies } from '../../src/app/webhooks.ts';
import type { AccessQuestion } from '../../src/cluster/cluster.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import type { Config } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { ReviewAccess } from '../../src/cluster/access-reviews.ts';
import type { Webhook } from '../../src/webhooks/webhook.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { readerOver } from './decide-by.ts';
import { edgeOf, rawRequest } from './edge-parts.ts';
import { aBinding as binding, aPolicy as policy, aReview as review, shop } from './policy-webhook.ts';

const IN_NO_CLUSTER = { sources: [], namespaces: [], excludedNamespaces: [], enforcement: 'auto' } as const;

const OUTSIDE = { apiServer: undefined, podNamespace: undefined, home: undefined, unusedUpstream: [] };

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-policies-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

const denies = (expression: string, more: object = {}): object => ({
  validations: [{ expression, ...more }],
});

interface Given {
  readonly objects: readonly object[];
  readonly paramKinds?: readonly string[];
  readonly reviewAccess?: ReviewAccess;
}

let files = 0;

async function load({
  objects,
  paramKinds = [],
  reviewAccess,
}: Given): Promise<{ webhook: Webhook; lines: string[] }> {
  const file = join(directory, `${String(files++)}.json`);
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  const lines: string[] = [];
  const config: Pick<Config, 'policies' | 'state' | 'environment'> = {
    state: 'cached',
    environment: OUTSIDE,
    policies: {
      files: [file],
      directory: undefined,
      compatibilityVersion: '1.36',
      paramKinds,
      ...IN_NO_CLUSTER,
    },
  };
  const log = createLog({
    level: 'info',
    format: 'json',
    destination: { write: (line) => void lines.push(line) },
  });
  const opened = await openPolicies(config, {
    clock: new FakeClock(),
    log,
    reviewAccess,
    cluster: undefined,
  });
  if (opened === undefined) throw new Error('no policies');
  return { webhook: opened.webhook, lines };
}

interface Response {
  readonly allowed: boolean;
  readonly status?: {
    readonly message: string;
    readonly reason: string;
    readonly code: number;
    readonly details?: unknown;
  };
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

async function answer(
  given: Given,
  name: string,
  objects: readonly KubeObject[] = [shop],
): Promise<Response> {
  const { webhook } = await load(given);
  const { edge } = edgeOf([webhook], readerOver(objects));
  const { status, body } = await edge.answer(rawRequest(`/validate/policies/${name}`, review()));
  expect(status).toBe(200);
  return (JSON.parse(body) as { readonly response: Response }).response;
}

describe('the policies webhook', () => {
  it('denies with the sentence, reason, code and cause of the API server', async () => {
    const given = {
      objects: [
        policy('small', denies('int(object.data.size) < 5', { message: 'too big', reason: 'Forbidden' })),
        binding('small'),
      ],
    };
    const message = "ValidatingAdmissionPolicy 'small' with binding 'small-binding' denied request: too big";
    expect(await answer(given, 'small')).toEqual({
      uid: 'u-1',
      allowed: false,
      status: {
        metadata: {},
        status: 'Failure',
        message,
        reason: 'Forbidden',
        code: 403,
        // By name and kind, so that kubectl prints what it prints of the API server.
        details: { name: 'a', kind: 'configmaps', causes: [{ message }] },
      },
    });
  });

  it('allows what the policy allows, with its warnings and audit values', async () => {
    const spec = {
      ...denies('false', { message: 'look' }),
      auditAnnotations: [{ key: 'env', valueExpression: 'namespaceObject.metadata.labels.env' }],
    };
    // The namespace is whole in audit annotations.
    const given = {
      objects: [policy('soft', spec), binding('soft', { validationActions: ['Warn', 'Audit'] })],
    };
    const { allowed, warnings, auditAnnotations } = await answer(given, 'soft');
    expect(allowed).toBe(true);
    expect(warnings).toEqual([
      "Validation failed for ValidatingAdmissionPolicy 'soft' with binding 'soft-binding': look",
    ]);
    expect(Object.keys(auditAnnotations ?? {})).toEqual(['env', 'validation_failure']);
  });

  it('asks no policy but that of the path', async () => {
    const given = {
      objects: [policy('no', denies('false')), binding('no'), policy('yes', denies('true')), binding('yes')],
    };
    expect(await answer(given, 'yes')).toMatchObject({ allowed: true });
    expect(await answer(given, 'no')).toMatchObject({ allowed: false });
  });

  it('allows everything that a policy without a binding is about', async () => {
    expect(await answer({ objects: [policy('loose', denies('false'))] }, 'loose')).toMatchObject({
      allowed: true,
    });
  });

  it('denies in the words of the API server where the namespace does not exist', async () => {
    const given = { objects: [policy('p', denies('true')), binding('p')] };
    expect(await answer(given, 'p', [])).toMatchObject({
      allowed: false,
      status: { message: 'namespaces "shop" not found', reason: 'NotFound', code: 404 },
    });
  });

  it('leaves it to the API server about a policy that it does not know', async () => {
    const { webhook } = await load({ objects: [policy('p', denies('true'))] });
    const { edge } = edgeOf([webhook]);
    expect(await edge.answer(rawRequest('/validate/policies/other', review()))).toMatchObject({
      status: 503,
    });
  });

  it.each([
    ['with three labels by the policy alone', 'a.b.c', 'a.b.c'],
    ['with fewer by the policy and our own domain', 'small', 'small.policies.gate.pacto.trianalab.io'],
  ])('names an entry %s', async (_how, name, entry) => {
    const { webhook } = await load({ objects: [policy(name, denies('true'))] });
    expect(webhook.entry({ policy: name })?.name).toBe(entry);
  });

  it.each(['__proto__', 'constructor', 'toString', ''])('has no entry %j', async (name) => {
    const { webhook } = await load({ objects: [policy('p', denies('true'))] });
    expect(webhook.entry({ policy: name })).toBeUndefined();
  });

  it('answers with whole texts, which the API server cuts itself', async () => {
    const long = 'x'.repeat(20_000);
    const given = { objects: [policy('p', denies(`'${long}' == ''`)), binding('p')] };
    const { status } = await answer(given, 'p');
    expect(status?.message).toContain(`failed expression: '${long}' == ''`);
  });
});

describe('parameters', () => {
  const limit: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'limit', namespace: 'rules' },
    data: { most: '5' },
  };
  const limited = policy('p', {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    ...denies('int(object.data.size) <= int(params.data.most)'),
  });
  const named = binding('p', {
    paramRef: { name: 'limit', namespace: 'rules', parameterNotFoundAction: 'Deny' },
  });

  it.each([
    ['denies by', '5', false],
    ['allows by', '9', true],
  ])('%s the parameter of the name', async (_verdict, most, allowed) => {
    const given = { objects: [limited, named], paramKinds: ['v1/ConfigMap'] };
    expect(await answer(given, 'p', [shop, { ...limit, data: { most } }])).toMatchObject({ allowed });
  });

  it('denies in the words of the API server where there is none', async () => {
    const given = { objects: [limited, named], paramKinds: ['v1/ConfigMap'] };
    const { status } = await answer(given, 'p');
    expect(status?.message).toContain(
      'no params found for policy binding with `Deny` parameterNotFoundAction',
    );
  });

  it.each<[string, readonly string[], object, string]>([
    ['a kind that is not allowed', [], named, 'is not in policies.paramKinds'],
    [
      'a selector of what can be no label',
      ['v1/ConfigMap'],
      binding('p', {
        paramRef: {
          selector: { matchLabels: { 'a b': 'c' } },
          namespace: 'rules',
          parameterNotFoundAction: 'Deny',
        },
      }),
      'by what can be no label',
    ],
  ])('fails closed for %s, and says why', async (_what, paramKinds, bound, text) => {
    const { status } = await answer({ objects: [limited, bound], paramKinds }, 'p');
    expect(status).toMatchObject({ reason: 'InternalError', code: 500 });
    expect(status?.message).toContain(text);
  });

  it('fails open, aloud, where the policy says so', async () => {
    const objects = [
      { ...limited, spec: { ...(limited['spec'] as object), failurePolicy: 'Ignore' } },
      named,
    ];
    const { allowed, warnings, auditAnnotations } = await answer({ objects }, 'p');
    expect(allowed).toBe(true);
    expect(warnings?.join()).toContain('not enforced on this request');
    expect(auditAnnotations).toHaveProperty('failed-open');
  });
});

describe('the authorizer', () => {
  const asks = policy(
    'p',
    denies(
      "authorizer.group('apps').resource('deployments').subresource('scale').namespace('shop').name('web').labelSelector('a=b').check('update').allowed()",
    ),
  );

  it.each([true, false])('is the cluster: allowed %s', async (allowed) => {
    const questions: AccessQuestion[] = [];
    const reviewAccess: ReviewAccess = (question) => {
      questions.push(question);
      return Promise.resolve({ allowed, denied: false, reason: '' });
    };
    expect(await answer({ objects: [asks, binding('p')], reviewAccess }, 'p')).toMatchObject({ allowed });
    expect(questions).toEqual([
      {
        user: { username: 'alice', groups: ['dev'], extra: {} },
        resource: {
          verb: 'update',
          group: 'apps',
          version: '*',
          resource: 'deployments',
          subresource: 'scale',
          namespace: 'shop',
          name: 'web',
          labelSelector: { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
        },
      },
    ]);
  });

  it('is missed aloud without a cluster', async () => {
    const { status } = await answer({ objects: [asks, binding('p')] }, 'p');
    expect(status).toMatchObject({ reason: 'InternalError', code: 500 });
    expect(status?.message).toContain('asks the authorizer, and there is no cluster');
  });
});

const matching = (resource: string): object => ({
  matchConstraints: {
    resourceRules: [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        apiVersions: ['*'],
        operations: ['*'],
        resources: [resource],
      },
    ],
  },
});

describe('files of policies', () => {
  it('stay enforced beside a policy that does not compile, which follows its failurePolicy and is reported', async () => {
    const objects = [
      policy('good', denies('false')),
      binding('good'),
      policy('bad', denies('object.(')),
      binding('bad'),
      policy('lax', { ...denies('object.('), failurePolicy: 'Ignore' }),
      binding('lax'),
    ];
    expect(await answer({ objects }, 'good')).toMatchObject({ allowed: false });
    const { status } = await answer({ objects }, 'bad');
    expect(status?.message).toContain('compilation error: compilation failed');
    expect(await answer({ objects }, 'lax')).toMatchObject({ allowed: true });
    const { lines } = await load({ objects });
    expect(
      lines
        .filter((line) => line.includes('GATE_POLICY_INVALID'))
        .map((line) => (JSON.parse(line) as { name: string }).name),
    ).toEqual(['bad', 'lax']);
  });

  it.each<[string, readonly object[], string]>([
    ['a binding without its policy', [binding('gone')], 'there is no policy'],
    ['a policy without a binding', [policy('p', denies('true'))], 'has no binding'],
    ['a value of a wrong type', [policy('p', { validations: 7 })], 'left out'],
    [
      'what no webhook is asked about',
      [policy('p', { ...denies('true'), ...matching('validatingwebhookconfigurations') }), binding('p')],
      'requests about validatingwebhookconfigurations.admissionregistration.k8s.io can be refused by a policy of the API server alone',
    ],
    [
      'a name that is there twice',
      [policy('p', denies('true')), policy('p', denies('true')), binding('p')],
      'another of this name',
    ],
  ])('report %s', async (_what, objects, text) => {
    const { lines } = await load({ objects });
    expect(lines.filter((line) => line.includes('GATE_POLICY_INVALID')).join()).toContain(text);
  });

  it('keep the server from starting if one cannot be read', async () => {
    const file = join(directory, 'broken.yaml');
    await writeFile(file, 'a: [');
    const policies = {
      files: [file],
      directory: undefined,
      compatibilityVersion: '1.36',
      paramKinds: [],
      ...IN_NO_CLUSTER,
    };
    const parts = {
      clock: new FakeClock(),
      log: createLog({ level: 'silent', format: 'json' }),
      reviewAccess: undefined,
      cluster: undefined,
    };
    const config = { state: 'cached', environment: OUTSIDE } as const;
    await expect(openPolicies({ ...config, policies }, parts)).rejects.toThrow(`${file}:1:`);
    await expect(
      openPolicies({ ...config, policies: { ...policies, files: [] } }, parts),
    ).resolves.toBeUndefined();
    await expect(
      openPolicies({ ...config, policies: { ...policies, files: [], directory: '/nowhere' } }, parts),
    ).rejects.toThrow('cannot be read');
  });
});
