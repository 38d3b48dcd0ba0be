/** Write-time rules of ValidatingAdmissionPolicyBinding, in the API server's order and words (vap.md V13, V14). */
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  shownJson,
  type FieldError,
} from './field-error.ts';
import { readBinding } from './read.ts';
import type { Binding, ParamRef } from './types.ts';
import { matchErrors, selectorErrors } from './validate-match.ts';
import { each, nameFaults, segmentFaults } from './validate-metadata.ts';
import { answerWrite, atOnce, type InSteps, type WriteAnswer, type WriteOptions } from './write-answer.ts';

const ACTIONS = ['Audit', 'Deny', 'Warn'];
const NOT_FOUND_ACTIONS = ['Deny', 'Allow'];
const ONE_OF_TWO = 'name and selector are mutually exclusive';

/** What the API server would answer to whoever writes this object. Who may read the params is not asked (vap.md F10). */
export function answerBindingWrite(object: unknown, options: WriteOptions): WriteAnswer {
  return atOnce(bindingWrite(object, options));
}

/** As `answerBindingWrite`, in steps. */
export function bindingWrite(object: unknown, options: WriteOptions): InSteps<WriteAnswer> {
  return answerWrite(object, 'ValidatingAdmissionPolicyBinding', readBinding, bindingRules, options);
}

function* bindingRules(binding: Binding): InSteps<readonly FieldError[]> {
  yield;
  return bindingErrors(binding);
}

function bindingErrors({ policyName, paramRef, matchResources, validationActions }: Binding): FieldError[] {
  return [
    ...(policyName === ''
      ? [required('spec.policyName')]
      : each(nameFaults(policyName), 'spec.policyName', policyName)),
    ...(paramRef === undefined ? [] : paramRefErrors(paramRef, 'spec.paramRef')),
    ...(matchResources === undefined ? [] : matchErrors(matchResources, 'spec.matchResources')),
    ...actionErrors(validationActions, 'spec.validationActions'),
  ];
}

function paramRefErrors(paramRef: ParamRef, field: string): FieldError[] {
  const { name = '', selector, parameterNotFoundAction: action = '' } = paramRef;
  const errors: FieldError[] = each(segmentFaults(name), `${field}.name`, name);
  if (name !== '' && selector !== undefined) errors.push(forbidden(`${field}.name`, ONE_OF_TWO));
  if (selector !== undefined) {
    errors.push(...selectorErrors(selector, `${field}.selector`));
    if (name !== '') errors.push(forbidden(`${field}.selector`, ONE_OF_TWO));
  }
  if (name === '' && selector === undefined) {
    errors.push(required(field, 'one of name or selector must be specified'));
  }
  if (action === '') errors.push(required(`${field}.parameterNotFoundAction`));
  else if (!NOT_FOUND_ACTIONS.includes(action)) {
    errors.push(notSupported(`${field}.parameterNotFoundAction`, action, NOT_FOUND_ACTIONS));
  }
  return errors;
}

function actionErrors(actions: readonly string[], field: string): FieldError[] {
  if (actions.length === 0) return [required(field, 'at least one validation action is required')];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    const at = `${field}[${String(index)}]`;
    if (!ACTIONS.includes(action)) errors.push(notSupported(at, action, ACTIONS));
    if (seen.has(action)) errors.push(duplicate(at, shownJson(action)));
    seen.add(action);
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(invalid(field, shownJson(actions), detail));
  }
  return errors;
}
