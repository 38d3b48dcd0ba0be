/** What an API server's refusals mean: HTTP status and metav1.Status to one GateError. */
import { GateError, messageOf, quote, type ErrorCode } from '../errors.ts';

/** The fields of metav1.Status that are read here; everything may be missing. */
interface Status {
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: { readonly name?: string; readonly retryAfterSeconds?: number };
}

/** What the place knows that asked. */
export interface Question {
  /** Verb and object as they read after "cannot": `read pods "payments/web"`. */
  readonly what: string;
  /** Connection.origin. */
  readonly origin: string;
  /** The object that was asked for by name, where there was one. */
  readonly name?: string;
}

/** What to do about it; where nothing is said, a retry is all there is. */
const NEXT_STEP: Partial<Record<ErrorCode, string>> = {
  GATE_CLUSTER_FORBIDDEN: 'grant it to our account (`pacto-gate generate rbac` prints the rules)',
  GATE_CLUSTER_UNSUPPORTED: 'check that the kind is served (`kubectl api-resources`) or install its CRD',
  GATE_CLUSTER_CONFLICT: 'read the object again and retry',
  GATE_CLUSTER_GONE: 'list again',
  GATE_CLUSTER_THROTTLED: 'retry later, or give our account a larger share of the API server',
};

/** An API server's refusal; what it said word for word may hold values of objects, and is for comparing alone. */
export class ApiRefusal extends GateError {
  readonly #said: string;

  constructor(code: ErrorCode, message: string, fields: GateError['fields'], said: string) {
    super(code, message, { fields });
    this.#said = said;
  }

  /** `message` of the metav1.Status; empty where there was none. Never for a log. */
  get said(): string {
    return this.#said;
  }
}

/**
 * @param httpStatus of the answer, or the `code` of an ERROR event in a watch.
 * @param body parsed JSON, or undefined where the body was none.
 * @param retryAfter value of the header `Retry-After`.
 */
export function errorFromAnswer(
  question: Question,
  httpStatus: number,
  body: unknown,
  retryAfter?: string,
): GateError {
  const status = asStatus(body);
  const code = codeOf(question, httpStatus, status);
  const retryAfterSeconds = status?.details?.retryAfterSeconds ?? secondsOf(retryAfter);
  const said = status?.message === undefined ? '' : `, ${quote(withoutSecrets(status.message))}`;
  const step =
    code === 'GATE_CLUSTER_UNAUTHORIZED'
      ? 'check the token or client certificate that we use'
      : NEXT_STEP[code];
  return new ApiRefusal(
    code,
    `cannot ${question.what}: the API server answered ${httpStatus}${said}${step === undefined ? '' : `; ${step}`}`,
    {
      httpStatus,
      ...(code === 'GATE_CLUSTER_NOT_FOUND' && { missing: status?.details?.name ?? '' }),
      ...(status?.reason !== undefined && { reason: status.reason.slice(0, 64) }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    },
    status?.message ?? '',
  );
}

/** For an answer that is not what the API promises; `found` must not hold any part of the body. */
export function malformedAnswer(question: Question, found: string): GateError {
  return new GateError(
    'GATE_CLUSTER_ANSWER',
    `cannot ${question.what}: the answer is not one of a Kubernetes API server (found ${found}); check its address and any proxy on the way`,
  );
}

/** For anything thrown below HTTP: name resolution, TCP, TLS, timeouts. */
export function unreachable(question: Question, cause: unknown): GateError {
  const code = networkCode(cause);
  const isTls = /CERT|TLS|SSL|ISSUER|SIGNATURE|SELF_SIGNED/i.test(code);
  const step = isTls ? 'check the CA and the server name' : 'check its address and the network';
  return new GateError(
    'GATE_CLUSTER_UNREACHABLE',
    `cannot ${question.what}: no answer from the API server (found ${code}); ${step}`,
    { cause, fields: { network: code, origin: question.origin } },
  );
}

/** `ECONNREFUSED` and the like; a message only where there is no code, cut, since libraries may quote addresses. */
export function networkCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return quote(messageOf(error));
}

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'GATE_CLUSTER_INVALID',
  401: 'GATE_CLUSTER_UNAUTHORIZED',
  403: 'GATE_CLUSTER_FORBIDDEN',
  405: 'GATE_CLUSTER_UNSUPPORTED',
  406: 'GATE_CLUSTER_UNSUPPORTED',
  410: 'GATE_CLUSTER_GONE',
  413: 'GATE_CLUSTER_INVALID',
  415: 'GATE_CLUSTER_UNSUPPORTED',
  422: 'GATE_CLUSTER_INVALID',
  429: 'GATE_CLUSTER_THROTTLED',
};

function codeOf(question: Question, httpStatus: number, status: Status | undefined): ErrorCode {
  if (httpStatus === 404) {
    // Only a Status that names the object proves that the object is absent: a kind that is not served, or a proxy
    // that knows no such path, answers 404 as well.
    const isProved = status?.reason === 'NotFound' && status.details?.name !== undefined;
    return isProved && question.name !== undefined ? 'GATE_CLUSTER_NOT_FOUND' : 'GATE_CLUSTER_UNSUPPORTED';
  }
  if (httpStatus === 409)
    return status?.reason === 'AlreadyExists' ? 'GATE_CLUSTER_EXISTS' : 'GATE_CLUSTER_CONFLICT';
  return (
    CODE_OF_STATUS[httpStatus] ?? (httpStatus >= 500 ? 'GATE_CLUSTER_UNREACHABLE' : 'GATE_CLUSTER_ANSWER')
  );
}

function asStatus(body: unknown): Status | undefined {
  if (!isRecord(body) || body['kind'] !== 'Status') return undefined;
  const details = isRecord(body['details']) ? body['details'] : {};
  return {
    ...(typeof body['message'] === 'string' && { message: body['message'] }),
    ...(typeof body['reason'] === 'string' && { reason: body['reason'] }),
    ...(typeof body['code'] === 'number' && { code: body['code'] }),
    details: {
      ...(typeof details['name'] === 'string' && { name: details['name'] }),
      ...(typeof details['retryAfterSeconds'] === 'number' && {
        retryAfterSeconds: details['retryAfterSeconds'],
      }),
    },
  };
}

/**
 * Seconds of a `Retry-After` header. The date form is left out: the API server sends seconds only
 * (k8s.io/apiserver, pkg/endpoints/handlers/responsewriters).
 */
function secondsOf(retryAfter: string | undefined): number | undefined {
  return retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
}

/**
 * A validation message repeats the value that it refuses, and a proxy may repeat a token: both are dropped, since a
 * message ends in logs.
 */
function withoutSecrets(message: string): string {
  return message
    .replace(/\b((?:Invalid|Unsupported|Duplicate) value: )("(?:[^"\\]|\\.)*"|[^:,;\]]+)/g, '$1…')
    .replace(/\bbearer\s+\S+/gi, 'bearer …')
    .replace(/\beyJ[\w-]+\.[\w-]+(\.[\w-]*)?/g, '…');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
