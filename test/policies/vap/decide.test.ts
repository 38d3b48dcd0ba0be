import { describe, expect, it } from 'vitest';

import type { AuthorizationAnswer } from '../../../src/policies/cel/signals.ts';
import { PAUSE, type Need } from '../../../src/policies/vap/needs.ts';
import { decide, evaluate, settle } from '../../../src/policies/vap/vap.ts';
import {
  binding,
  decideOne,
  evidence,
  matchResources,
  namespace,
  outcomeOf,
  policy,
  policySet,
  refusal,
  request,
  rule,
  selector,
} from './support.ts';

const LIMIT = { apiVersion: 'rules.example.com/v1', kind: 'Limit' };
const ALLOWED = { decision: 'allow', reason: '' } as const;
const MAY = "authorizer.group('').resource('secrets').check('get').allowed()";

describe('what is decided', () => {
  it('allows what no policy is about, and asks for nothing', () => {
    const nothing = evidence({ namespace: () => undefined });
    const other = matchResources({ resourceRules: [rule({ resources: ['secrets'] })] });
    expect(decideOne(policy({ matchConstraints: other }), { known: nothing }).verdict.allowed).toBe(true);
    expect(outcomeOf(evaluate(policySet([policy()], []), request(), nothing)).verdict.allowed).toBe(true);
  });

  it.each([
    ['admissionregistration.k8s.io', 'validatingadmissionpolicies'],
    ['admissionregistration.k8s.io', 'mutatingadmissionpolicybindings'],
    ['authorization.k8s.io', 'subjectaccessreviews'],
    ['authentication.k8s.io', 'tokenreviews'],
  ])('allows %s %s, whatever the policies say', (group, resource) => {
    const everything = matchResources({ resourceRules: [] });
    const of = request({ resource: { group, version: 'v1', resource } });
    expect(decideOne(policy({ matchConstraints: everything }), { of }).verdict.allowed).toBe(true);
    const webhooks = { group: 'admissionregistration.k8s.io', version: 'v1' };
    const seen = request({ resource: { ...webhooks, resource: 'validatingwebhookconfigurations' } });
    expect(decideOne(policy({ matchConstraints: everything }), { of: seen }).verdict.allowed).toBe(false);
  });

  it('denies by the first failure, by name of policy and binding', () => {
    const set = policySet(
      [policy({ name: 'b.example.com' }), policy({ name: 'a.example.com' })],
      [
        binding({ name: 'z', policyName: 'a.example.com' }),
        binding({ name: 'y', policyName: 'a.example.com' }),
        binding({ name: 'x', policyName: 'b.example.com' }),
        binding({ name: 'w', policyName: 'nobody.example.com' }),
      ],
    );
    const { verdict, decisions } = outcomeOf(evaluate(set, request(), evidence()));
    expect(verdict).toMatchObject({
      allowed: false,
      code: 422,
      reason: 'Invalid',
      message: "ValidatingAdmissionPolicy 'a.example.com' with binding 'y' denied request: no",
    });
    expect(decisions.map(({ policy, binding }) => [policy, binding])).toEqual([
      ['a.example.com', 'y'],
      ['a.example.com', 'z'],
      ['b.example.com', 'x'],
    ]);
  });

  it('asks one policy alone where an entry stands for it', () => {
    const set = policySet([policy({ name: 'a.example.com' }), policy({ name: 'b.example.com' })]);
    const outcome = outcomeOf(evaluate(set, request(), evidence(), { policy: 'b.example.com' }));
    expect(outcome.decisions.map((one) => one.policy)).toEqual(['b.example.com']);
  });

  it('keeps good policies and good expressions in force beside those that do not compile', () => {
    const bad = policy({
      name: 'a.example.com',
      validations: [{ expression: '1 +' }, { expression: 'true' }],
      failurePolicy: 'Ignore',
    });
    const set = policySet([bad, policy()]);
    expect(set.problems).toEqual([
      {
        policy: 'a.example.com',
        field: 'spec.validations[0].expression',
        error: expect.stringMatching(/^compilation failed: ERROR: <input>:1:4: Syntax error:/) as string,
      },
    ]);
    const outcome = outcomeOf(evaluate(set, request(), evidence()));
    expect(refusal(outcome)).toBe('no');
    expect(outcome.decisions[0]).toMatchObject({ policy: 'a.example.com', evaluation: 'error', actions: [] });
    const failing = decideOne({ ...bad, failurePolicy: 'Fail' }, { by: binding({ policyName: bad.name }) });
    expect(refusal(failing)).toMatch(/^compilation error: compilation failed: /);
  });

  it('denies by configuration under Fail whatever the actions are, and allows it under Ignore', () => {
    const { matchConstraints: _, ...unconstrained } = policy();
    const by = binding({ validationActions: ['Audit'] });
    expect(refusal(decideOne(unconstrained, { by }))).toBe(
      'failed to configure policy: policy contained no match constraints, a required field',
    );
    const ignoring = decideOne({ ...unconstrained, failurePolicy: 'Ignore' }, { by });
    expect(ignoring.verdict.allowed).toBe(true);
    expect(ignoring.decisions).toHaveLength(1);
    expect(refusal(decideOne({ ...unconstrained, failurePolicy: 'Maybe' }))).toBe(
      "unrecognized failure policy: 'Maybe'",
    );
  });

  it('sees keys of the prototype as data', () => {
    const data = JSON.parse('{"__proto__": "a", "constructor": "b", "toString": "c"}') as unknown;
    const one = policy({
      validations: [
        { expression: "object.data.__proto__ + object.data['constructor'] + object.data.toString == 'abc'" },
        { expression: "!has(object.data.hasOwnProperty) && !('valueOf' in object.data)" },
      ],
    });
    const of = request({ object: { metadata: {}, data } });
    expect(decideOne(one, { of }).decisions).toEqual([]);
  });
});

