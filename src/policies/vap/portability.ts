/**
 * Which API servers take an expression. One that is new must compile with what the release before knew (design
 * decision 21, vap.md V16), one that is stored with what the release itself knows.
 */
import type { Expr } from '../cel/ast.ts';
import type { Cel } from '../cel/cel.ts';
import type { Checked } from '../cel/checker.ts';
import { LISTS_SINCE, OPTIONALS_SINCE, TWO_VARIABLES_SINCE } from '../cel/environment.ts';
import { typeString } from '../cel/type-format.ts';
import { finding, type LintFinding } from './lint-finding.ts';
import { expressionsOf, PolicyEnvironments } from './traps/subject.ts';
import type { ExpressionRole, Subject, SubjectExpression } from './traps/subject.ts';
import { nodesOf } from './traps/walk-expression.ts';
import type { Policy } from './types.ts';

/** Minors of the versions that are known; the last one is preview. */
const FIRST_MINOR = 26;
const LAST_MINOR = 37;
/** First minor whose API servers have policies without being asked to: what needs no more than that needs nothing. */
export const POLICIES_SINCE = 30;

export interface ExpressionVersions {
  readonly field: string;
  /** Minor of the first API server that takes it when it is new, such as 32; undefined: none that is known. */
  readonly new: number | undefined;
  /** Minor of the first API server that evaluates it where it is stored. */
  readonly stored: number | undefined;
  /** What it uses that the versions before do not know. */
  readonly uses: readonly string[];
}

export interface VersionOptions {
  /** Minor of the API server that is imitated. */
  readonly minor: number;
  /** Minor of the oldest API server that shall take the policy. */
  readonly from?: number;
  /** Fields of the expressions that are stored already, and not changed (vap.md V16). */
  readonly unchanged?: ReadonlySet<string>;
}

/** @returns one for each expression that compiles at all */
export function versionsOf({ policy, expressions }: Subject, cel: Cel): readonly ExpressionVersions[] {
  const compiles = new Compiles(policy, expressions, cel);
  return expressions.flatMap((expression, index) => {
    if (expression.checked === undefined || hasWrongType(expression)) return [];
    const stored = compiles.leastMinor(index);
    if (stored === undefined) return [];
    return [
      {
        field: expression.field,
        stored,
        // The release before that one does not know it: it is too early for what is new.
        new: stored === FIRST_MINOR ? FIRST_MINOR : stored + 1,
        uses: stored === FIRST_MINOR ? [] : usesOf(expression.checked, stored),
      },
    ];
  });
}

function hasWrongType({ returns, checked }: SubjectExpression): boolean {
  if (returns === undefined || checked === undefined) return false;
  return !returns.map(typeString).includes(typeString(checked.type));
}

/** Whether each expression of a policy compiles, by version. */
class Compiles {
  readonly #cel: Cel;
  readonly #policy: Policy;
  readonly #expressions: readonly SubjectExpression[];
  readonly #byMinor = new Map<number, readonly boolean[]>();

  constructor(policy: Policy, expressions: readonly SubjectExpression[], cel: Cel) {
    this.#policy = policy;
    this.#expressions = expressions;
    this.#cel = cel;
  }

  /** The first from which on all know it. */
  leastMinor(index: number): number | undefined {
    if (this.#at(FIRST_MINOR)[index] === true) return FIRST_MINOR;
    let least: number | undefined;
    for (let minor = LAST_MINOR; minor > FIRST_MINOR && this.#at(minor)[index] === true; minor--)
      least = minor;
    return least;
  }

  #at(minor: number): readonly boolean[] {
    let known = this.#byMinor.get(minor);
    if (known === undefined) this.#byMinor.set(minor, (known = this.#compileAll(minor)));
    return known;
  }

  #compileAll(minor: number): readonly boolean[] {
    const environments = new PolicyEnvironments(this.#cel, this.#policy, { minor, mode: 'new' });
    return this.#expressions.map(({ role, index, source }) => {
      const checked = this.#cel.check(source, environments.of(role));
      if (role !== 'variable') return checked.ok;
      const name = this.#policy.variables[index]?.name ?? '';
      // What uses it is not to blame: it is as if its type were known.
      environments.declare(name, this.#expressionType(index) ?? (checked.ok ? checked.type : undefined));
      return checked.ok;
    });
  }

