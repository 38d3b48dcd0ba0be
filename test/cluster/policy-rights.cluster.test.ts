/** Nobody gains rights by policies: who writes them, where they come from, and what our account does for them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { policyEntries } from '../../src/policies/vap/entries.ts';
import { collectPolicies } from '../../src/policies/vap/sources.ts';
import { ask } from '../support/http-client.ts';
import { createApiClient, type ApiAnswer, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane, type KubernetesVersion } from './support/control-plane.ts';
import { GATE_NAMESPACE, GATE_USERNAME, startGate, type Gate } from './support/gate.ts';
import { pollUntil } from './support/polling.ts';
import { applyPolicyDefinitions } from './support/policy-definitions.ts';
import {
  ACCOUNT_OBJECTS,
  ATTEMPTS,
  AUTHOR,
  bindingOf,
  GATE_GROUP,
  MASTER,
  named,
  NATIVE,
  OVER_MAPS,
  OVER_SECRETS,
  pathOf,
  policyOf,
  SHOP,
  storedOf,
  type Attempt,
  type PolicyGroup,
} from './support/policy-writing.ts';

const ELSEWHERE = 'elsewhere';
const SECRET_VALUE = 'b3BlbiBzZXNhbWU=';
const PREFIX = 'admission webhook "policy-writers.gate.pacto.trianalab.io" denied the request: ';

/** Shows the password of the Secret to whoever creates the ConfigMap that it is about. */
const revealing = (name: string): readonly KubeObject[] => [
  policyOf(NATIVE, name, {
    ...OVER_SECRETS,
    validations: [{ expression: 'false', messageExpression: 'params.data.password' }],
  }),
  bindingOf(NATIVE, name, name, named('password')),
];

const refusing = (name: string): readonly KubeObject[] => [
  policyOf(NATIVE, name),
  bindingOf(NATIVE, name, name),
];

const IN_FILE = revealing('secret-file.example.com');
const INSIDE = [...refusing('inside.example.com'), ...revealing('secret-map.example.com')];
const OUTSIDE = refusing('outside.example.com');

function policyMap(namespace: string, objects: readonly KubeObject[]): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'policies', namespace, labels: { 'gate.pacto.trianalab.io/policies': 'true' } },
    data: { 'policies.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }) },
  };
}

const OBJECTS = [
  ...[SHOP, ELSEWHERE, GATE_NAMESPACE].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  })),
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'limits', namespace: SHOP }, data: { a: 'b' } },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'password', namespace: SHOP },
    data: { password: SECRET_VALUE },
  },
  policyMap(GATE_NAMESPACE, INSIDE),
  policyMap(ELSEWHERE, OUTSIDE),
  ...ACCOUNT_OBJECTS,
];

const VERSIONS: readonly KubernetesVersion[] = ['1.36', '1.29'];