describe('the namespace', () => {
  const gone = evidence({ namespace: () => null });

  it('must exist, whatever the policy says and whatever its failurePolicy is', () => {
    const one = policy({ failurePolicy: 'Ignore', validations: [{ expression: 'true' }] });
    const { verdict, status } = decideOne(one, { known: gone });
    expect(verdict).toMatchObject({ allowed: false, code: 404, reason: 'NotFound' });
    expect(status).toMatchObject({
      message: 'namespaces "shop" not found',
      details: { name: 'shop', kind: 'namespaces' },
    });
  });

  it('is not looked at for what is cluster-scoped, nor for a Namespace', () => {
    const none = evidence({ namespace: () => undefined });
    const one = policy({ validations: [{ expression: 'namespaceObject == null', message: 'there is one' }] });
    expect(decideOne(one, { of: request({ namespace: '' }), known: none }).verdict.allowed).toBe(true);
    const all = policy({ ...one, matchConstraints: matchResources({ resourceRules: [] }) });
    const of = request({
      kind: { group: '', version: 'v1', kind: 'Namespace' },
      resource: { group: '', version: 'v1', resource: 'namespaces' },
      name: 'shop',
    });
    expect(decideOne(all, { of, known: none }).verdict.allowed).toBe(true);
  });

  it('is asked for once, by selectors and expressions together', () => {
    const constrained = matchResources({ namespaceSelector: selector({ team: 'a' }) });
    const set = policySet([policy({ matchConstraints: constrained }), policy({ name: 'q.example.com' })]);
    const steps = decide(set, request());
    expect(steps.next()).toEqual({ done: false, value: { need: 'namespace', name: 'shop' } });
    const last = steps.next(namespace('shop', { team: 'a' }));
    expect(last.done).toBe(true);
  });
});

