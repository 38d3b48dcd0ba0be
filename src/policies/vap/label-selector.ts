/** Label selectors, as apimachinery reads and applies them. */
import type { LabelRequirement, LabelSelector } from './types.ts';

export type Labels = Readonly<Record<string, string>>;

export function isEmptySelector(selector: LabelSelector): boolean {
  return selector.matchExpressions.length === 0 && Object.keys(selector.matchLabels).length === 0;
}

/**
 * Why the API server cannot use the selector; write-time validation lets none of these in.
 *
 * @returns undefined for one that can be used
 */
export function selectorFault(selector: LabelSelector): string | undefined {
  for (const { operator, values } of selector.matchExpressions) {
    switch (operator) {
      case 'In':
      case 'NotIn':
        if (values.length === 0) {
          return "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty";
        }
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0) {
          return `values: Invalid value: [${values.join(' ')}]: values set must be empty for exists and does not exist`;
        }
        break;
      default:
        return `"${operator}" is not a valid label selector operator`;
    }
  }
  return undefined;
}

/** @param selector one without fault */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels)) {
    if (!Object.hasOwn(labels, key) || labels[key] !== value) return false;
  }
  return selector.matchExpressions.every((requirement) => isMet(requirement, labels));
}

function isMet({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
}

/**
 * Labels of an object that somebody sent.
 *
 * @returns undefined where the object has no metadata at all (options of a CONNECT, vap.md M03); no labels where they
 * are not a map of strings.
 */
export function labelsOf(object: unknown): Labels | undefined {
  const metadata = member(object, 'metadata');
  if (metadata === undefined) return undefined;
  const labels = member(metadata, 'labels');
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels)) return {};
  return Object.values(labels).every((value) => typeof value === 'string') ? (labels as Labels) : {};
}

/** An own member of something that should be an object. */
export function member(object: unknown, key: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, key)) return undefined;
  return (object as Readonly<Record<string, unknown>>)[key];
}
