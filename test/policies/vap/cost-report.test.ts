import { describe, expect, it } from 'vitest';
import { costFindings, costReport } from '../../../src/policies/vap/cost-report.ts';
import type { Policy } from '../../../src/policies/vap/types.ts';
import { policyOf, subject } from './traps/support.ts';

const CHECK = "authorizer.path('/a').check('get').allowed()";
const LIST = 'object.spec.template.spec.containers';

function report(expressions: readonly string[], change: Partial<Policy> = {}) {
  const of = subject(policyOf(expressions, change));
  const found = costReport(of);
  return { ...found, findings: costFindings(found, of) };
}

describe('what a policy may cost', () => {
  it('is bounded where no size counts', () => {
    const { expressions, findings } = report(['object.spec.replicas < 5']);
    expect(expressions).toEqual([
      {
        field: 'spec.validations[0].expression',
        least: expect.any(Number) as number,
        most: expect.any(Number) as number,
        limitPassedAt: undefined,
      },
    ]);
    expect(findings).toEqual([]);
  });

  it('is no reason for a word where one list is gone through, however long it may be', () => {
    const { expressions, findings } = report([`${LIST}.all(c, c.image.contains(object.metadata.name))`]);
    expect(expressions[0]?.most).toBeUndefined();
    expect(expressions[0]?.limitPassedAt).toBeGreaterThan(100);
    expect(findings).toEqual([]);
  });

  it('is noted where loops multiply at ordinary sizes, with the loops, innermost first', () => {
    const four = `${LIST}.all(a, a.env.all(b, ${LIST}.all(c, c.env.all(d, b.name != d.name))))`;
    const [found] = report([four]).findings;
    expect(found).toMatchObject({ code: 'LINT_COST_SIZE', field: 'spec.validations[0].expression' });
    expect(found?.message).toContain(
      `by c.env.all(…) within ${LIST}.all(…) within a.env.all(…) within ${LIST}.all(…)`,
    );
    const [, size = ''] = /lists of (\d+) elements/.exec(found?.message ?? '') ?? [];
    expect(Number(size)).toBeLessThan(30);
  });

  it('is warned of where it is too much whatever the sizes are: the third question to the authorizer', () => {
    expect(report([`${CHECK} || ${CHECK}`]).findings).toEqual([]);
    expect(report([`${CHECK} || ${CHECK} || ${CHECK}`]).findings.map(({ code }) => code)).toEqual([
      'LINT_COST_LIMIT',
    ]);
  });

  it.each([
    ['of validations', 29, { validations: 29 }, 'spec.validations'],
    ['of match conditions', 8, { matchConditions: 8 }, 'spec.matchConditions'],
    ['of audit annotations', 29, { auditAnnotations: 29 }, 'spec.auditAnnotations'],
  ])('is compared with the budget %s', (_what, count, of, field) => {
    const many = Array.from({ length: count }, (_, i) => i);
    const change: Partial<Policy> = {
      matchConditions:
        'matchConditions' in of ? many.map((i) => ({ name: `c${String(i)}`, expression: CHECK })) : [],
      auditAnnotations:
        'auditAnnotations' in of
          ? many.map((i) => ({ key: `k${String(i)}`, valueExpression: `${CHECK} ? 'a' : 'b'` }))
          : [],
    };
    const { findings } = report('validations' in of ? many.map(() => CHECK) : ['true'], change);
    expect(findings).toMatchObject([{ code: 'LINT_COST_BUDGET', field }]);
    const fewer: Partial<Policy> = {
      matchConditions: (change.matchConditions ?? []).slice(1),
      auditAnnotations: (change.auditAnnotations ?? []).slice(1),
    };
    expect(report('validations' in of ? many.slice(1).map(() => CHECK) : ['true'], fewer).findings).toEqual(
      [],
    );
  });
});
