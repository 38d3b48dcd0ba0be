/** The status by which the API server refuses a write, as the verdict of a webhook. */
import type { FindingCode } from '../finding.ts';
import type { Denied } from '../verdict.ts';
import { invalidStatus, type FieldError, type Written, type WriteStatus } from './field-error.ts';

/**
 * UTF-16 units of the message, and of all causes: findings repeat expressions, so that a hostile policy would be answered
 * by many times its own size. Nobody reads as much.
 */
const MAX_LENGTH = 256 * 1024;

/** @param warnings in the API server's words; some come with a refusal too */
function refusedWrite(
  { message, reason, code, details }: WriteStatus,
  warnings: readonly string[],
  finding: FindingCode,
): Denied {
  let left = MAX_LENGTH;
  const causes = (details?.causes ?? []).filter((cause) => {
    left -= cause.message.length + cause.field.length;
    return left >= 0;
  });
  const { name, group, kind } = details ?? {};
  return {
    allowed: false,
    code,
    reason,
    message: message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH)}…` : message,
    causes,
    ...(group === undefined || kind === undefined
      ? {}
      : { object: { ...(name === undefined ? {} : { name }), group, kind } }),
    codes: [finding],
    warnings,
    auditAnnotations: {},
  };
}

/** Refused because of what its writer may do, or of what nobody may. */
export function forbiddenWrite(
  written: Written,
  error: FieldError,
  warnings: readonly string[],
  finding: 'POLICY_PARAM_KIND' | 'POLICY_WRITER_RIGHTS',
): Denied {
  return refusedWrite(invalidStatus(written, [error]), warnings, finding);
}

export function invalidWrite(status: WriteStatus, warnings: readonly string[]): Denied {
  return refusedWrite(status, warnings, 'POLICY_WRITE_INVALID');
}