describe('parameters', () => {
  const one = policy({
    paramKind: LIMIT,
    validations: [
      { expression: 'params != null && params.max > 1', messageExpression: "'max ' + params.metadata.name" },
    ],
    auditAnnotations: [{ key: 'param', valueExpression: 'string(params.metadata.name)' }],
  });
  const by = binding({ paramRef: { selector: selector({ x: 'y' }), parameterNotFoundAction: 'Deny' } });
  const limit = (name: string, max: number) => ({
    ...LIMIT,
    metadata: { name, namespace: 'shop', labels: { x: 'y' } },
    max,
  });

  it('are asked for with what is known of their kind', () => {
    const set = policySet([one], [by]);
    expect(evaluate(set, request(), evidence())).toEqual({ need: 'paramKind', ...LIMIT });
    const kind = evidence({ paramKind: () => ({ namespaced: true }) });
    expect(evaluate(set, request(), kind)).toEqual({
      need: 'params',
      ...LIMIT,
      namespace: 'shop',
      selector: selector({ x: 'y' }),
    });
  });

  it('are each evaluated on its own', () => {
    const known = evidence({
      paramKind: () => ({ namespaced: true }),
      params: () => [limit('b', 1), limit('a', 2), limit('c', 0)],
    });
    const { decisions, auditAnnotations } = decideOne(one, { known, by });
    expect(decisions.map((decision) => decision.message)).toEqual(['max b', 'max c']);
    expect(auditAnnotations).toEqual({ 'p.example.com/param': 'a, b, c' });
  });

  it('that nobody serves are an error of the policy', () => {
    const known = evidence({ paramKind: () => null });
    expect(refusal(decideOne(one, { known, by }))).toBe(
      "failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Limit'",
    );
  });

  it('that are missing are an error of the binding, or nothing at all', () => {
    const known = evidence({ paramKind: () => ({ namespaced: true }), params: () => [] });
    expect(refusal(decideOne(one, { known, by }))).toBe(
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    );
    const allowing = binding({ paramRef: { name: 'a', parameterNotFoundAction: 'Allow' } });
    expect(decideOne(one, { known, by: allowing })).toMatchObject({ decisions: [], auditAnnotations: {} });
  });
});

describe('the authorizer', () => {
  const one = policy({
    validations: [{ expression: MAY, message: 'may not' }, { expression: `${MAY} || true` }],
  });

  it('is asked once for each question, as the user of the request', () => {
    const { outcome, asked } = askedBy(policySet([one]), { decision: 'deny', reason: '' });
    expect(asked).toMatchObject([
      {
        need: 'authorize',
        query: {
          kind: 'resource',
          verb: 'get',
          resource: 'secrets',
          user: { username: 'alice', groups: [] },
        },
      },
    ]);
    expect(outcome.decisions).toMatchObject([{ expressionIndex: 0 }]);
  });

  it('charges and remembers variables once, however often an expression is begun', () => {
    const checks = Array.from({ length: 2 }, (_, index) => MAY.replace('get', `verb${String(index)}`));
    const set = policySet([
      policy({
        variables: [{ name: 'first', expression: checks[0] ?? '' }],
        validations: [{ expression: `variables.first && ${checks[1] ?? ''}`, message: 'may not' }],
      }),
    ]);
    const { outcome, asked } = askedBy(set, ALLOWED);
    expect(asked).toMatchObject([{ query: { verb: 'verb0' } }, { query: { verb: 'verb1' } }]);
    expect(outcome.decisions).toEqual([]);
  });

  it('that fails is not allowed, and the error can be asked for', () => {
    const failing = policy({
      validations: [
        { expression: MAY, messageExpression: "'no'" },
        { expression: `!(${MAY.replace('allowed', 'errored')})` },
      ],
    });
    const known = evidence({ authorize: () => ({ decision: 'noopinion', reason: '', error: 'gone' }) });
    expect(decideOne(failing, { known }).decisions.map((decision) => decision.expressionIndex)).toEqual([
      0, 1,
    ]);
  });

  it('that cannot be asked ends the evaluation with the failure of the look-up', async () => {
    const steps = decide(policySet([one]), request());
    const lookUp = (need: Need): Promise<unknown> =>
      need.need === 'namespace'
        ? Promise.resolve(namespace('shop'))
        : Promise.reject(new Error('no answer in time'));
    await expect(settle(steps, lookUp, () => Promise.resolve())).rejects.toThrow('no answer in time');
  });
});

