/** A label selector as the query of a list writes it. */
import type { LabelRequirement, LabelSelector } from '../policies/vap/types.ts';

/** As the API server has them for labels: what is none would be read as something else. */
const KEY = /^(?:[a-z0-9][-a-z0-9.]{0,252}\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** @returns undefined where a key or a value can be none of a label; empty for a selector that selects everything. */
export function selectorText({ matchLabels, matchExpressions }: LabelSelector): string | undefined {
  const requirements: readonly LabelRequirement[] = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...matchExpressions,
  ];
  const texts = requirements.map(requirementText);
  return texts.every((text) => text !== undefined) ? texts.join(',') : undefined;
}

function requirementText({ key, operator, values }: LabelRequirement): string | undefined {
  if (!KEY.test(key) || !values.every((value) => VALUE.test(value))) return undefined;
  const [only, ...more] = [...new Set(values)];
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'In':
    case 'NotIn': {
      if (only === undefined) return undefined;
      const isIn = operator === 'In';
      if (more.length === 0) return `${key}${isIn ? '=' : '!='}${only}`;
      return `${key} ${isIn ? 'in' : 'notin'} (${[only, ...more].join(',')})`;
    }
    default:
      return undefined;
  }
}