for (const version of VERSIONS) {
  clusterSuite(`rights and policies on ${version}`, { versions: [version] }, () => {
    let plane: ControlPlane;
    let api: ApiClient;
    let gate: Gate;
    const groups: readonly PolicyGroup[] = version === '1.36' ? [NATIVE, GATE_GROUP] : [GATE_GROUP];

    beforeAll(async () => {
      plane = await startControlPlane({ version });
      api = createApiClient(plane);
      await applyPolicyDefinitions(plane, api);
      await plane.apply(OBJECTS);
      const file = join(plane.directory, 'policies.json');
      writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: IN_FILE }));
      gate = await startGate({
        plane,
        flags: [
          '--identity-enabled=false',
          '--policies-sources=customResources,configMaps',
          `--policies-namespaces=${GATE_NAMESPACE}`,
          '--policies-param-kinds=v1/ConfigMap',
          `--policies-files=${file}`,
        ],
      });
      for (const group of groups)
        for (const body of storedOf(group))
          await api.demand({ method: 'POST', path: pathOf(group, body), body });
      await installPolicyEntries();
    });
    afterAll(async () => {
      await gate?.stop();
      await api?.close();
      await plane?.stop();
    });

    /** Entries of the policies of file and ConfigMaps, and that of the writers. */
    async function installPolicyEntries(): Promise<void> {
      const source = { source: 'customResource' } as const;
      const found = collectPolicies([...INSIDE, ...IN_FILE].map((object) => ({ object, source })));
      const { configuration } = policyEntries({
        policies: found.policies.map(({ policy }) => policy),
        bindings: found.bindings.map(({ binding }) => binding),
        kubeMinor: Number(version.slice(2)),
        excludedNamespaces: ['kube-system'],
        target: { url: gate.url },
        caBundle: gate.authority.certificate,
        timeoutSeconds: 10,
        writers: true,
      });
      await plane.apply(configuration);
      await pollUntil('the entry of the writers to act', 30_000, async () => {
        const { status } = await tryAttempt(GATE_GROUP, ATTEMPTS[0] as Attempt);
        return status === 422 ? true : undefined;
      });
    }

    async function tryAttempt(
      group: PolicyGroup,
      { as, object: make, isUpdate }: Attempt,
    ): Promise<ApiAnswer> {
      const object = make(group);
      const path = pathOf(group, object);
      if (isUpdate !== true)
        return api.request({ method: 'POST', path: `${path}?dryRun=All`, as, body: object });
      const at = `${path}/${object.metadata.name ?? ''}`;
      const { metadata } = await api.demand({ method: 'GET', path: at });
      const version_ = metadata?.resourceVersion ?? '';
      const body = { ...object, metadata: { ...object.metadata, resourceVersion: version_ } };
      return api.request({ method: 'PUT', path: `${at}?dryRun=All`, as, body });
    }

    async function createMap(name: string): Promise<ApiAnswer> {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
      const path = `/api/v1/namespaces/${SHOP}/configmaps?dryRun=All`;
      return api.request({ method: 'POST', path, body });
    }

    describe.each(groups)('whoever writes to %s', (group) => {
      it.each(ATTEMPTS)('is answered as the API server has it: $title', async (attempt) => {
        const { status, body } = await tryAttempt(group, attempt);
        const { refused } = attempt;
        const { kind, metadata } = attempt.object(group);
        const finding = refused && `${refused.field}: Forbidden: ${refused.sentence}`;
        const message = `${kind}.${group} "${metadata.name ?? ''}" is invalid: ${finding ?? ''}`;
        const allowed = attempt.isUpdate === true ? 200 : 201;
        const wanted =
          refused === undefined
            ? { status: allowed }
            : {
                status: 422,
                reason: 'Invalid',
                message: group === NATIVE ? message : PREFIX + message,
                details: {
                  name: metadata.name,
                  group,
                  kind,
                  causes: [
                    {
                      reason: 'FieldValueForbidden',
                      message: `Forbidden: ${refused.sentence}`,
                      field: refused.field,
                    },
                  ],
                },
              };
        const { reason, message: told, details } = body;
        const got = status < 300 ? { status } : { status, reason, message: told, details };
        expect(got).toEqual(wanted);
      });
    });

    it.runIf(version === '1.36')('prints by kubectl what the native kinds print', async () => {
      const texts = await Promise.all(
        groups.map(async (group) => {
          const stdin = JSON.stringify(policyOf(group, 'new.example.com', OVER_MAPS));
          return (await plane.kubectl(['create', '-f', '-'], { stdin, as: 'author' })).stderr;
        }),
      );
      expect(texts[0]).toBe(texts[1]);
      expect(texts[0]).toContain('must have "get" permission on all objects of the referenced paramKind');
    });

    it('lets a label of a binding be changed, which the API server refuses for its own', async () => {
      const attempt: Attempt = {
        title: '',
        as: AUTHOR,
        isUpdate: true,
        object: (group) => {
          const object = bindingOf(group, 'named', 'maps.example.com', named('limits'));
          return { ...object, metadata: { ...object.metadata, labels: { a: 'b' } } };
        },
      };
      const statuses = await Promise.all(
        groups.map(async (group) => (await tryAttempt(group, attempt)).status),
      );
      expect(statuses).toEqual(version === '1.36' ? [422, 200] : [200]);
    });

    it('refuses what the API server would refuse as invalid, in its words', async () => {
      const make = (group: PolicyGroup): KubeObject =>
        policyOf(group, 'new.example.com', { validations: [{ expression: 'object.size( > 1' }] });
      const attempt = { title: '', as: MASTER, object: make };
      const [ours, native] = await Promise.all(
        [...groups].reverse().map((group) => tryAttempt(group, attempt)),
      );
      expect(ours).toMatchObject({ status: 422, body: { reason: 'Invalid' } });
      expect(ours?.body.message).toContain(
        'spec.validations[0].expression: Invalid value: "object.size( > 1"',
      );
      const positions = (text = ''): string => text.replaceAll(/Syntax error: .*$/gm, '');
      const wanted =
        native?.body.message?.replaceAll(NATIVE, GATE_GROUP) ?? ours?.body.message?.slice(PREFIX.length);
      expect(positions(ours?.body.message)).toBe(positions(PREFIX + (wanted ?? '')));
    });

    it('refuses a policy over Secrets, whoever writes it', async () => {
      const object = (group: PolicyGroup): KubeObject => policyOf(group, 'new.example.com', OVER_SECRETS);
      const { status, body } = await tryAttempt(GATE_GROUP, { title: '', as: MASTER, object });
      expect(status).toBe(422);
      expect(body.message).toContain('spec.paramKind: Forbidden: Secrets are never parameters');
    });

    it.each(['secret-file.example.com', 'secret-map.example.com'])(
      'refuses by the failure policy of %s, and shows no Secret',
      async (name) => {
        const { status, body } = await createMap(`${name}-refused`);
        expect(status).toBe(500);
        expect(body.message).toContain('is not in policies.paramKinds');
        expect(JSON.stringify(body)).not.toContain(SECRET_VALUE);
      },
    );

    it('enforces a ConfigMap of its namespaces, and knows nothing of others', async () => {
      const inside = await createMap('inside.example.com-refused');
      expect(inside).toMatchObject({ status: 422, body: { reason: 'Invalid' } });
      expect(inside.body.message).toContain("ValidatingAdmissionPolicy 'inside.example.com'");
      expect((await createMap('outside.example.com-refused')).status).toBe(201);
      const answered = await ask(`${gate.url}/validate/policies/outside.example.com`, {
        ca: gate.authority.certificate,
        body: {},
      });
      expect(answered.status).toBe(503);
      expect(answered.text).toContain('GATE_WEBHOOK_UNKNOWN');
    });

    it('lets a policy go, finalizers included, while the gate is down, and nobody write one', async () => {
      const held = policyOf(GATE_GROUP, 'held.example.com', {}, { finalizers: ['example.com/hold'] });
      const path = pathOf(GATE_GROUP, held);
      await api.demand({ method: 'POST', path, as: AUTHOR, body: held });
      await api.demand({ method: 'DELETE', path: `${path}/held.example.com`, as: AUTHOR });
      // It is enforced until it is gone, so nobody may give it parameters that they may not read.
      const changed = await api.request({
        method: 'PATCH',
        path: `${path}/held.example.com`,
        contentType: 'application/merge-patch+json',
        as: AUTHOR,
        body: { spec: OVER_MAPS },
      });
      expect(changed.status).toBe(422);
      const released = await api.request({
        method: 'PATCH',
        path: `${path}/held.example.com`,
        contentType: 'application/merge-patch+json',
        as: AUTHOR,
        body: { metadata: { finalizers: null } },
      });
      expect(released.status).toBe(200);
      const gone = await api.request({ method: 'GET', path: `${path}/held.example.com` });
      expect(gone.status).toBe(404);
      await gate.end('SIGKILL');
      const written = await tryAttempt(GATE_GROUP, {
        title: '',
        as: MASTER,
        object: (group) => policyOf(group, 'new.example.com'),
      });
      expect(written.status).toBe(500);
      const removed = await api.request({ method: 'DELETE', path: `${path}/plain.example.com`, as: AUTHOR });
      expect(removed.status).toBe(200);
    });

    it('made no write but reviews, and read no Secret', async () => {
      const ofGate = plane.auditEvents().filter(({ user }) => user.username === GATE_USERNAME);
      const nameOf = ({ verb, objectRef }: (typeof ofGate)[number]): string =>
        `${verb} ${objectRef?.apiGroup ?? ''}/${objectRef?.resource ?? ''}`;
      const names = new Set(ofGate.map(nameOf));
      expect([...names].filter((name) => !/^(get|list|watch) /.test(name))).toEqual([
        'create authorization.k8s.io/subjectaccessreviews',
      ]);
      expect([...names]).toContain('get gate.pacto.trianalab.io/validatingadmissionpolicies');
      expect([...names].filter((name) => name.endsWith('/secrets'))).toEqual([]);
    });
  });
}
