/**
 * From the bytes of a call to a checked AdmissionRequest. The envelope is checked, the objects inside are not
 * (design decision 7): unknown fields pass.
 */
import type {
  AdmissionRequest,
  GroupVersionKind,
  GroupVersionResource,
  Operation,
  UserInfo,
} from '../cluster/objects.ts';
import { GateError, quote, type ErrorCode } from '../errors.ts';
import { isBoxedDouble, JsonError, readJson, type JsonFault } from '../json.ts';

/** An UPDATE review carries object and oldObject of up to 3 MiB each (webhook-operations.md W05; platform.md §3.4). */
const MAX_REVIEW_BYTES = 8 * 1024 * 1024;

/**
 * The API server sends a UUID of 36 characters. The uid comes back in the answer and in the log, so a longer one is
 * bounded; nobody who calls us as the API server does comes near.
 */
const MAX_UID_LENGTH = 256;

export const REVIEW_VERSIONS = ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'] as const;
export type ReviewVersion = (typeof REVIEW_VERSIONS)[number];

/** What the answer must repeat, or the API server counts the call as failed (webhook-operations.md W06). */
export interface ReviewId {
  readonly apiVersion: ReviewVersion;
  readonly uid: string;
}

export type Review =
  | { readonly kind: 'review'; readonly id: ReviewId; readonly request: AdmissionRequest }
  /** The uid is known, the rest is not as it must be: answered by the failure policy of the entry. */
  | { readonly kind: 'unreadable'; readonly id: ReviewId; readonly error: GateError }
  /** No uid: nothing but an HTTP status can be answered (design decision 13). */
  | { readonly kind: 'refused'; readonly status: 400 | 413 | 415; readonly error: GateError };

/** Header fields with lower-case names, as Node gives them; of a repeated one the first, or all in a list. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads one review. Never throws for what the caller sent. */
export function readReview(body: Uint8Array, headers: Headers): Review {
  const header = headerFault(headers);
  if (header !== undefined) return { kind: 'refused', status: 415, error: header };
  if (body.byteLength === 0) {
    return refused(400, 'GATE_REVIEW_EMPTY', 'request body: empty: send an AdmissionReview as JSON');
  }
  if (body.byteLength > MAX_REVIEW_BYTES) {
    return refused(
      413,
      'GATE_REVIEW_TOO_LARGE',
      `request body: too large (found ${String(body.byteLength)} bytes, need at most ${String(MAX_REVIEW_BYTES)}): send a smaller review`,
    );
  }
  let document: unknown;
  try {
    document = readJson(body);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return refused(400, JSON_CODES[error.kind], jsonMessage(error));
  }
  return readEnvelope(document);
}

function refused(status: 400 | 413 | 415, code: ErrorCode, message: string): Review {
  return { kind: 'refused', status, error: new GateError(code, message) };
}

const JSON_CODES: Readonly<Record<JsonFault, ErrorCode>> = {
  empty: 'GATE_REVIEW_EMPTY',
  utf8: 'GATE_REVIEW_NOT_UTF8',
  syntax: 'GATE_REVIEW_NOT_JSON',
  number: 'GATE_REVIEW_NOT_JSON',
  depth: 'GATE_REVIEW_TOO_DEEP',
};

/** What is wrong, and the next step. */
const JSON_TEXTS: Readonly<Record<JsonFault, readonly [wrong: string, step: string]>> = {
  empty: ['empty', 'send an AdmissionReview as JSON'],
  utf8: ['not UTF-8', 'send the review as UTF-8'],
  syntax: ['not JSON', 'send an AdmissionReview as JSON'],
  number: ['a number beyond the range of a double', 'send valid JSON'],
  depth: ['nested deeper than 512 levels', 'send a flatter object'],
};

function jsonMessage(error: JsonError): string {
  const [wrong, step] = JSON_TEXTS[error.kind];
  return `request body: ${wrong} (found at byte ${String(error.offset)}): ${step}`;
}

function headerFault(headers: Headers): GateError | undefined {
  const type = firstOf(headers['content-type']);
  if (type === undefined || !isJsonType(type)) {
    const found = type === undefined ? 'none' : quote(type);
    return new GateError(
      'GATE_REVIEW_MEDIA_TYPE',
      `content-type: not a review (found ${found}, need application/json): send JSON`,
    );
  }
  const encoding = firstOf(headers['content-encoding']);
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return new GateError(
      'GATE_REVIEW_ENCODING',
      `content-encoding: not supported (found ${quote(encoding)}, need identity): send the review uncompressed`,
    );
  }
  return undefined;
}

function firstOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value.join(', ');
}

/** `application/json`, alone or with parameters; a charset must be UTF-8 (RFC 8259 §8.1, RFC 9110 §8.3.1). */
function isJsonType(value: string): boolean {
  if (value === 'application/json') return true;
  const [type = '', ...parameters] = value.split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name, charset = ''] = parameter.split('=', 2);
    return name !== 'charset' || /^"?utf-?8"?$/.test(charset);
  });
}

function readEnvelope(document: unknown): Review {
  if (!isRecord(document) || own(document, 'kind') !== 'AdmissionReview') {
    return refused(
      400,
      'GATE_REVIEW_VERSION',
      'kind: not a review (need AdmissionReview): send an AdmissionReview',
    );
  }
  const version = own(document, 'apiVersion');
  const apiVersion = REVIEW_VERSIONS.find((known) => known === version);
  if (apiVersion === undefined) {
    const found = typeof version === 'string' ? quote(version) : 'no text';
    return refused(
      400,
      'GATE_REVIEW_VERSION',
      `apiVersion: unknown review version (found ${found}, need ${REVIEW_VERSIONS.join(' or ')}): set admissionReviewVersions of the webhook to v1`,
    );
  }
  const request = own(document, 'request');
  if (!isRecord(request)) {
    return refused(
      400,
      'GATE_REVIEW_INVALID',
      'request: missing: send an AdmissionReview that asks something',
    );
  }
  const uid = own(request, 'uid');
  if (typeof uid !== 'string' || uid === '' || uid.length > MAX_UID_LENGTH) {
    const found =
      typeof uid !== 'string' ? 'no text' : uid === '' ? 'empty text' : `${String(uid.length)} characters`;
    return refused(
      400,
      'GATE_REVIEW_INVALID',
      `request.uid: not usable (found ${found}, need 1 to ${String(MAX_UID_LENGTH)} characters): send the uid to be answered`,
    );
  }
  const id = { apiVersion, uid };
  try {
    return { kind: 'review', id, request: readRequest(uid, request) };
  } catch (error) {
    if (!(error instanceof EnvelopeFault)) throw error;
    return { kind: 'unreadable', id, error: new GateError('GATE_REVIEW_INVALID', error.message) };
  }
}

/** Carries a fault of the envelope out of its reader; never leaves this file. */
class EnvelopeFault extends Error {
  constructor(path: string, wrong: string) {
    super(`request${path === '' ? '' : `.${path}`}: ${wrong}: send the review as the API server does`);
  }
}

function readRequest(uid: string, request: Foreign): AdmissionRequest {
  const operation = readOperation(request);
  const subResource = optionalText(request, 'subResource');
  const requestKind = optional(request, 'requestKind', readKind);
  const requestResource = optional(request, 'requestResource', readResource);
  const requestSubResource = optionalText(request, 'requestSubResource');
  const name = optionalText(request, 'name');
  const namespace = optionalText(request, 'namespace');
  const dryRun = own(request, 'dryRun') ?? undefined;
  if (dryRun !== undefined && typeof dryRun !== 'boolean') {
    throw new EnvelopeFault('dryRun', 'not true or false');
  }
  return {
    uid,
    kind: readKind(own(request, 'kind'), 'kind'),
    resource: readResource(own(request, 'resource'), 'resource'),
    ...(subResource !== undefined && { subResource }),
    ...(requestKind !== undefined && { requestKind }),
    ...(requestResource !== undefined && { requestResource }),
    ...(requestSubResource !== undefined && { requestSubResource }),
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    operation,
    userInfo: readUser(own(request, 'userInfo')),
    object: readObject(request, 'object', operation),
    oldObject: readObject(request, 'oldObject', operation),
    ...(dryRun !== undefined && { dryRun }),
    options: own(request, 'options') ?? null,
  };
}

/**
 * What each operation carries, as API servers send it (recorded: golden reviews and vap). CONNECT carries its options
 * as object, or nothing for a subresource that has none.
 */
