/**
 * What a policy costs at most, against the limits of the API server (vap.md B01). Sizes are in the requests, so that
 * the worst case is nearly always unbounded and says nothing: it is asked instead from which size of lists and texts
 * on a limit may be passed.
 */
import type { Expr } from '../cel/ast.ts';
import type { Checked } from '../cel/checker.ts';
import { estimateCost } from '../cel/estimate.ts';
import { UNBOUNDED } from '../cel/estimate-range.ts';
import { print } from '../cel/printer.ts';
import { finding, type LintFinding } from './lint-finding.ts';
import type { ExpressionRole, Subject, SubjectExpression } from './traps/subject.ts';
import { childrenOf } from './traps/walk-expression.ts';

const EXPRESSION_LIMIT = 1_000_000n;
const BUDGETS = {
  matchConditions: 2_500_000n,
  validations: 10_000_000n,
  auditAnnotations: 10_000_000n,
} as const;

/** Whose expressions are paid from which budget; a variable may be paid from each. */
const ROLES: Readonly<Record<Budget, readonly ExpressionRole[]>> = {
  matchConditions: ['condition'],
  validations: ['variable', 'validation', 'message'],
  auditAnnotations: ['variable', 'annotation'],
};

type Budget = keyof typeof BUDGETS;

/** Sizes above are not asked about: a request has 3 MiB. */
const MAX_SIZE = 100_000;
/** Lists and texts of that size are in ordinary objects: below it a passed limit is worth a word. */
const ORDINARY_SIZE = 30;
/** Of a loop that is quoted. */
const MAX_QUOTED = 100;

export interface ExpressionCost {
  readonly field: string;
  readonly least: number;
  /** Undefined where nothing bounds it. */
  readonly most: number | undefined;
  /** Elements of each list and characters of each text from which on it may pass 1,000,000; undefined: never. */
  readonly limitPassedAt: number | undefined;
}

export interface BudgetCost {
  readonly budget: Budget;
  readonly limit: number;
  readonly passedAt: number | undefined;
}

export interface CostReport {
  readonly expressions: readonly ExpressionCost[];
  readonly budgets: readonly BudgetCost[];
}

type Paid = SubjectExpression & { readonly checked: Checked };

export function costReport({ expressions }: Subject): CostReport {
  const checked = expressions.flatMap((one): Paid[] =>
    one.checked === undefined ? [] : [{ ...one, checked: one.checked }],
  );
  return {
    expressions: checked.map((one) => {
      const { min, max } = estimateCost(one.checked);
      return {
        field: one.field,
        least: Number(min),
        most: max === UNBOUNDED ? undefined : Number(max),
        limitPassedAt: sizeThatPasses(EXPRESSION_LIMIT, (size) => estimateCost(one.checked, size).max),
      };
    }),
    budgets: (Object.keys(BUDGETS) as Budget[]).flatMap((budget) => {
      const paid = checked.filter(({ role }) => ROLES[budget].includes(role));
      if (paid.every(({ role }) => role === 'variable')) return [];
      const limit = BUDGETS[budget];
      return [{ budget, limit: Number(limit), passedAt: sizeThatPasses(limit, (size) => sumAt(paid, size)) }];
    }),
  };
}

/** One that passes its own limit ends there. */
function sumAt(paid: readonly Paid[], size: bigint): bigint {
  return paid.reduce((sum, { checked }) => {
    const { max } = estimateCost(checked, size);
    return sum + (max > EXPRESSION_LIMIT ? EXPRESSION_LIMIT : max);
  }, 0n);
}

/** Costs grow with sizes. */
function sizeThatPasses(limit: bigint, costAt: (size: bigint) => bigint): number | undefined {
  const passes = (size: number): boolean => costAt(BigInt(size)) > limit;
  if (!passes(MAX_SIZE)) return undefined;
  let [below, above] = [-1, MAX_SIZE];
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    if (passes(middle)) above = middle;
    else below = middle;
  }
  return above;
}

export function costFindings(report: CostReport, { expressions }: Subject): readonly LintFinding[] {
  const found = report.expressions.flatMap(({ field, limitPassedAt }) => {
    if (limitPassedAt === undefined || limitPassedAt > ORDINARY_SIZE) return [];
    const expr = expressions.find((one) => one.field === field)?.checked?.ast.expr;
    const loop = expr === undefined ? undefined : deepestLoop(expr);
    if (limitPassedAt <= 1) {
      return [
        finding(
          'LINT_COST_LIMIT',
          field,
          `may cost more than 1,000,000, the limit of an expression, whatever the request holds${by(loop)}: it has no result then; ask less in one expression`,
        ),
      ];
    }
    return [
      finding(
        'LINT_COST_SIZE',
        field,
        `may cost more than 1,000,000, the limit of an expression, from lists of ${String(limitPassedAt)} elements and texts of ${String(limitPassedAt)} characters on${by(loop)}: it has no result then; go through the lists one after the other, or look at fewer texts`,
      ),
    ];
  });
  const budgets = report.budgets.flatMap(({ budget, limit, passedAt }) => {
    if (passedAt === undefined || passedAt > ORDINARY_SIZE) return [];
    return [
      finding(
        'LINT_COST_BUDGET',
        `spec.${budget}`,
        `may together cost more than their budget of ${limit.toLocaleString('en-US')} from lists of ${String(passedAt)} elements and texts of ${String(passedAt)} characters on: the whole policy fails then; split it`,
      ),
    ];
  });
  return [...found, ...budgets];
}

function by(loop: readonly string[] | undefined): string {
  return loop === undefined || loop.length === 0 ? '' : `, by ${loop.join(' within ')}`;
}

/** The loops of which each is in the one before, innermost first. */
function deepestLoop(expr: Expr): readonly string[] {
  let deepest: readonly string[] = [];
  for (const child of childrenOf(expr)) {
    const below = deepestLoop(child);
    if (below.length > deepest.length) deepest = below;
  }
  if (expr.kind !== 'macro') return deepest;
  const text = `${print(expr.range)}.${expr.macro}(…)`;
  return [...deepest, text.length > MAX_QUOTED ? `…${text.slice(-MAX_QUOTED)}` : text];
}
