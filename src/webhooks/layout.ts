/**
 * Where the parts of a review are in its bytes, without reading them: who is asked for comes before what is written,
 * so the question is known also where the objects are too large or too deep to be read.
 */

export const REVIEW_VERSIONS = ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'] as const;
export type ReviewVersion = (typeof REVIEW_VERSIONS)[number];

/** What the answer must repeat, or the API server counts the call as failed (webhook-operations.md W06). */
export interface ReviewId {
  readonly apiVersion: ReviewVersion;
  readonly uid: string;
}

/** Offsets of bytes, the end not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Layout {
  readonly id: ReviewId;
  /** The bytes up to here, closed by `}}`, are the review without its objects; undefined where no object was seen. */
  readonly envelopeEnd: number | undefined;
  /** Values of `object` and `oldObject`; undefined where the text ends early, goes on, or has one of them twice. */
  readonly objects: ReadonlyMap<ObjectField, Span> | undefined;
}

export type ObjectField = 'object' | 'oldObject';

/** The head of a review as API servers write it, in the order of their type (recorded: every golden review). */
const HEAD =
  /^\{"kind":"AdmissionReview","apiVersion":"(admission\.k8s\.io\/v1(?:beta1)?)","request":\{"uid":"([\w-]{1,64})"/;
const HEAD_BYTES = 256;

/** `request` has fifteen members; bounds the work on a text that has only commas. */
const MAX_MEMBERS = 64;

/** Whether a body begins as a review of an API server does. */
export function isReviewHead(body: Uint8Array): boolean {
  return headOf(body) !== undefined;
}

/**
 * What must be known to answer, without reading the rest. A review that repeats its uid further on would get an
 * answer to the first, which its caller does not take: then too the failure policy decides.
 */
export function idAtStart(body: Uint8Array): ReviewId | undefined {
  return headOf(body)?.id;
}

/**
 * @param body a review, or its first bytes.
 * @returns undefined where it does not begin as API servers write one.
 */
export function layoutOf(body: Uint8Array): Layout | undefined {
  const head = headOf(body);
  if (head === undefined) return undefined;
  const { id } = head;
  const objects = new Map<ObjectField, Span>();
  let envelopeEnd: number | undefined;
  let twice = false;
  let at = head.end;
  let field: ObjectField | undefined;
  for (let members = 0; members < MAX_MEMBERS; members++) {
    const stop = endOfMember(body, at);
    if (field !== undefined) {
      twice ||= objects.has(field);
      objects.set(field, { start: at, end: stop });
    }
    // A comma goes on; anything else is the end of `request`, or of the bytes.
    if (body[stop] !== 0x2c) {
      const whole = !twice && endsAt(body, stop);
      return { id, envelopeEnd, objects: whole ? objects : undefined };
    }
    field = fieldAt(body, stop + 1);
    if (field !== undefined) envelopeEnd ??= stop;
    at = field === undefined ? stop + 1 : stop + 1 + NAMES[field].length;
  }
  return { id, envelopeEnd, objects: undefined };
}

/**
 * Puts values back into a review that was read without them.
 * @param read value of a field, read apart.
 * @returns whether the review has the place of each; where not, it has a name twice, in another spelling.
 */
export function putBack(document: unknown, read: ReadonlyMap<ObjectField, unknown>): boolean {
  const request = member(document, 'request');
  for (const [field, value] of read) {
    if (member(request, field) !== PLACE) return false;
    (request as Record<string, unknown>)[field] = value;
  }
  return true;
}

/** Stands for a value that is read apart: no object, so no review can have it there and be one. */
const PLACE = 'read apart';

/** The bytes of a review with a place holder for each of its objects. */
export function withoutObjects(body: Uint8Array, objects: ReadonlyMap<ObjectField, Span>): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { start, end } of objects.values()) {
    parts.push(body.subarray(from, start), Buffer.from(JSON.stringify(PLACE)));
    from = end;
  }
  parts.push(body.subarray(from));
  return Buffer.concat(parts);
}

function member(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return undefined;
  return (value as Record<string, unknown>)[field];
}

function headOf(body: Uint8Array): { readonly id: ReviewId; readonly end: number } | undefined {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, HEAD_BYTES));
  const match = HEAD.exec(start.toString('latin1'));
  const [text = '', version, uid] = match ?? [];
  const apiVersion = REVIEW_VERSIONS.find((known) => known === version);
  if (apiVersion === undefined || uid === undefined) return undefined;
  return { id: { apiVersion, uid }, end: text.length };
}

const NAMES: Readonly<Record<ObjectField, Buffer>> = {
  object: Buffer.from('"object":'),
  oldObject: Buffer.from('"oldObject":'),
};

function fieldAt(body: Uint8Array, at: number): ObjectField | undefined {
  for (const field of ['object', 'oldObject'] as const) {
    const name = NAMES[field];
    if (name.equals(body.subarray(at, at + name.length))) return field;
  }
  return undefined;
}

/** Whether `}` at this offset is followed by the end of the review and nothing else. */
function endsAt(body: Uint8Array, at: number): boolean {
  if (body[at] !== 0x7d || body[at + 1] !== 0x7d) return false;
  for (let rest = at + 2; rest < body.length; rest++) {
    const byte = body[rest];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}

/** Offset of the comma or bracket that ends the member in which `at` is, or the length of the text. */
function endOfMember(body: Uint8Array, from: number): number {
  const { length } = body;
  let at = from;
  let depth = 0;
  while (at < length) {
    const byte = body[at] as number;
    if (byte === 0x22) {
      at++;
      while (at < length && body[at] !== 0x22) at += body[at] === 0x5c ? 2 : 1;
    } else if ((byte | 0x20) === 0x7b) {
      depth++;
    } else if ((byte | 0x20) === 0x7d) {
      if (depth === 0) return at;
      depth--;
    } else if (byte === 0x2c && depth === 0) {
      return at;
    }
    at++;
  }
  return length;
}