const NEEDED: Readonly<Record<Operation, readonly ('object' | 'oldObject')[]>> = {
  CREATE: ['object'],
  UPDATE: ['object', 'oldObject'],
  DELETE: ['oldObject'],
  CONNECT: [],
};

function readOperation(request: Foreign): Operation {
  const operation = own(request, 'operation');
  if (typeof operation === 'string' && Object.hasOwn(NEEDED, operation)) return operation as Operation;
  const found = typeof operation === 'string' ? quote(operation) : 'no text';
  throw new EnvelopeFault('operation', `unknown (found ${found}, need CREATE, UPDATE, DELETE or CONNECT)`);
}

function readObject(request: Foreign, field: 'object' | 'oldObject', operation: Operation): unknown {
  const object = own(request, field) ?? null;
  if (object === null) {
    if (NEEDED[operation].includes(field))
      throw new EnvelopeFault(field, `missing (${operation} carries one)`);
    return null;
  }
  if (!isRecord(object)) throw new EnvelopeFault(field, 'not an object');
  return object;
}

/**
 * The user is who the API server says: without a name nobody can tell whether this is an agent, so a review that
 * names no one is a fault and not an anonymous user (who is called `system:anonymous`).
 */
function readUser(value: unknown): UserInfo {
  if (!isRecord(value)) throw new EnvelopeFault('userInfo', 'missing');
  const username = optionalText(value, 'username', 'userInfo.');
  if (username === undefined || username === '') throw new EnvelopeFault('userInfo.username', 'missing');
  const uid = optionalText(value, 'uid', 'userInfo.');
  const groups = optional(value, 'groups', readTexts, 'userInfo.');
  const extra = optional(value, 'extra', readExtra, 'userInfo.');
  return {
    username,
    ...(uid !== undefined && { uid }),
    ...(groups !== undefined && { groups }),
    ...(extra !== undefined && { extra }),
  };
}

/** Keys are foreign, `__proto__` among them: the object has no prototype, and `Object.hasOwn` reads it as any other. */
function readExtra(value: unknown, path: string): Readonly<Record<string, readonly string[]>> {
  if (!isRecord(value)) throw new EnvelopeFault(path, 'not an object');
  const extra = Object.create(null) as Record<string, readonly string[]>;
  for (const [key, values] of Object.entries(value)) {
    // Go writes an empty list that was never made as null.
    extra[key] = values === null ? [] : readTexts(values, `${path}[${quote(key)}]`);
  }
  return extra;
}

function readTexts(value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value)) throw new EnvelopeFault(path, 'not a list');
  const wrong = value.findIndex((item) => typeof item !== 'string');
  if (wrong !== -1) throw new EnvelopeFault(`${path}[${String(wrong)}]`, 'not text');
  return value as string[];
}

function readKind(value: unknown, path: string): GroupVersionKind {
  if (!isRecord(value)) throw new EnvelopeFault(path, 'missing');
  return {
    group: text(value, 'group', path),
    version: text(value, 'version', path),
    kind: text(value, 'kind', path),
  };
}

function readResource(value: unknown, path: string): GroupVersionResource {
  if (!isRecord(value)) throw new EnvelopeFault(path, 'missing');
  return {
    group: text(value, 'group', path),
    version: text(value, 'version', path),
    resource: text(value, 'resource', path),
  };
}

/** A JSON object of somebody else: its keys are data. */
type Foreign = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Foreign {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBoxedDouble(value);
}

function own(record: Foreign, field: string): unknown {
  return Object.hasOwn(record, field) ? record[field] : undefined;
}

function text(record: Foreign, field: string, path: string): string {
  const value = own(record, field);
  if (typeof value !== 'string') throw new EnvelopeFault(`${path}.${field}`, 'missing or not text');
  return value;
}

function optionalText(record: Foreign, field: string, prefix = ''): string | undefined {
  const value = own(record, field) ?? undefined;
  if (value !== undefined && typeof value !== 'string')
    throw new EnvelopeFault(`${prefix}${field}`, 'not text');
  return value;
}

function optional<T>(
  record: Foreign,
  field: string,
  read: (value: unknown, path: string) => T,
  prefix = '',
): T | undefined {
  const value = own(record, field) ?? undefined;
  return value === undefined ? undefined : read(value, `${prefix}${field}`);
}
