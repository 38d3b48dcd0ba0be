/**
 * From the bytes of a call to a checked AdmissionRequest. The envelope is checked, the objects inside are not
 * (design decision 7): unknown fields pass.
 */
import type { AdmissionRequest } from '../cluster/objects.ts';
import { GateError, quote, type ErrorCode } from '../errors.ts';
import { JsonError, readJson, type JsonFault } from '../json.ts';
import { EnvelopeFault, isRecord, own, readRequest } from './envelope.ts';
import {
  layoutOf,
  putBack,
  REVIEW_VERSIONS,
  withoutObjects,
  type Layout,
  type ObjectField,
  type ReviewId,
} from './layout.ts';

/** An UPDATE review carries object and oldObject of up to 3 MiB each (webhook-operations.md W05; platform.md §3.4). */
const MAX_REVIEW_BYTES = 8 * 1024 * 1024;

/**
 * The API server sends a UUID of 36 characters. The uid comes back in the answer and in the log, so a longer one is
 * bounded; nobody who calls us as the API server does comes near.
 */
const MAX_UID_LENGTH = 256;

/**
 * Opening brackets and commas of one object of a review. What etcd can store (1.5 MiB, platform.md §3.4) has more only
 * where a value takes fewer than six bytes; in the densest review on record one takes sixteen.
 */
const MAX_VALUES = 256 * 1024;

/** Of one object too. A ConfigMap, which has room for 1 MiB, has more only where an entry takes less than 16 bytes. */
const MAX_NAMES = 64 * 1024;

const BOUNDS = { maxValues: MAX_VALUES, maxNames: MAX_NAMES };

/** Below, a review is read within some ms whatever it holds; above, object by object. */
export const LARGE_REVIEW_BYTES = 256 * 1024;

export type Review =
  | { readonly kind: 'review'; readonly id: ReviewId; readonly request: AdmissionRequest }
  /**
   * The uid is known, the rest is not as it must be: answered by the entry itself, where `request` is known but for
   * its objects, which are too large or too deep to be read, and otherwise by its failure policy.
   */
  | {
      readonly kind: 'unreadable';
      readonly id: ReviewId;
      readonly request?: AdmissionRequest;
      readonly error: GateError;
    }
  /** No uid: nothing but an HTTP status can be answered (design decision 13). */
  | { readonly kind: 'refused'; readonly status: RefusalStatus; readonly error: GateError };

type RefusalStatus = 400 | 413 | 415 | 429;

