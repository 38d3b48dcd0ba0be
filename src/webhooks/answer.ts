/** What goes back: a verdict as an AdmissionReview, or a refusal where there is no review to answer. */
import type { GateError } from '../errors.ts';
import {
  allow,
  type Allowed,
  type Cause,
  type Denied,
  type FailurePolicy,
  type Verdict,
} from '../policies/verdict.ts';
import type { ReviewId } from './layout.ts';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Of `status.message` and of each cause: shown in terminals, and far below the 3 MiB an API server would read. */
const MAX_MESSAGE_BYTES = 16_384;
const MAX_CAUSES = 64;
/** As the API server cuts the audit annotations of its own policies (vap.md §2.8), which take no ellipsis. */
const MAX_ANNOTATION_BYTES = 10_240;
const MAX_ANNOTATIONS = 64;
/** As the API server cuts warnings (vap.md A07): whole ones while all fit, else each one short. In characters. */
const MAX_WARNINGS_LENGTH = 4_096;
const MAX_WARNING_LENGTH = 256;

/**
 * HTTP 200 with apiVersion, kind and uid of the question, as the API server demands (webhook-operations.md W06).
 * `status` only on a denial.
 * @param isVerbatim of the entry: nothing is cut then (webhook.ts).
 */
export function answerReview(id: ReviewId, given: Verdict, isVerbatim = false): RawAnswer {
  const verdict = isVerbatim ? given : bounded(given);
  const { warnings } = verdict;
  const annotations = Object.entries(verdict.auditAnnotations);
  const body = JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion: id.apiVersion,
    response: {
      uid: id.uid,
      allowed: verdict.allowed,
      ...(!verdict.allowed && { status: statusOf(verdict) }),
      ...(verdict.allowed && patchOf(verdict.patch)),
      ...(warnings.length > 0 && { warnings }),
      ...(annotations.length > 0 && {
        auditAnnotations: Object.fromEntries(annotations),
      }),
    },
  });
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

/** No patch at all where nothing is to be changed: an empty one is a fault to the API server of a validating entry. */
function patchOf(patch: Allowed['patch']): object {
  if (patch === undefined || patch.length === 0) return {};
  return { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}

function bounded(verdict: Verdict): Verdict {
  const annotations = Object.entries(verdict.auditAnnotations).slice(0, MAX_ANNOTATIONS);
  const common = {
    warnings: boundWarnings(verdict.warnings),
    auditAnnotations: Object.fromEntries(
      annotations.map(([key, value]) => [key, cutBytes(value, MAX_ANNOTATION_BYTES, '')]),
    ),
  };
  if (verdict.allowed) return { ...verdict, ...common };
  const causes = verdict.causes.slice(0, MAX_CAUSES).map(boundCause);
  return { ...verdict, ...common, message: cutBytes(verdict.message, MAX_MESSAGE_BYTES), causes };
}

function boundCause(cause: Cause): Cause {
  return { ...cause, message: cutBytes(cause.message, MAX_MESSAGE_BYTES) };
}

/** `metav1.Status`, in the order and with the fields of the API server's own. */
function statusOf(verdict: Denied): object {
  const causes = verdict.causes.map(({ reason, message, field }) => ({ reason, message, field }));
  const details = {
    ...detailsOf(verdict.object),
    ...(causes.length > 0 && { causes }),
  };
  return {
    metadata: {},
    status: 'Failure',
    message: verdict.message,
    reason: verdict.reason,
    ...(Object.keys(details).length > 0 && { details }),
    code: verdict.code,
  };
}

function detailsOf(object: Denied['object']): object {
  if (object === undefined) return {};
  const { name, group, kind } = object;
  return { ...(name !== undefined && { name }), ...(group !== '' && { group }), kind };
}

/**
 * The answer where there is no verdict, by the failure policy of the entry (design decision 13). Never a plain
 * 500-class answer: that hides the cause. Code 500 and no other, because GitOps tools delete and re-create objects on
 * some 400-class ones (flux-facts.md FF-40).
 */
export function failureVerdict(failurePolicy: FailurePolicy, entry: string, error: GateError): Verdict {
  // A warning with a control character would be dropped (vap.md A07); on the other word Flux deletes the object and makes
  // it anew, whatever the code (flux-facts.md FF-28).
  const cause = `${error.message} [${error.code}]`
    .replaceAll(/\p{Cc}+/gu, ' ')
    .replaceAll(/immutable/giu, 'unchangeable');
  if (failurePolicy === 'Ignore') {
    return allow({
      warnings: [`${entry}: not enforced on this request: ${cause}`],
      auditAnnotations: { 'failed-open': cause },
    });
  }
  return {
    allowed: false,
    code: 500,
    reason: 'InternalError',
    message: `${entry}: no decision: ${cause}`,
    causes: [],
    codes: [error.code],
    warnings: [],
    auditAnnotations: {},
  };
}

/**
 * A refusal without a review. As text: the API server shows the body of such an answer to the user only if it is
 * text, and says `unknown` otherwise.
 */
export function refuse(
  status: number,
  error: GateError,
  headers: Readonly<Record<string, string>> = {},
): RawAnswer {
  return {
    status,
    headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
    body: `${error.message} [${error.code}]\n`,
  };
}

function boundWarnings(warnings: readonly string[]): readonly string[] {
  if (warnings.reduce((sum, text) => sum + text.length, 0) <= MAX_WARNINGS_LENGTH) return warnings;
  const kept: string[] = [];
  let length = 0;
  for (const text of warnings) {
    if (length >= MAX_WARNINGS_LENGTH) break;
    // By characters, of at most two UTF-16 units each: a pair is kept together.
    const characters = Array.from(text.slice(0, 2 * MAX_WARNING_LENGTH));
    const long = characters.length > MAX_WARNING_LENGTH || text.length > 2 * MAX_WARNING_LENGTH;
    kept.push(long ? `${characters.slice(0, MAX_WARNING_LENGTH - 1).join('')}…` : text);
    length += Math.min(characters.length, MAX_WARNING_LENGTH);
  }
  return kept;
}

/** Cuts at a character boundary. */
function cutBytes(text: string, maxBytes: number, ellipsis = '…'): string {
  // No UTF-16 unit takes more than three bytes.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text).subarray(0, maxBytes - Buffer.byteLength(ellipsis));
  return new TextDecoder().decode(bytes, { stream: true }) + ellipsis;
}
