/** What goes wrong with a registry, as our errors. No message holds a header, a body, a path of a redirect or a query. */
import { GateError, messageOf } from '../errors.ts';

/** What is being asked, for messages: a reference and what is wanted of it. */
export interface Subject {
  /** `ghcr.io/acme/shop:1.0`. */
  readonly reference: string;
  /** `the manifest`. */
  readonly wanted: string;
}

/** An attempt that failed for a reason that may pass: tried again where time and attempts allow it. */
export class PassingFailure extends Error {
  readonly error: GateError;
  /** What the server asked for; undefined: our own backing off. */
  readonly retryAfterMs: number | undefined;

  constructor(error: GateError, retryAfterMs?: number) {
    super(error.message);
    this.error = error;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Of a foreign error. */
const MESSAGE_LENGTH = 200;
/** Of a host in a message. */
const HOST_LENGTH = 120;

/** Codes of errors of Node and undici after which the same request may well succeed. */
const PASSING: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/** Of OpenSSL's verification of a peer, beside those that begin with CERT_ (Node's documentation, X509 errors). */
const UNVERIFIED =
  /^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Of those, where the CA is not what is missing. */
const MISFITTING =
  /^(?:CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|CERT_REVOKED|ERR_TLS_CERT_ALTNAME_|HOSTNAME_MISMATCH)/;

/** Of OpenSSL and of Node, where what answers a handshake is none: plain http, most often (OpenSSL, sslerr.h). */
const WITHOUT_TLS: ReadonlySet<string> = new Set([
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_UNKNOWN_PROTOCOL',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** Codes of the OCI distribution specification: the only words of a registry's answer that we repeat. */
const SPOKEN: ReadonlySet<unknown> = new Set([
  'BLOB_UNKNOWN',
  'BLOB_UPLOAD_INVALID',
  'BLOB_UPLOAD_UNKNOWN',
  'DIGEST_INVALID',
  'MANIFEST_BLOB_UNKNOWN',
  'MANIFEST_INVALID',
  'MANIFEST_UNKNOWN',
  'NAME_INVALID',
  'NAME_UNKNOWN',
  'SIZE_INVALID',
  'UNAUTHORIZED',
  'DENIED',
  'UNSUPPORTED',
  'TOOMANYREQUESTS',
]);

/** For messages: of a URL that an answer held, all but the host may be somebody's secret. */
export function shownHost(url: URL): string {
  return url.host.length > HOST_LENGTH ? `${url.host.slice(0, HOST_LENGTH)}…` : url.host;
}

/** The registry's own rules, or ours, do not let us: `why` says which and what to add. */
export function refused(subject: Subject, why: string): GateError {
  return new GateError('GATE_REGISTRY_REFUSED', `${subject.reference}: ${why}`);
}

/** What came is not what was asked for. */
export function wrongAnswer(subject: Subject, what: string): GateError {
  return new GateError(
    'GATE_REGISTRY_ANSWER',
    `${subject.reference}: ${subject.wanted} that the registry sent ${what}; nothing of it is used`,
  );
}

/** No whole answer came. */
export function silent(subject: Subject, why: string): GateError {
  return new GateError(
    'GATE_REGISTRY_UNREACHABLE',
    `${subject.reference}: ${subject.wanted} did not come: ${why}; try again later, or check the network in between`,
  );
}

/** @returns a PassingFailure where another attempt makes sense; a GateError else. */
export function networkFailure(subject: Subject, cause: unknown): GateError | PassingFailure {
  if (cause instanceof GateError || cause instanceof PassingFailure) return cause;
  const code = codeOf(cause);
  const error = new GateError(
    'GATE_REGISTRY_UNREACHABLE',
    `${subject.reference}: ${whyNot(subject, typeof code === 'string' ? code : undefined)}`,
    { cause: bareCause(cause, code) },
  );
  return PASSING.has(code) ? new PassingFailure(error) : error;
}

/** What has failed, and the key of the configuration that mends it where there is one. */
function whyNot({ wanted }: Subject, code: string | undefined): string {
  if (code === undefined)
    return `${wanted} did not come: the connection failed; check name, address and network of the registry`;
  if (WITHOUT_TLS.has(code))
    return `the server does not speak TLS (${code}); if that is meant, add its host and port to registry.insecure`;
  if (MISFITTING.test(code))
    return `the certificate of the server does not fit (${code}); use a name that it is for, or have it renewed`;
  if (UNVERIFIED.test(code))
    return `the certificate of the server cannot be verified (${code}); add its CA to registry.certificateAuthorities`;
  return `${wanted} did not come: ${code}; check name, address and network of the registry`;
}

/** A status that is neither success nor about credentials. */
export function statusFailure(
  subject: Subject,
  status: number,
  spoken: string | undefined,
  retryAfterMs: number | undefined,
): GateError | PassingFailure {
  const answer = spoken === undefined ? `HTTP ${status}` : `HTTP ${status}, ${spoken}`;
  if (status === 404)
    return new GateError(
      'GATE_REGISTRY_NOT_FOUND',
      `${subject.reference}: the registry does not have ${subject.wanted} (${answer}); check the reference`,
    );
  const retryAfterSeconds = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  const error = new GateError(
    'GATE_REGISTRY_UNREACHABLE',
    `${subject.reference}: the registry does not give ${subject.wanted} (${answer}); try again later`,
    { fields: { status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) } },
  );
  const isPassing = status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505);
  return isPassing ? new PassingFailure(error, retryAfterMs) : error;
}

/** The error code in the body of an answer, where it is one of the specification. */
export function spokenCode(body: Uint8Array): string | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    const errors = field(parsed, 'errors');
    const code = Array.isArray(errors) ? field(errors[0], 'code') : undefined;
    return SPOKEN.has(code) ? String(code) : undefined;
  } catch {
    // A page of a proxy: the status says enough.
    return undefined;
  }
}

/** One own field of a foreign object. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** Without what else hangs on it: an error of undici's parser has the bytes that it could not read. */
function bareCause(cause: unknown, code: unknown): Error {
  const bare = new Error(messageOf(cause).slice(0, MESSAGE_LENGTH));
  return typeof code === 'string' ? Object.assign(bare, { code }) : bare;
}

function codeOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && error.code !== undefined) return error.code;
  return 'cause' in error ? codeOfCause(error.cause) : undefined;
}

function codeOfCause(cause: unknown): unknown {
  return typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
}
