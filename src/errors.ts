/**
 * Our errors: one closed list of codes, each explained in docs/errors.md (a test compares both ways).
 * Denials of a policy are not errors: their codes live in src/policies/finding.ts.
 */

/**
 * What the place that handles an error does with it:
 * - `input`: the caller's input is wrong; say so, a retry changes nothing.
 * - `retry`: a fault that may pass (network, overload, deadline).
 * - `configuration`: an operator must change something; retrying changes nothing.
 * - `internal`: our own fault.
 */
export type Disposition = 'input' | 'retry' | 'configuration' | 'internal';

export const ERROR_CODES = {
  GATE_INTERNAL: 'internal',
  GATE_DEADLINE_EXCEEDED: 'retry',
  GATE_OVERLOADED: 'retry',
  GATE_UNSYNCED: 'retry',
  GATE_TOO_MANY_OBJECTS: 'configuration',
  GATE_REVIEW_EMPTY: 'input',
  GATE_REVIEW_NOT_UTF8: 'input',
  GATE_REVIEW_NOT_JSON: 'input',
  GATE_REVIEW_TOO_DEEP: 'input',
  GATE_REVIEW_TOO_LARGE: 'input',
  GATE_REVIEW_MEDIA_TYPE: 'input',
  GATE_REVIEW_ENCODING: 'input',
  GATE_REVIEW_VERSION: 'input',
  GATE_REVIEW_INVALID: 'input',
  GATE_REVIEW_TIMEOUT: 'input',
  GATE_REVIEW_SLOW: 'input',
  GATE_HTTP_MALFORMED: 'input',
  GATE_HTTP_HEADERS: 'input',
  GATE_HTTP_NOT_FOUND: 'input',
  GATE_HTTP_METHOD: 'input',
  GATE_HTTP_NOT_TLS: 'input',
  GATE_WEBHOOK_UNKNOWN: 'configuration',
  GATE_CALLER_UNAUTHENTICATED: 'input',
  GATE_CALLER_GONE: 'retry',
  GATE_CALLER_FORBIDDEN: 'input',
  GATE_CALLER_UNVERIFIED: 'retry',
  GATE_TLS_PAIR: 'configuration',
  GATE_TLS_FILE: 'configuration',
  GATE_CONFIG_INVALID: 'configuration',
  GATE_CONFIG_FILE: 'configuration',
  GATE_CONFIG_UPSTREAM: 'configuration',
  GATE_CLUSTER_NOT_FOUND: 'input',
  GATE_CLUSTER_CONFLICT: 'retry',
  GATE_CLUSTER_EXISTS: 'input',
  GATE_CLUSTER_INVALID: 'input',
  GATE_CLUSTER_FORBIDDEN: 'configuration',
  GATE_CLUSTER_UNAUTHORIZED: 'configuration',
  GATE_CLUSTER_GONE: 'retry',
  GATE_CLUSTER_THROTTLED: 'retry',
  GATE_CLUSTER_UNREACHABLE: 'retry',
  GATE_CLUSTER_ANSWER: 'retry',
  GATE_CLUSTER_UNSUPPORTED: 'configuration',
  GATE_KUBECONFIG: 'configuration',
  GATE_DIRECTORY: 'configuration',
  GATE_INPUT_FILE: 'input',
  GATE_INSTALL_FOREIGN: 'configuration',
  GATE_INSTALL_INCOMPLETE: 'configuration',
  GATE_NOT_LEADING: 'retry',
  GATE_POLICY_FILE: 'configuration',
  GATE_POLICY_INVALID: 'configuration',
  GATE_POLICY_PARAMS: 'configuration',
  GATE_REGISTRY_REFERENCE: 'input',
  GATE_REGISTRY_AUTHENTICATION: 'configuration',
  GATE_REGISTRY_NOT_FOUND: 'input',
  GATE_REGISTRY_EXISTS: 'input',
  GATE_REGISTRY_NO_VERSION: 'input',
  GATE_REGISTRY_UNREACHABLE: 'retry',
  GATE_REGISTRY_REFUSED: 'configuration',
  GATE_REGISTRY_ANSWER: 'retry',
  GATE_BUNDLE_INVALID: 'input',
} as const satisfies Record<string, Disposition>;

export type ErrorCode = keyof typeof ERROR_CODES;

export class GateError extends Error {
  override readonly name = 'GateError';
  readonly code: ErrorCode;
  readonly disposition: Disposition;
  /** Safe, identity-level facts for the log (never bodies, tokens or Secret values). */
  readonly fields: Readonly<Record<string, string | number | boolean>>;

  /**
   * @param code one of the closed list.
   * @param message lower case, no full stop at the end, says where, what is wrong, and one next step; never holds
   *   a value that may be secret.
   */
  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; fields?: Readonly<Record<string, string | number | boolean>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.disposition = ERROR_CODES[code];
    this.fields = options.fields ?? {};
  }
}

/** The message of anything thrown, without its stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Characters kept of a value that a user chose when it is quoted in a message (style.md §4.9). */
const QUOTED_LENGTH = 120;

/**
 * Quotes a value that somebody else chose: control and direction-changing characters are escaped, and it is cut at
 * 120 characters, so that it can neither forge a log line nor reorder a terminal line.
 */
export function quote(value: string): string {
  const cut = value.length > QUOTED_LENGTH ? `${value.slice(0, QUOTED_LENGTH)}…` : value;
  const safe = JSON.stringify(cut).replace(
    // C0/C1 controls that JSON.stringify leaves, and what nobody sees or what turns the line: Unicode's marks of
    // direction (UAX #9), separators, annotations and Default_Ignorable_Code_Point (UAX #44), among them tags.
    /[\u007f-\u009f\u2028\u2029\ufff9-\ufffb\p{DI}]/gu,
    inEscapes,
  );
  return safe;
}

/** Beyond 16 bits, in two halves as JSON writes them. */
export function inEscapes(mark: string): string {
  return mark
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
