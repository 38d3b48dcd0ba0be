/** How kubectl shows a refusal of the API server (cmd/util `checkErr` and `AddSourceToErr`). */

export interface ErrorStatus {
  readonly message: string;
  /** Empty where there is none. */
  readonly reason: string;
  readonly code: number;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly causes?: readonly { readonly field?: string; readonly message: string }[];
  };
}

/** What failed: `creating "deployment.yaml"`. */
export interface Doing {
  readonly verb: string;
  readonly source: string;
}

/**
 * What is invalid is shown by its causes, without the message and without what kubectl was doing; everything else by
 * its message.
 * @param doing undefined where it is not known.
 */
export function kubectlError(status: ErrorStatus, doing?: Doing): string {
  if (isInvalid(status)) return invalidError(status, doing);
  const reason = status.reason === '' ? '' : ` (${status.reason})`;
  return `Error from server${reason}: ${messageOf(status, doing)}`;
}

/** Reasons that stand for a code other than 422, so that a status with one of them and that code is not invalid. */
const REASONS: ReadonlySet<string> = new Set([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'StoreReadError',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
]);

function isInvalid({ reason, code }: ErrorStatus): boolean {
  return reason === 'Invalid' || (!REASONS.has(reason) && code === 422);
}

function messageOf({ message }: ErrorStatus, doing: Doing | undefined): string {
  return doing === undefined
    ? message
    : `error when ${doing.verb} ${JSON.stringify(doing.source)}: ${message}`;
}

function invalidError(status: ErrorStatus, doing: Doing | undefined): string {
  const { details } = status;
  const nobody = 'The request is invalid';
  if (details === undefined) return `${nobody}: ${messageOf(status, doing)}`;
  const { kind = '', name = '', causes = [] } = details;
  const isNamed = kind !== '' || name !== '';
  const what = isNamed ? `The ${kind} ${JSON.stringify(name)} is invalid` : nobody;
  const texts = [...new Set(causes.map(({ field = '', message }) => `${field}: ${message}`))];
  if (texts.length === 0) return isNamed ? what : `${what}: ${messageOf(status, doing)}`;
  return texts.length === 1
    ? `${what}: ${String(texts[0])}`
    : [`${what}: `, ...texts.map((text) => `* ${text}`)].join('\n');
}
