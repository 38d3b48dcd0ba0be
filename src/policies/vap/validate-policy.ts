/** Write-time rules of ValidatingAdmissionPolicy, in the API server's order and words (vap.md V01 to V17). */
import { label1035Faults, labelKeyFaults, subdomainFaults } from '../cel/libraries/kubernetes-names.ts';
import { utf8Length } from '../cel/sizes.ts';
import {
  duplicate,
  invalid,
  notSupported,
  required,
  shownJson,
  shownText,
  tooMany,
  type FieldError,
} from './field-error.ts';
import { trimSpace } from './go-strings.ts';
import { isIdentifier } from './identifiers.ts';
import { readPolicy } from './read.ts';
import type { AuditAnnotation, MatchCondition, ParamKind, Policy, Validation, Variable } from './types.ts';
import { ExpressionRules } from './validate-expressions.ts';
import { matchErrors } from './validate-match.ts';
import { each } from './validate-metadata.ts';
import { answerWrite, atOnce, type InSteps, type WriteAnswer, type WriteOptions } from './write-answer.ts';

const FAILURE_POLICIES = ['Fail', 'Ignore'];
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const MAX_MATCH_CONDITIONS = 64;
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;
const NOTHING_TO_DO = 'validations or auditAnnotations must contain at least one item';

/** What the API server would answer to whoever writes this object. Who may use the paramKind is not asked (vap.md F10). */
export function answerPolicyWrite(object: unknown, options: WriteOptions): WriteAnswer {
  return atOnce(policyWrite(object, options));
}

/** As `answerPolicyWrite`, with a step after each expression. */
export function policyWrite(object: unknown, options: WriteOptions): InSteps<WriteAnswer> {
  const rules = (policy: Policy, name: string, old: Policy | undefined): InSteps<readonly FieldError[]> =>
    policyErrors(policy, name, new ExpressionRules(options.cel, options.minor, policy, old), old);
  return answerWrite(object, 'ValidatingAdmissionPolicy', readPolicy, rules, options);
}

function* policyErrors(
  policy: Policy,
  name: string,
  expressions: ExpressionRules,
  old: Policy | undefined,
): InSteps<readonly FieldError[]> {
  const { failurePolicy, paramKind, matchConstraints, validations, auditAnnotations } = policy;
  const errors: FieldError[] = [];
  if (!FAILURE_POLICIES.includes(failurePolicy)) {
    errors.push(notSupported('spec.failurePolicy', failurePolicy, FAILURE_POLICIES));
  }
  if (paramKind !== undefined) errors.push(...paramKindErrors(paramKind, 'spec.paramKind'));
  if (matchConstraints === undefined) errors.push(required('spec.matchConstraints'));
  else {
    errors.push(...matchErrors(matchConstraints, 'spec.matchConstraints'));
    if (matchConstraints.resourceRules.length === 0) {
      errors.push(required('spec.matchConstraints.resourceRules'));
    }
  }
  if (old === undefined || !sameConditions(policy, old)) {
    errors.push(...(yield* conditionErrors(policy.matchConditions, expressions)));
  }
  for (const [index, variable] of policy.variables.entries()) {
    errors.push(...variableErrors(variable, `spec.variables[${String(index)}]`, expressions));
    yield;
  }
  if (validations.length === 0 && auditAnnotations.length === 0) {
    errors.push(
      required('spec.validations', NOTHING_TO_DO),
      required('spec.auditAnnotations', NOTHING_TO_DO),
    );
    return errors;
  }
  for (const [index, validation] of validations.entries()) {
    errors.push(...validationErrors(validation, `spec.validations[${String(index)}]`, expressions));
    yield;
  }
  errors.push(...(yield* annotationErrors(auditAnnotations, name, expressions)));
  return errors;
}

/** Conditions are looked at again only where they, or what they may read, have changed. */
function sameConditions(policy: Policy, old: Policy): boolean {
  const looked = ({ paramKind, matchConditions }: Policy): string =>
    JSON.stringify([paramKind ?? null, matchConditions]);
  return looked(policy) === looked(old);
}

function paramKindErrors({ apiVersion, kind }: ParamKind, field: string): FieldError[] {
  return [...apiVersionErrors(apiVersion, `${field}.apiVersion`), ...kindErrors(kind, `${field}.kind`)];
}

function apiVersionErrors(apiVersion: string, field: string): FieldError[] {
  if (apiVersion === '') return [required(field)];
  const parts = apiVersion === '/' ? ['', ''] : apiVersion.split('/');
  if (parts.length > 2) {
    const detail = `unexpected GroupVersion string: ${apiVersion}`;
    return [invalid(field, shownText(apiVersion), detail)];
  }
  const errors: FieldError[] = [];
  const group = parts.length === 2 ? (parts[0] ?? '') : '';
  const groupFaults = group === '' ? [] : subdomainFaults(group);
  if (groupFaults.length > 0) errors.push(invalid(field, shownText(group), groupFaults.join(',')));
  const version = parts.at(-1) ?? '';
  if (version === '') {
    errors.push(invalid(field, shownText(apiVersion), 'version must be specified'));
    return errors;
  }
  const versionFaults = label1035Faults(version);
  if (versionFaults.length > 0) errors.push(invalid(field, shownText(version), versionFaults.join(',')));
  return errors;
}