describe('versions', () => {
  const v = (version: string) => ({
    kind: { group: 'things.example.com', version, kind: 'Widget' },
    resource: { group: 'things.example.com', version, resource: 'widgets' },
  });
  const one = policy({
    matchConstraints: matchResources({
      resourceRules: [
        rule({ apiGroups: ['things.example.com'], apiVersions: ['v2'], resources: ['widgets'] }),
      ],
    }),
    matchConditions: [
      { name: 'own', expression: "request.resource.version == 'v1' && request.kind.version == 'v2'" },
    ],
    validations: [
      { expression: "request.resource.version == 'v2' && request.requestResource.version == 'v1'" },
      { expression: 'object.size == 2', messageExpression: "'size ' + string(object.size)" },
    ],
  });
  const sized = (size: number) => ({ metadata: {}, size });

  it('are asked for where the review holds another one', () => {
    const set = policySet([one], undefined, { equivalents: () => [v('v1'), v('v2')] });
    const of = request({ ...v('v1'), object: sized(1) });
    expect(evaluate(set, of, evidence())).toEqual({ need: 'conversion', to: v('v2').kind });
    const converted = evidence({ conversion: () => ({ object: sized(3), oldObject: null }) });
    expect(refusal(outcomeOf(evaluate(set, of, converted)))).toBe('size 3');
    const failing = evidence({ conversion: () => ({ error: 'cannot' }) });
    expect(refusal(outcomeOf(evaluate(set, of, failing)))).toBe(
      'failed to configure binding: failed to convert object version: cannot',
    );
  });

  it('need nothing where the review was converted for the policy', () => {
    const own = v('v1');
    const of = request({
      ...v('v2'),
      requestKind: own.kind,
      requestResource: own.resource,
      object: sized(2),
    });
    expect(decideOne(one, { of }).decisions).toEqual([]);
    expect(refusal(decideOne(one, { of: { ...of, object: sized(5) } }))).toBe('size 5');
  });
});

describe('long work', () => {
  it('pauses now and then, and comes to the same answer', async () => {
    const expression =
      '[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, a * b > 0 && object != null))';
    const set = policySet([policy({ validations: Array.from({ length: 500 }, () => ({ expression })) })]);
    let pauses = 0;
    const outcome = await settle(
      decide(set, request()),
      () => Promise.resolve(namespace('shop')),
      () => {
        pauses += 1;
        return Promise.resolve();
      },
    );
    expect(outcome.decisions).toEqual([]);
    expect(pauses).toBeGreaterThan(3);
    const steps = [
      ...stepsOf(
        policySet(
          [policy()],
          Array.from({ length: 10_000 }, (_, i) => binding({ name: String(i) })),
        ),
      ),
    ];
    expect(steps.filter((step) => step === PAUSE).length).toBeGreaterThan(5);
  });

  it('ends where it is told to', () => {
    const numbers = `[${Array.from({ length: 200 }, (_, index) => String(index)).join()}]`;
    const one = policy({ validations: [{ expression: `${numbers}.all(a, a >= 0)` }] });
    const set = policySet([one]);
    const outcome = outcomeOf(evaluate(set, request(), evidence(), { interrupted: () => true }));
    expect(refusal(outcome)).toMatch(/ resulted in error: operation interrupted$/);
  });

  it('decides with 64 conditions and 1,000 validations', () => {
    const one = policy({
      matchConditions: Array.from({ length: 64 }, (_, i) => ({
        name: `c${String(i)}`,
        expression: 'object != null',
      })),
      validations: Array.from({ length: 1000 }, (_, i) => ({ expression: `request.name != '${String(i)}'` })),
    });
    expect(decideOne(one).decisions).toEqual([]);
    expect(decideOne(one, { of: request({ name: '999' }) }).decisions).toMatchObject([
      { expressionIndex: 999 },
    ]);
  });
});

/** What an evaluation asks the authorizer, and what comes of this answer. */
function askedBy(set: ReturnType<typeof policySet>, answer: AuthorizationAnswer) {
  const steps = decide(set, request());
  const asked: Need[] = [];
  let next = steps.next();
  while (next.done !== true) {
    const { value } = next;
    if (value.need === 'authorize') asked.push(value);
    next = steps.next(value.need === 'namespace' ? namespace('shop') : answer);
  }
  return { outcome: next.value, asked };
}

function* stepsOf(set: ReturnType<typeof policySet>) {
  const steps = decide(set, request());
  let next = steps.next();
  while (next.done !== true) {
    yield next.value;
    next = steps.next(namespace('shop'));
  }
}
