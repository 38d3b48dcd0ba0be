/** The envelope of a review: who asks for what. Checked here, while the objects in it are not (design decision 7). */
import type {
  AdmissionRequest,
  GroupVersionKind,
  GroupVersionResource,
  Operation,
  UserInfo,
} from '../cluster/objects.ts';
import { quote } from '../errors.ts';
import { isBoxedDouble } from '../json.ts';

/** What is wrong with the envelope, and where. */
export class EnvelopeFault extends Error {
  constructor(path: string, wrong: string) {
    super(`request${path === '' ? '' : `.${path}`}: ${wrong}: send the review as the API server does`);
  }
}

/**
 * `request` of a review, checked.
 * @param withObjects whether its objects are there; where not, both are null.
 * @throws EnvelopeFault
 */
export function readRequest(uid: string, request: Foreign, withObjects = true): AdmissionRequest {
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
    object: withObjects ? readObject(request, 'object', operation) : null,
    oldObject: withObjects ? readObject(request, 'oldObject', operation) : null,
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

/** A token brings four; what a header field of an impersonating user may hold is far from a thousand. */
const MAX_EXTRA_KEYS = 1_000;

/** Keys are foreign, `__proto__` among them: the object has no prototype, and `Object.hasOwn` reads it as any other. */
function readExtra(value: unknown, path: string): Readonly<Record<string, readonly string[]>> {
  if (!isRecord(value)) throw new EnvelopeFault(path, 'not an object');
  const keys = Object.keys(value);
  if (keys.length > MAX_EXTRA_KEYS) {
    throw new EnvelopeFault(path, `more than ${String(MAX_EXTRA_KEYS)} keys`);
  }
  const extra = Object.create(null) as Record<string, readonly string[]>;
  for (const key of keys) {
    const values = value[key];
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

export function isRecord(value: unknown): value is Foreign {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isBoxedDouble(value);
}

export function own(record: Foreign, field: string): unknown {
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
