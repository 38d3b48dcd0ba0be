import { describe, expect, it } from 'vitest';

import type { AdmissionRequest } from '../../../src/cluster/objects.ts';
import { evaluate } from '../../../src/policies/vap/vap.ts';
import { binding, decideOne, evidence, outcomeOf, policy, policySet, request } from './support.ts';

function statusOf(change: Partial<AdmissionRequest>) {
  return decideOne(policy(), { of: request(change) }).status;
}

describe('the refusal', () => {
  it.each<[string, Partial<AdmissionRequest>, string]>([
    ['of the request', { name: 'cm' }, 'cm'],
    ['of the object', { name: '', object: { metadata: { name: 'own' } } }, 'own'],
    ['that is generated', { name: '', object: { metadata: { generateName: 'gen-' } } }, 'gen-'],
    ['of an object without one', { name: '', object: { metadata: {} } }, 'Unknown'],
    ['of nothing', { name: '', object: null }, 'Unknown'],
    ['of what has no metadata', { name: '', object: {} }, 'Unknown/errorGettingName'],
  ])('names the name %s', (_name, change, name) => {
    expect(statusOf(change)).toMatchObject({
      message: `configmaps "${name}" is forbidden: ValidatingAdmissionPolicy 'p.example.com' with binding 'b' denied request: no`,
      details: { name, kind: 'configmaps' },
    });
  });

  it.each([
    [undefined, 'Invalid', 422],
    ['', 'Invalid', 422],
    ['Invalid', 'Invalid', 422],
    ['Forbidden', 'Forbidden', 403],
    ['Unauthorized', 'Unauthorized', 401],
    ['RequestEntityTooLarge', 'RequestEntityTooLarge', 413],
    ['Conflict', 'Conflict', 422],
    ['constructor', 'constructor', 422],
  ])('of reason %s is %s, %i', (given, reason, code) => {
    const validation = { expression: 'false', ...(given === undefined ? {} : { reason: given }) };
    const { verdict, status } = decideOne(policy({ validations: [validation] }));
    expect(verdict).toMatchObject({ reason, code });
    expect(status).toMatchObject({ reason, code });
  });

  it('holds one cause, in the words of the verdict', () => {
    const { verdict, status } = decideOne(
      policy({ validations: [{ expression: 'false' }, { expression: '1 == 2' }] }),
    );
    const message =
      "ValidatingAdmissionPolicy 'p.example.com' with binding 'b' denied request: failed expression: false";
    expect(verdict).toMatchObject({ message, causes: [{ message }] });
    expect(status?.details.causes).toEqual([{ message }]);
  });
});

describe('actions', () => {
  const failing = policy({
    validations: [
      { expression: 'false', message: 'a<b' },
      { expression: 'object.nope', message: 'x' },
    ],
  });

  it.each([
    [['Deny'] as const, false, 0, false],
    [['Warn'] as const, true, 2, false],
    [['Audit'] as const, true, 0, true],
    [['Audit', 'Warn'] as const, true, 2, true],
    [[] as const, true, 0, false],
  ])('%j', (validationActions, allowed, warnings, audited) => {
    const outcome = decideOne(failing, { by: binding({ validationActions }) });
    expect(outcome.verdict.allowed).toBe(allowed);
    expect(outcome.warnings).toHaveLength(warnings);
    expect(Object.keys(outcome.auditAnnotations)).toEqual(
      audited ? ['validation.policy.admission.k8s.io/validation_failure'] : [],
    );
  });

  it('records the first failure up to 1.36, and fifty from 1.37 on', () => {
    const many = policy({
      validations: Array.from({ length: 60 }, () => ({ expression: 'false', message: 'a<b' })),
    });
    const by = binding({ validationActions: ['Audit'] });
    const recorded = (minor: number): unknown => {
      const outcome = outcomeOf(evaluate(policySet([many], [by], { minor }), request(), evidence()));
      expect(outcome.verdict.auditAnnotations).toEqual({
        validation_failure: outcome.auditAnnotations['validation.policy.admission.k8s.io/validation_failure'],
      });
      return outcome.verdict.auditAnnotations['validation_failure'];
    };
    const first = String.raw`{"message":"a\u003cb","policy":"p.example.com","binding":"b","expressionIndex":0,"validationActions":["Audit"]}`;
    expect(recorded(36)).toBe(`[${first}]`);
    expect(JSON.parse(recorded(37) as string)).toHaveLength(50);
  });
});

describe('audit annotations', () => {
  const annotated = (key: string, valueExpression: string, failurePolicy = 'Fail') =>
    policy({ validations: [], auditAnnotations: [{ key, valueExpression }], failurePolicy });

  it('stand under the policy, and in a webhook under their own key', () => {
    const outcome = decideOne(annotated('who', "' ' + request.userInfo.username + '\\n'"));
    expect(outcome.auditAnnotations).toEqual({ 'p.example.com/who': 'alice' });
    expect(outcome.verdict.auditAnnotations).toEqual({ who: 'alice' });
  });

  it('are cut at 10,240 bytes', () => {
    const of = request({ object: { metadata: {}, text: 'é'.repeat(6000) } });
    const { auditAnnotations } = decideOne(annotated('long', 'string(object.text)'), { of });
    expect(auditAnnotations).toEqual({ 'p.example.com/long': 'é'.repeat(5120) });
  });

  it.each(['a/b', '', '-x', 'x'.repeat(64)])('are left out under the key %j', (key) => {
    expect(decideOne(annotated(key, "'v'")).auditAnnotations).toEqual({});
  });

  it('are left out where they are empty or null', () => {
    expect(decideOne(annotated('k', "' '")).auditAnnotations).toEqual({});
    expect(decideOne(annotated('k', 'null')).auditAnnotations).toEqual({});
  });

  it('without a value deny under Fail, even where the binding only warns', () => {
    const by = binding({ validationActions: ['Warn'] });
    const failing = annotated('k', 'string(object.nope)');
    expect(decideOne(failing, { by }).verdict).toMatchObject({ allowed: false, code: 422 });
    expect(decideOne({ ...failing, failurePolicy: 'Ignore' }, { by })).toMatchObject({
      verdict: { allowed: true },
      auditAnnotations: {},
    });
  });
});
