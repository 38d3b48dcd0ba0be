/** Operations, Approvals and people, for the rules about them. */
import { expect, it } from 'vitest';

import type { KubeObject } from '../../src/cluster/objects.ts';
import { aReview, aUser, type AdmissionReview } from '../support/builders.ts';
import {
  API,
  identityPolicy,
  NEW,
  NOW_MS,
  pacto,
  sha256,
  siteWith,
  stage,
  type Answered,
} from './delivery-site.ts';

export type Members = Readonly<Record<string, unknown>>;

export const MANAGER = aUser({ username: 'maria@example.com', groups: ['managers'] });
export const OTHER_MANAGER = aUser({ username: 'max@example.com', groups: ['managers'] });
export const COMMANDER = aUser({ username: 'carla@example.com', groups: ['commanders'] });
export const COLLECTOR = {
  username: 'system:serviceaccount:kube-system:generic-garbage-collector',
  groups: [],
};
export const POLICY = identityPolicy();
export const POLICY_SHA = sha256((POLICY['data'] as Readonly<Record<string, string>>)['policy.yaml'] ?? '');
export const in30m = new Date(NOW_MS + 1_800_000).toISOString().replace('.000Z', 'Z');

function delivery(kind: string, name: string, members: Members): KubeObject {
  return {
    apiVersion: 'delivery.pacto.trianalab.io/v1alpha1',
    kind,
    metadata: {
      name,
      namespace: 'payments',
      uid: `uid-of-${name}`,
      creationTimestamp: '2026-01-02T03:00:00Z',
    },
    ...members,
  };
}

export const stampOf = ({ username = '', uid = '', groups = [] }: typeof MANAGER): Members => ({
  username,
  uid,
  groups,
});

export const operation = (spec: Members = {}, status?: Members, by = MANAGER): KubeObject =>
  delivery('Operation', 'promote-1', {
    spec: { stage: 'prod', type: 'Promote', digest: NEW, requestedBy: stampOf(by), ...spec },
    ...(status && { status }),
  });
export const approval = (spec: Members = {}, by = OTHER_MANAGER, name = 'yes'): KubeObject =>
  delivery('Approval', name, {
    spec: {
      operation: { name: 'promote-1', uid: 'uid-of-promote-1' },
      digest: NEW,
      decision: 'Approve',
      role: 'release-manager',
      approvedBy: stampOf(by),
      seen: { policySha256: POLICY_SHA },
      ...spec,
    },
  });

export const WORLD: readonly KubeObject[] = [stage(), pacto(), POLICY];

export function ask(
  review: AdmissionReview,
  more: readonly KubeObject[] = [],
  world = WORLD,
): Promise<Answered> {
  return siteWith([...world, ...more]).ask(API, review);
}

export const created = (object: KubeObject, user = MANAGER): AdmissionReview => aReview({ object, user });
export const updated = (object: KubeObject, oldObject: KubeObject, user = MANAGER): AdmissionReview =>
  aReview({ object, oldObject, user });
export const deleted = (oldObject: KubeObject, user = MANAGER): AdmissionReview =>
  aReview({ oldObject, object: null, user });

type Case = readonly [what: string, review: AdmissionReview, code: string, more?: readonly KubeObject[]];

/** Answers of the rules, each with its code; a refusal is always 403. */
export function expectAll(cases: readonly Case[]): void {
  it.each(cases.map(([what, review, code, more = []]) => ({ what, review, code, more })))(
    '$what',
    async ({ review, code, more }) => {
      const answer = await ask(review, more);
      const isAllowed = ['ALLOWED', 'SAME', 'DELETE'].includes(code);
      expect([answer.code, answer.allowed ? 200 : answer.status.code]).toEqual([code, isAllowed ? 200 : 403]);
    },
  );
}
