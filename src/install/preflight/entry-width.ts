/** Which of two entries reaches further: by their rules, and by their selectors. */
import type { EntrySelector } from '../../policies/entry.ts';
import type { LiveRule } from './live-entry.ts';

/** Of a live entry beside what it should be. `differs`: each reaches what the other does not, or nobody can tell. */
export type Width = 'same' | 'wider' | 'narrower' | 'differs';

interface Atom {
  readonly group: string;
  readonly version: string;
  readonly operation: string;
  readonly resource: string;
  readonly scope: string;
}

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

export function compareRules(live: readonly LiveRule[], wanted: readonly LiveRule[]): Width {
  const here = live.flatMap(atomsOf);
  const there = wanted.flatMap(atomsOf);
  const isCovered = (atom: Atom, by: readonly Atom[]): boolean => by.some((other) => covers(other, atom));
  return widthOf(
    there.every((atom) => isCovered(atom, here)),
    here.every((atom) => isCovered(atom, there)),
  );
}

/** @param reachesAll whether all that should be reached is. @param staysInside whether nothing else is. */
function widthOf(reachesAll: boolean, staysInside: boolean): Width {
  if (reachesAll) return staysInside ? 'same' : 'wider';
  return staysInside ? 'narrower' : 'differs';
}

function atomsOf(rule: LiveRule): readonly Atom[] {
  const operations = rule.operations.includes('*') ? OPERATIONS : rule.operations;
  const scopes = rule.scope === '*' ? ['Cluster', 'Namespaced'] : [rule.scope];
  return rule.apiGroups.flatMap((group) =>
    rule.apiVersions.flatMap((version) =>
      operations.flatMap((operation) =>
        rule.resources.flatMap((resource) =>
          scopes.map((scope) => ({ group, version, operation, resource, scope })),
        ),
      ),
    ),
  );
}

function covers(wide: Atom, narrow: Atom): boolean {
  return (
    (wide.group === '*' || wide.group === narrow.group) &&
    (wide.version === '*' || wide.version === narrow.version) &&
    wide.operation === narrow.operation &&
    wide.scope === narrow.scope &&
    coversResource(wide.resource, narrow.resource)
  );
}

/** `pods/*` is the main resource and all below it; `*` every main resource (vap.md M05). */
function coversResource(wide: string, narrow: string): boolean {
  const [wideMain = '', wideSub = ''] = wide.split('/');
  const [main = '', sub = ''] = narrow.split('/');
  return (wideMain === '*' || wideMain === main) && (wideSub === '*' || wideSub === sub);
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export function compareSelectors(live: EntrySelector, wanted: EntrySelector): Width {
  const here = requirementsOf(live);
  const there = requirementsOf(wanted);
  const followFrom = (wants: readonly Requirement[], given: readonly Requirement[]): boolean =>
    wants.every((want) => given.some((one) => implies(one, want)));
  // What selects by less reaches further.
  return widthOf(followFrom(here, there), followFrom(there, here));
}

function requirementsOf({ matchLabels = {}, matchExpressions = [] }: EntrySelector): readonly Requirement[] {
  return [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator, values })),
  ];
}

/** Whether labels that meet `given` meet `want`. Where it says no, they may all the same: then both differ. */
function implies(given: Requirement, want: Requirement): boolean {
  if (given.key !== want.key) return false;
  const within = (inner: readonly string[], outer: readonly string[]): boolean =>
    inner.every((value) => outer.includes(value));
  switch (want.operator) {
    case 'In':
      return given.operator === 'In' && within(given.values, want.values);
    case 'NotIn':
      if (given.operator === 'In') return given.values.every((value) => !want.values.includes(value));
      return (
        given.operator === 'DoesNotExist' || (given.operator === 'NotIn' && within(want.values, given.values))
      );
    case 'Exists':
      return given.operator === 'Exists' || given.operator === 'In';
    default:
      return given.operator === want.operator;
  }
}

interface Condition {
  readonly name: string;
  readonly expression: string;
}

/** Each condition takes something away; their order decides nothing. */
export function compareConditions(live: readonly Condition[], wanted: readonly Condition[]): Width {
  const has = (list: readonly Condition[], one: Condition): boolean =>
    list.some(({ expression }) => expression.trim() === one.expression.trim());
  return widthOf(
    live.every((one) => has(wanted, one)),
    wanted.every((one) => has(live, one)),
  );
}

/** Of several parts, all of which must select. */
export function joinWidths(widths: readonly Width[]): Width {
  const found = new Set(widths.filter((width) => width !== 'same'));
  if (found.size === 0) return 'same';
  const [only] = found;
  return found.size === 1 && only !== undefined ? only : 'differs';
}
