import { type Constraint, parseConstraint } from '../../../src/policies/contract/constraint.ts';
import { type Version, parseVersion } from '../../../src/policies/contract/version.ts';

export function version(text: string): Version {
  const parsed = parseVersion(text);
  if (parsed === undefined) throw new Error(`${text} is no version`);
  return parsed;
}

export function constraint(text: string): Constraint {
  const parsed = parseConstraint(text);
  if (!parsed.ok) throw new Error(`${text} is no constraint: ${parsed.reason}`);
  return parsed.constraint;
}