  #expressionType(index: number): Checked['type'] | undefined {
    return this.#expressions.find((one) => one.role === 'variable' && one.index === index)?.checked?.type;
  }
}

/** Names of what came with this version, in the order of the source. */
function usesOf(checked: Checked, since: number): readonly string[] {
  const uses = new Set<string>();
  for (const node of nodesOf(checked.ast.expr)) {
    const syntax = syntaxOf(node);
    if (syntax?.since === since) uses.add(syntax.name);
    const reference = checked.references.get(node.id);
    if (reference?.kind !== 'function' || node.kind === 'macro') continue;
    const first = Math.min(...reference.overloads.map((overload) => overload.since));
    const name = functionName(reference.function.name);
    if (first === since && name !== undefined) uses.add(name);
  }
  return [...uses];
}

/** @returns undefined for an operator that is named as syntax */
function functionName(name: string): string | undefined {
  if (/^_[<>=!]+_$/.test(name)) return `comparing numbers of different types by ${name.slice(1, -1)}`;
  return /^[A-Za-z]/.test(name) ? `${name}()` : undefined;
}

function syntaxOf(node: Expr): { readonly since: number; readonly name: string } | undefined {
  switch (node.kind) {
    case 'select':
      return node.optional ? { since: OPTIONALS_SINCE, name: '.?' } : undefined;
    case 'call':
      return node.function === '_[?_]' ? { since: OPTIONALS_SINCE, name: '[?]' } : undefined;
    case 'macro': {
      const name = `${node.macro}()`;
      if (node.macro === 'optMap' || node.macro === 'optFlatMap') return { since: OPTIONALS_SINCE, name };
      if (node.macro === 'sortBy') return { since: LISTS_SINCE, name };
      const two = node.variables.length === 2;
      return two ? { since: TWO_VARIABLES_SINCE, name: `${name} of two variables` } : undefined;
    }
    default:
      return undefined;
  }
}

/** Fields of the expressions that stand in the stored policy too; variables are looked for among its validations. */
export function unchangedFields(policy: Policy, old: Policy): ReadonlySet<string> {
  const before = expressionsOf(old);
  const isStored = (role: ExpressionRole, source: string): boolean =>
    before.some((one) => one.role === (role === 'variable' ? 'validation' : role) && one.source === source);
  return new Set(
    expressionsOf(policy)
      .filter(({ role, source }) => isStored(role, source))
      .map(({ field }) => field),
  );
}

export function versionFindings(
  versions: readonly ExpressionVersions[],
  { minor, from, unchanged }: VersionOptions,
): readonly LintFinding[] {
  return versions.flatMap((one) => {
    const { field, stored } = one;
    const first = unchanged?.has(field) === true ? stored : one.new;
    if (first === undefined || stored === undefined) return [];
    const uses = one.uses.length === 0 ? '' : ` (it uses ${one.uses.join(', ')})`;
    const needs = `needs Kubernetes 1.${String(one.new)} where it is new, 1.${String(stored)} where it is stored${uses}`;
    if (first > minor) {
      const then = `an API server of 1.${String(minor)} refuses it; the webhook of pacto-gate evaluates it in front of any version`;
      return [finding('LINT_VERSION_REFUSED', field, `${needs}: ${then}`)];
    }
    if (from !== undefined && first > from) {
      return [
        finding('LINT_VERSION_RANGE', field, `${needs}: API servers from 1.${String(from)} on shall take it`),
      ];
    }
    if (from !== undefined || first <= POLICIES_SINCE) return [];
    const then =
      'older API servers refuse it; the webhook of pacto-gate evaluates it in front of any version';
    return [finding('LINT_VERSION_NEEDED', field, `${needs}: ${then}`)];
  });
}
