/** How kubectl shows a refusal of the API server (cmd/util `checkErr` and `AddSourceToErr`). */

export interface ErrorStatus {
  readonly message: string;
  /** Empty where there is none. */
  readonly reason: string;
  /** Not shown. */
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
  if (status.reason === 'Invalid') return invalidError(status, doing);
  if (status.reason === 'Unauthorized') {
    return `error: You must be logged in to the server (${messageOf(status, doing)})`;
  }
  const reason = status.reason === '' ? '' : ` (${status.reason})`;
  return `Error from server${reason}: ${messageOf(status, doing)}`;
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
