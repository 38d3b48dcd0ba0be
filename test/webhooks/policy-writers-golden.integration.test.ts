/** What a real API server answered to whoever wrote a policy or binding, asked of ours over HTTPS. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { CONFIG_MAP, type Kind } from '../../src/cluster/kinds.ts';
import { policyWriters } from './decide-by.ts';
import { serveWebhooks } from './served.ts';

const GROUP = 'gate.pacto.trianalab.io';
const NATIVE_GROUP = 'admissionregistration.k8s.io';

interface WriteCase {
  readonly id: string;
  readonly object: { readonly kind: string };
  readonly oldObject?: object;
  readonly answer: {
    readonly accepted: boolean;
    readonly status: object | null;
    readonly warnings: readonly string[];
  };
}

const FAMILIES = ['write-policy', 'write-binding', 'write-cel', 'write-update'];

/** Cases that the API server accepts and we do not, for a reason of ours (design decision 17). */
const SECRETS = new Set(['v15-static-group', 'v16-paramkind-change']);

const LIMIT: Kind = {
  group: 'rules.example.com',
  version: 'v1',
  kind: 'ReplicaLimit',
  resource: 'replicalimits',
  namespaced: true,
};
/** Every kind of the cases but Secrets, among them one whose name nobody serves. */
const PARAM_KINDS = [CONFIG_MAP, { ...CONFIG_MAP, kind: 'configmap' }, LIMIT];

const casesOf = (family: string): readonly WriteCase[] =>
  (
    JSON.parse(readFileSync(`test/golden/vap/${family}.json`, 'utf8')) as {
      readonly cases: readonly WriteCase[];
    }
  ).cases;

/** The same object of our group. */
const ours = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value).replaceAll(`"apiVersion":"${NATIVE_GROUP}/`, `"apiVersion":"${GROUP}/`),
  ) as T;

const statusOfOurs = (status: object): unknown =>
  comparable(
    JSON.parse(
      JSON.stringify(status)
        .replaceAll(/(ValidatingAdmissionPolicy(?:Binding)?)\.admissionregistration\.k8s\.io/g, `$1.${GROUP}`)
        .replaceAll(`"group":"${NATIVE_GROUP}"`, `"group":"${GROUP}"`),
    ),
  );

/**
 * Syntax errors are compared by their positions, source lines and markers, not by what the parser expected. `kind` and
 * `apiVersion` of a status are for the API server to add to what a webhook says.
 */
function comparable(status: object): unknown {
  return JSON.parse(
    JSON.stringify(status, (_key, member: unknown) => {
      if (typeof member !== 'string') return member;
      return member.replaceAll(/(ERROR: <input>:\d+:\d+: Syntax error:).*$/gm, '$1');
    }),
  ) as unknown;
}

interface Response {
  readonly allowed: boolean;
  readonly status?: object;
  readonly warnings?: readonly string[];
}

describe('recorded writes over HTTPS', () => {
  it('are all there', () => {
    expect(FAMILIES.flatMap(casesOf)).toHaveLength(223);
    expect([...SECRETS].every((id) => FAMILIES.flatMap(casesOf).some((one) => one.id === id))).toBe(true);
  });

  it.each(FAMILIES)('of %s are answered as the API server answered them', async (family) => {
    const served = await serveWebhooks([policyWriters({ paramKinds: PARAM_KINDS })]);
    const wrong: unknown[] = [];
    for (const { id, object, oldObject, answer } of casesOf(family)) {
      const { kind } = object;
      const resource =
        kind === 'ValidatingAdmissionPolicy'
          ? 'validatingadmissionpolicies'
          : 'validatingadmissionpolicybindings';
      const body = {
        kind: 'AdmissionReview',
        apiVersion: 'admission.k8s.io/v1',
        request: {
          uid: id,
          kind: { group: GROUP, version: 'v1', kind },
          resource: { group: GROUP, version: 'v1', resource },
          operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
          // As they were recorded.
          userInfo: { username: 'admin', groups: ['system:masters'] },
          object: ours(object),
          oldObject: oldObject === undefined ? null : ours(oldObject),
        },
      };
      const answered = await served.ask('/validate/policy-writers?timeout=30s', { body });
      const { response } = answered.json() as { readonly response: Response };
      const got = {
        accepted: response.allowed,
        status: response.status === undefined ? null : comparable(response.status),
        warnings: response.warnings ?? [],
      };
      const {
        kind: _kind,
        apiVersion: _version,
        ...native
      } = (answer.status ?? {}) as Record<string, unknown>;
      const wanted = {
        accepted: answer.accepted,
        status: answer.status === null ? null : statusOfOurs(native),
        warnings: answer.warnings,
      };
      if (SECRETS.has(id)) {
        const text = JSON.stringify(response.status);
        if (!answer.accepted || !text.includes('Secrets are never parameters')) wrong.push({ id, got });
      } else if (JSON.stringify(sorted(got)) !== JSON.stringify(sorted(wanted))) {
        wrong.push({ id, wanted, got });
      }
    }
    expect(wrong).toEqual([]);
  });
});

/** With members in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}
