/** Findings about the fields of an object that somebody writes, and the status they become (vap.md §2.1). */
import { goQuote } from '../cel/libraries/go-text.ts';
import { goJson } from './go-strings.ts';

export interface FieldError {
  /** Machine-readable: what a cause of a status has as its reason. */
  readonly type: FieldErrorType;
  /** Such as `spec.validations[0].expression`. */
  readonly field: string;
  /** Without the field. */
  readonly body: string;
}

export type FieldErrorType =
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueRequired'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'InternalError';

/** `metav1.Status` of an object that is refused. */
export interface WriteStatus {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure';
  readonly message: string;
  readonly reason: 'Invalid' | 'BadRequest';
  readonly details?: {
    readonly name?: string;
    readonly group: string;
    readonly kind: string;
    readonly causes: readonly StatusCause[];
  };
  readonly code: 400 | 422;
}

export interface StatusCause {
  readonly reason: FieldErrorType;
  readonly message: string;
  readonly field: string;
}

/** A value as a finding shows it: Go tells texts of a plain type from all others. */
export interface Shown {
  readonly shown: string;
}

export function shownText(value: string): Shown {
  return { shown: goQuote(value) };
}

/** Lists, structs, and texts of a type with a name, such as an operation. */
export function shownJson(value: unknown): Shown {
  return { shown: goJson(value) };
}

export function required(field: string, detail = ''): FieldError {
  return { type: 'FieldValueRequired', field, body: withDetail('Required value', detail) };
}

export function forbidden(field: string, detail: string): FieldError {
  return { type: 'FieldValueForbidden', field, body: withDetail('Forbidden', detail) };
}

export function invalid(field: string, { shown }: Shown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, body: withDetail(`Invalid value: ${shown}`, detail) };
}

export function duplicate(field: string, { shown }: Shown): FieldError {
  return { type: 'FieldValueDuplicate', field, body: `Duplicate value: ${shown}` };
}

/** @param value of a type with a name; @param supported in the order in which they are told */
export function notSupported(field: string, value: string, supported: readonly string[]): FieldError {
  const detail = `supported values: ${supported.map(goQuote).join(', ')}`;
  return {
    type: 'FieldValueNotSupported',
    field,
    body: withDetail(`Unsupported value: ${goJson(value)}`, detail),
  };
}

export function tooMany(field: string, count: number, limit: number): FieldError {
  const body = `Too many: ${String(count)}: must have at most ${String(limit)} items`;
  return { type: 'FieldValueTooMany', field, body };
}

export function tooLong(field: string, limitBytes: number): FieldError {
  const body = `Too long: may not be more than ${String(limitBytes)} bytes`;
  return { type: 'FieldValueTooLong', field, body };
}

export function internal(field: string, detail: string): FieldError {
  return { type: 'InternalError', field, body: withDetail('Internal error', detail) };
}

function withDetail(head: string, detail: string): string {
  return detail === '' ? head : `${head}: ${detail}`;
}

/** What was written: it names the object in a status. */
export interface Written {
  readonly group: string;
  readonly kind: string;
  /** Empty where it has none. */
  readonly name: string;
}

/** @param errors at least one; each is a cause, and what says the same twice is in the message once */
export function invalidStatus({ group, kind, name }: Written, errors: readonly FieldError[]): WriteStatus {
  const texts = [...new Set(errors.map(({ field, body }) => `${field}: ${body}`))];
  const list = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${kind}.${group} ${goQuote(name)} is invalid: ${list}`,
    reason: 'Invalid',
    details: {
      ...(name === '' ? {} : { name }),
      group,
      kind,
      causes: errors.map(({ type, field, body }) => ({ reason: type, message: body, field })),
    },
    code: 422,
  };
}

/** @param fault of the decoder (read.ts) */
export function unreadableStatus(kind: string, fault: string): WriteStatus {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${kind} in version "v1" cannot be handled as a ${kind}: ${fault}`,
    reason: 'BadRequest',
    code: 400,
  };
}
