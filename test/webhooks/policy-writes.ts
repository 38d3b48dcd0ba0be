/** Writes of policies and bindings of our group, sent over HTTPS to the webhook that decides about them. */
import { expect } from 'vitest';

import type { AccessAnswer, AccessQuestion, Reader } from '../../src/cluster/cluster.ts';
import { CONFIG_MAP, type Kind } from '../../src/cluster/kinds.ts';
import type { KubeObject, UserInfo } from '../../src/cluster/objects.ts';
import { collectPolicies, type PolicySource } from '../../src/policies/vap/sources.ts';
import { policyWriters, readerOver } from './decide-by.ts';
import { serveWebhooks, type Served } from './served.ts';

export const GROUP = 'gate.pacto.trianalab.io';
const LIMIT: Kind = {
  group: 'rules.example.com',
  version: 'v1',
  kind: 'ReplicaLimit',
  resource: 'replicalimits',
  namespaced: true,
};
const PARAM_KINDS = [CONFIG_MAP, LIMIT];
export const ALICE: UserInfo = { username: 'alice', groups: ['system:authenticated'] };
export const SHOWN = '&{alice  [system:authenticated] map[]}';
export const MASTER: UserInfo = { username: 'root', groups: ['system:masters'] };

export const policy = (spec: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'limits.example.com', ...metadata },
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
      ],
    },
    validations: [{ expression: 'object.spec.replicas < 5' }],
    ...spec,
  },
});
export const overMaps = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } };
export const overLimits = { paramKind: { apiVersion: 'rules.example.com/v1', kind: 'ReplicaLimit' } };
export const overSecrets = { paramKind: { apiVersion: 'v1', kind: 'Secret' } };

export const binding = (spec: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'limits', ...metadata },
  spec: { policyName: 'limits.example.com', validationActions: ['Deny'], ...spec },
});
export const named = { paramRef: { name: 'limits', namespace: 'shop', parameterNotFoundAction: 'Deny' } };
export const selected = { paramRef: { selector: {}, parameterNotFoundAction: 'Deny' } };

export interface Write {
  readonly object: object;
  readonly old?: object;
  readonly user?: UserInfo;
  readonly operation?: string;
  readonly subResource?: string;
  readonly dryRun?: boolean;
}

export function review({ object, old, user = ALICE, ...more }: Write): object {
  const { kind } = object as { readonly kind: string };
  const resource =
    kind === 'ValidatingAdmissionPolicy'
      ? 'validatingadmissionpolicies'
      : 'validatingadmissionpolicybindings';
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'u-1',
      kind: { group: GROUP, version: 'v1', kind },
      resource: { group: GROUP, version: 'v1', resource },
      operation: old === undefined ? 'CREATE' : 'UPDATE',
      userInfo: user,
      object,
      oldObject: old ?? null,
      options: null,
      ...more,
    },
  };
}

interface Status {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: {
    readonly name?: string;
    readonly causes?: readonly { readonly field: string; readonly message: string }[];
  };
}

export interface Response {
  readonly allowed: boolean;
  readonly status?: Status;
  readonly warnings?: readonly string[];
}

export interface Given {
  /** Who may what; left out: nobody anything. */
  readonly may?: (question: AccessQuestion) => boolean | AccessAnswer | Promise<AccessAnswer>;
  /** Nobody can be asked. */
  readonly alone?: boolean;
  /** As they are stored. */
  readonly stored?: readonly KubeObject[];
  readonly reader?: Reader;
  readonly known?: readonly { readonly object: KubeObject; readonly source: PolicySource }[];
  readonly unknown?: Error;
}

interface Writers {
  readonly served: Served;
  readonly asked: AccessQuestion[];
  readonly write: (write: Write) => Promise<Response>;
}

export async function writers(given: Given = {}): Promise<Writers> {
  const { may = () => false, alone = false, stored = [], known = [], unknown } = given;
  const asked: AccessQuestion[] = [];
  const webhook = policyWriters({
    paramKinds: PARAM_KINDS,
    ...(!alone && {
      reviewAccess: (question: AccessQuestion) => {
        asked.push(question);
        const answer = may(question);
        return Promise.resolve(
          typeof answer === 'boolean' ? { allowed: answer, denied: false, reason: '' } : answer,
        );
      },
    }),
    inForce: () =>
      unknown === undefined ? Promise.resolve(collectPolicies(known)) : Promise.reject(unknown),
  });
  const served = await serveWebhooks([webhook], { reader: given.reader ?? readerOver(stored) });
  return {
    served,
    asked,
    write: async (write) => {
      const answer = await served.ask('/validate/policy-writers?timeout=10s', { body: review(write) });
      expect(answer.status).toBe(200);
      return (answer.json() as { readonly response: Response }).response;
    },
  };
}

export const messageOf = ({ status }: Response): string => status?.message ?? '';