/** Header fields with lower-case names, as Node gives them; of a repeated one the first, or all in a list. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads one review at once. Never throws for what the caller sent. */
export function readReview(body: Uint8Array, headers: Headers): Review {
  const steps = readReviewInSteps(body, headers);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** As `readReview`, with a pause after each of the objects of a large review. */
export function* readReviewInSteps(body: Uint8Array, headers: Headers): Generator<undefined, Review> {
  const fault = headerFault(headers);
  if (fault !== undefined) return { kind: 'refused', status: 415, error: fault };
  if (body.byteLength === 0) {
    return refused(400, 'GATE_REVIEW_EMPTY', 'request body: empty: send an AdmissionReview as JSON');
  }
  if (body.byteLength > MAX_REVIEW_BYTES) {
    return readUnread(
      body,
      headers,
      new GateError(
        'GATE_REVIEW_TOO_LARGE',
        `request body: too large (found ${String(body.byteLength)} bytes, need at most ${String(MAX_REVIEW_BYTES)}): send a smaller review`,
      ),
    );
  }
  try {
    const parted = body.byteLength > LARGE_REVIEW_BYTES ? yield* readParts(body) : undefined;
    return readDocument(parted ?? readJson(body, BOUNDS));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return unreadable(body, error);
  }
}

/**
 * What can be said of a review whose objects are not read.
 * @param head its first bytes, as far as they were kept.
 * @param error why: the answer where it does not even begin as a review.
 */
export function readUnread(head: Uint8Array, headers: Headers, error: GateError): Review {
  const fault = headerFault(headers);
  if (fault !== undefined) return { kind: 'refused', status: 415, error: fault };
  const layout = layoutOf(head);
  if (layout === undefined) {
    return { kind: 'refused', status: error.code === 'GATE_OVERLOADED' ? 429 : 413, error };
  }
  const request = readEnvelope(head, layout);
  return { kind: 'unreadable', id: layout.id, ...(request !== undefined && { request }), error };
}

/** Object by object, so that each may have as many values as one may. @returns undefined where that cannot be told. */
function* readParts(body: Uint8Array): Generator<undefined, unknown> {
  const objects = layoutOf(body)?.objects;
  if (objects === undefined) return undefined;
  const document = readJson(withoutObjects(body, objects), BOUNDS);
  const read = new Map<ObjectField, unknown>();
  for (const [field, { start, end }] of objects) {
    try {
      read.set(field, readJson(body.subarray(start, end), BOUNDS));
    } catch (error) {
      if (error instanceof JsonError) throw new JsonError(error.kind, start + error.offset);
      throw error;
    }
    yield;
  }
  return putBack(document, read) ? document : undefined;
}

/** What was refused as too deep or too dense, or is no JSON, may have a sound beginning. */
function unreadable(body: Uint8Array, fault: JsonError): Review {
  const error = new GateError(JSON_CODES[fault.kind], jsonMessage(fault));
  const layout = layoutOf(body);
  const request = layout && readEnvelope(body, layout);
  if (layout !== undefined && (request !== undefined || TOO_MUCH.has(fault.kind))) {
    return { kind: 'unreadable', id: layout.id, ...(request !== undefined && { request }), error };
  }
  return { kind: 'refused', status: fault.kind === 'values' ? 413 : 400, error };
}

/** The request without its objects, as far as it is sound. */
function readEnvelope(body: Uint8Array, { id, envelopeEnd }: Layout): AdmissionRequest | undefined {
  if (envelopeEnd === undefined) return undefined;
  try {
    const text = Buffer.concat([body.subarray(0, envelopeEnd), Buffer.from('}}')]);
    const document = readJson(text, BOUNDS);
    const request = isRecord(document) ? own(document, 'request') : undefined;
    return isRecord(request) ? readRequest(id.uid, request, false) : undefined;
  } catch (error) {
    if (error instanceof JsonError || error instanceof EnvelopeFault) return undefined;
    throw error;
  }
}

function refused(status: RefusalStatus, code: ErrorCode, message: string): Review {
  return { kind: 'refused', status, error: new GateError(code, message) };
}

/** Faults that a person can bring about through an API server, by what they write. */
const TOO_MUCH: ReadonlySet<JsonFault> = new Set(['depth', 'values']);

const JSON_CODES: Readonly<Record<JsonFault, ErrorCode>> = {
  empty: 'GATE_REVIEW_EMPTY',
  utf8: 'GATE_REVIEW_NOT_UTF8',
  syntax: 'GATE_REVIEW_NOT_JSON',
  number: 'GATE_REVIEW_NOT_JSON',
  depth: 'GATE_REVIEW_TOO_DEEP',
  values: 'GATE_REVIEW_TOO_LARGE',
};

/** What is wrong, and the next step. */
const JSON_TEXTS: Readonly<Record<JsonFault, readonly [wrong: string, step: string]>> = {
  empty: ['empty', 'send an AdmissionReview as JSON'],
  utf8: ['not UTF-8', 'send the review as UTF-8'],
  syntax: ['not JSON', 'send an AdmissionReview as JSON'],
  number: ['a number beyond the range of a double', 'send valid JSON'],
  depth: ['nested deeper than 512 levels', 'send a flatter object'],
  values: [`more than ${String(MAX_VALUES)} values or ${String(MAX_NAMES)} names`, 'send a smaller object'],
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

function readDocument(document: unknown): Review {
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
