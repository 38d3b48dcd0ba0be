/** What `preflight` can find. Each code is explained in docs/preflight.md (a test compares both ways). */

/**
 * - `problem`: something is not enforced as it should be, or can lock the gate or the cluster: the answer is no.
 * - `warning`: an operator should know, and may have meant it.
 * - `note`: what could not be looked at from here, or holds in another way.
 */
export type PreflightLevel = 'problem' | 'warning' | 'note';

export const PREFLIGHT_CODES = {
  PREFLIGHT_CONFIGURATION_MISSING: 'problem',
  PREFLIGHT_ENTRY_MISSING: 'problem',
  PREFLIGHT_ENTRY_EXTRA: 'problem',
  PREFLIGHT_ENTRY_WIDER: 'problem',
  PREFLIGHT_ENTRY_NARROWER: 'problem',
  PREFLIGHT_ENTRY_DIFFERS: 'problem',
  PREFLIGHT_CONDITIONS: 'problem',
  PREFLIGHT_FAILURE_POLICY: 'problem',
  PREFLIGHT_TARGET: 'problem',
  PREFLIGHT_CA_BUNDLE: 'problem',
  PREFLIGHT_REVIEW: 'problem',
  PREFLIGHT_TIMEOUT: 'warning',
  PREFLIGHT_NATIVE: 'note',
  PREFLIGHT_NOT_COMPARED: 'note',
  PREFLIGHT_PATH_TWICE: 'problem',
  PREFLIGHT_RECOVERY_BLOCKED: 'problem',
  PREFLIGHT_COMFORT_BLOCKED: 'warning',
  PREFLIGHT_RECOVERY_DELAYED: 'note',
  PREFLIGHT_FOREIGN_ENTRY: 'warning',
  PREFLIGHT_NAMESPACE_COVERED: 'problem',
  PREFLIGHT_NO_SELECTOR: 'problem',
  PREFLIGHT_NAMESPACE_UNNAMED: 'problem',
  PREFLIGHT_NAMESPACE_DEFAULT: 'warning',
  PREFLIGHT_EXCLUSION_MISSING: 'warning',
  PREFLIGHT_POINTER_BLOCKED: 'problem',
  PREFLIGHT_NATIVE_LOCK: 'problem',
  PREFLIGHT_POLICY: 'warning',
  PREFLIGHT_AUTH_NONE: 'warning',
  PREFLIGHT_SERVICE_MISSING: 'problem',
  PREFLIGHT_SERVICE_NOT_READY: 'problem',
  PREFLIGHT_CERTIFICATE_UNTRUSTED: 'problem',
  PREFLIGHT_CERTIFICATE_EXPIRES: 'problem',
  PREFLIGHT_CERTIFICATE_NOT_CHECKED: 'note',
} as const satisfies Record<string, PreflightLevel>;

export type PreflightCode = keyof typeof PREFLIGHT_CODES;

export interface Finding {
  readonly code: PreflightCode;
  readonly level: PreflightLevel;
  /** `ValidatingWebhookConfiguration pacto-gate-policies, entry x`. */
  readonly where: string;
  /** What is so. */
  readonly what: string;
  /** What comes of it, one sentence. */
  readonly consequence: string;
  readonly next: string;
}

export function finding(
  code: PreflightCode,
  where: string,
  what: string,
  consequence: string,
  next: string,
): Finding {
  return { code, level: PREFLIGHT_CODES[code], where, what, consequence, next };
}

/** What could not be found out: never counted as fine. */
export interface Unknown {
  readonly what: string;
  readonly why: string;
}
