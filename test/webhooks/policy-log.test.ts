/** What an operator sees of a policy that found something wrong: enough to find it, and nothing of the object. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { readerOver } from './decide-by.ts';
import { edgeOf, rawRequest, type EdgeUnderTest } from './edge-parts.ts';
import { aBinding, aPolicy, aReview, shop, webhookOf } from './policy-webhook.ts';

const SECRET = 'hunter2-of-the-object';
const request = {
  object: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'shop' },
    data: { password: SECRET },
  },
};

async function asked(
  objects: readonly KubeObject[],
): Promise<Pick<EdgeUnderTest, 'decisions'> & { line: Record<string, unknown>; body: string }> {
  const { edge, lines, decisions } = edgeOf([webhookOf({ objects })], readerOver([shop]));
  const { body } = await edge.answer(rawRequest('/validate/policies/p', aReview(request)));
  expect(lines).toHaveLength(1);
  return { line: JSON.parse(lines[0] ?? '') as Record<string, unknown>, decisions, body };
}

const telling = { expression: 'false', messageExpression: "'found ' + object.data.password" };

describe('the line and the count of a decision by a policy', () => {
  it.each<[string, object, object, string, readonly string[], readonly string[]]>([
    [
      'denies',
      { validations: [{ expression: 'true' }, telling] },
      { validationActions: ['Deny', 'Audit'] },
      'denied',
      ['POLICY_DENIED'],
      ['p-binding validations[1] deny: Deny, Audit'],
    ],
    [
      'warns and records',
      { validations: [telling] },
      { validationActions: ['Warn', 'Audit'] },
      'allowed',
      [],
      ['p-binding validations[0] deny: Warn, Audit'],
    ],
    [
      'has no result, and fails closed',
      { validations: [{ expression: 'object.data[object.data.password] == "x"' }] },
      {},
      'denied',
      ['POLICY_EXPRESSION_FAILED'],
      ['p-binding error: Deny'],
    ],
    [
      'has no result, and is ignored',
      { validations: [{ expression: 'object.data[object.data.password] == "x"' }], failurePolicy: 'Ignore' },
      {},
      'allowed',
      [],
      ['p-binding error: ignored'],
    ],
    [
      'has an audit annotation without a result',
      { auditAnnotations: [{ key: 'k', valueExpression: 'object.data[object.data.password]' }] },
      { validationActions: ['Audit'] },
      'denied',
      ['POLICY_EXPRESSION_FAILED'],
      ['p-binding error: Deny'],
    ],
    [
      'cannot be applied by the binding',
      { validations: [telling] },
      { matchResources: { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      'denied',
      ['POLICY_NOT_APPLICABLE'],
      ['p-binding configuration: Deny'],
    ],
  ])('name it where it %s', async (_what, spec, bound, verdict, codes, violations) => {
    const { line, decisions, body } = await asked([aPolicy('p', spec), aBinding('p', bound)]);
    expect(line).toMatchObject({ webhook: 'policies', verdict, codes, policy: 'p', violations });
    expect(JSON.stringify(line)).not.toContain(SECRET);
    expect(decisions).toMatchObject([
      { verdict, ...(codes.length > 0 && { code: codes[0] }), violations: [{ policy: 'p' }] },
    ]);
    expect(JSON.stringify(decisions)).not.toContain(SECRET);
    // The codes are for the log: the client is told what the API server would say.
    expect(body).not.toContain('POLICY_');
  });

  it('say nothing of policies that found nothing', async () => {
    const { line, decisions } = await asked([
      aPolicy('p', { validations: [{ expression: 'true' }] }),
      aBinding('p'),
    ]);
    expect(line).not.toHaveProperty('violations');
    expect(decisions[0]).not.toHaveProperty('violations');
  });

  it('have room for twenty, while all are counted', async () => {
    const bindings = Array.from({ length: 30 }, (_, n) => aBinding('p', {}, `b${String(n)}`));
    const { line, decisions } = await asked([aPolicy('p', { validations: [telling] }), ...bindings]);
    expect(line['violations']).toHaveLength(20);
    expect(decisions[0]?.violations).toHaveLength(30);
  });
});