function kindErrors(kind: string, field: string): FieldError[] {
  if (kind === '') return [required(field)];
  const faults = label1035Faults(kind.toLowerCase());
  if (faults.length === 0) return [];
  const detail = `may have mixed case, but should otherwise match: ${faults.join(',')}`;
  return [invalid(field, shownText(kind), detail)];
}

function* conditionErrors(
  conditions: readonly MatchCondition[],
  expressions: ExpressionRules,
): InSteps<readonly FieldError[]> {
  const field = 'spec.matchConditions';
  const errors: FieldError[] = [];
  if (conditions.length > MAX_MATCH_CONDITIONS) {
    errors.push(tooMany(field, conditions.length, MAX_MATCH_CONDITIONS));
  }
  const names = new Set<string>();
  for (const [index, { name, expression }] of conditions.entries()) {
    const at = `${field}[${String(index)}]`;
    const trimmed = trimSpace(expression);
    if (trimmed === '') errors.push(required(`${at}.expression`));
    else errors.push(...expressions.condition(trimmed, `${at}.expression`));
    yield;
    if (name === '') {
      errors.push(required(`${at}.name`));
      continue;
    }
    errors.push(...each(labelKeyFaults(name), `${at}.name`, name));
    if (names.has(name)) errors.push(duplicate(`${at}.name`, shownText(name)));
    names.add(name);
  }
  return errors;
}

function variableErrors(
  { name, expression }: Variable,
  field: string,
  expressions: ExpressionRules,
): FieldError[] {
  const errors: FieldError[] = [];
  if (trimSpace(name) === '') errors.push(required(`${field}.name`, 'name is not specified'));
  else if (!isIdentifier(name)) {
    errors.push(invalid(`${field}.name`, shownText(name), 'must be a valid CEL identifier'));
  }
  if (trimSpace(expression) === '') {
    errors.push(required(`${field}.expression`, 'expression is not specified'));
  } else errors.push(...expressions.variable(name, expression, `${field}.expression`));
  return errors;
}

function validationErrors(
  { expression, message, messageExpression, reason }: Validation,
  field: string,
  expressions: ExpressionRules,
): FieldError[] {
  const errors: FieldError[] = [];
  if (trimSpace(expression) === '') {
    errors.push(required(`${field}.expression`, 'expression is not specified'));
  } else errors.push(...expressions.validation(expression, `${field}.expression`));
  if (messageExpression !== undefined) {
    const at = `${field}.messageExpression`;
    if (trimSpace(messageExpression) === '') {
      errors.push(invalid(at, shownText(messageExpression), 'must be non-empty if specified'));
    } else errors.push(...expressions.message(messageExpression, at));
  }
  if (message !== undefined) errors.push(...messageErrors(message, `${field}.message`));
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(notSupported(`${field}.reason`, reason, REASONS));
  }
  return errors;
}

function messageErrors(message: string, field: string): FieldError[] {
  const trimmed = trimSpace(message);
  if (trimmed === '') return [invalid(field, shownText(message), 'must be non-empty if specified')];
  if (!/[\n\r]/.test(trimmed)) return [];
  return [invalid(field, shownText(message), 'must not contain line breaks')];
}

function* annotationErrors(
  annotations: readonly AuditAnnotation[],
  policyName: string,
  expressions: ExpressionRules,
): InSteps<readonly FieldError[]> {
  const field = 'spec.auditAnnotations';
  const errors: FieldError[] = [];
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) {
    // Members as they are called inside the API server.
    const shown = annotations.map(({ key, valueExpression }) => ({
      Key: key,
      ValueExpression: valueExpression,
    }));
    const detail = `must not have more than ${String(MAX_AUDIT_ANNOTATIONS)} auditAnnotations`;
    errors.push(invalid(field, shownJson(shown), detail));
  }
  const keys = new Set<string>();
  for (const [index, { key, valueExpression }] of annotations.entries()) {
    const at = `${field}[${String(index)}]`;
    errors.push(...keyErrors(policyName, key, `${at}.key`));
    errors.push(...valueErrors(valueExpression, `${at}.valueExpression`, expressions));
    if (keys.has(key)) errors.push(duplicate(`${at}.key`, shownText(key)));
    keys.add(key);
    yield;
  }
  return errors;
}

function keyErrors(policyName: string, key: string, field: string): FieldError[] {
  if (policyName === '') return [invalid(field, shownText(key), 'requires metadata.name be non-empty')];
  const name = `${policyName}/${key}`;
  return each(labelKeyFaults(name), field, name);
}

function valueErrors(valueExpression: string, field: string, expressions: ExpressionRules): FieldError[] {
  const trimmed = trimSpace(valueExpression);
  if (trimmed === '') return [required(field, 'valueExpression is not specified')];
  if (utf8Length(trimmed) > MAX_VALUE_EXPRESSION_BYTES) {
    return [required(field, `must not exceed ${String(MAX_VALUE_EXPRESSION_BYTES)} bytes in length`)];
  }
  return expressions.annotation(valueExpression, trimmed, field);
}
