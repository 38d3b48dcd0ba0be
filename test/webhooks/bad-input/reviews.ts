/** Reviews that are not as an API server sends them: each is answered by its uid. */
import { aLease, aUser } from '../../support/builders.ts';
import {
  FAIL_ENTRY,
  IGNORE_ENTRY,
  review,
  text,
  withRequest,
  type BadInputCase,
  type Response,
} from './case.ts';

const failed = (message: string): Response => ({
  allowed: false,
  status: {
    metadata: {},
    status: 'Failure',
    message: `${FAIL_ENTRY}: no decision: ${message}`,
    reason: 'InternalError',
    code: 500,
  },
});
const invalid = (wrong: string): Response =>
  failed(`request.${wrong}: send the review as the API server does [GATE_REVIEW_INVALID]`);
const denied = (message: string): Response => ({
  allowed: false,
  status: {
    metadata: {},
    status: 'Failure',
    message: `metadata.name: ${message} [NAME_DENIED]`,
    reason: 'Forbidden',
    details: { causes: [{ reason: 'NAME_DENIED', message, field: 'metadata.name' }] },
    code: 403,
  },
});
export const envelopes: readonly BadInputCase[] = [
  {
    name: 'no object on CREATE',
    body: withRequest({ object: null, operation: 'CREATE' }),
    response: invalid('object: missing (CREATE carries one)'),
  },
  {
    name: 'neither object on UPDATE',
    body: withRequest({ object: null, oldObject: null, operation: 'UPDATE' }),
    response: invalid('object: missing (UPDATE carries one)'),
  },
  {
    name: 'no old object on UPDATE',
    body: withRequest({ operation: 'UPDATE' }),
    response: invalid('oldObject: missing (UPDATE carries one)'),
  },
  {
    name: 'neither object on DELETE',
    body: withRequest({ object: undefined, oldObject: undefined, operation: 'DELETE' }),
    response: invalid('oldObject: missing (DELETE carries one)'),
  },
  {
    name: 'an object that is a list',
    body: withRequest({ object: [] }),
    response: invalid('object: not an object'),
  },
  {
    name: 'an object that is the number 1.0',
    body: text((body) => body.replace('"oldObject":null', '"oldObject":1.0')),
    response: invalid('oldObject: not an object'),
  },
  {
    name: 'a number behind the objects that no double can hold',
    body: text((body) => body.replace('"dryRun":false', '"dryRun":1e999')),
    response: failed(
      `request body: a number beyond the range of a double (found at byte ${String(
        Buffer.from(review()).toString().indexOf('"dryRun":') + 9,
      )}): send valid JSON [GATE_REVIEW_NOT_JSON]`,
    ),
  },
  {
    name: 'more than a thousand keys in the extra values of the user',
    body: withRequest({
      userInfo: {
        username: 'alice',
        extra: Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`k${String(index)}`, []])),
      },
    }),
    response: invalid('userInfo.extra: more than 1000 keys'),
  },
  {
    name: 'an unknown operation',
    body: withRequest({ operation: 'PATCH' }),
    response: invalid('operation: unknown (found "PATCH", need CREATE, UPDATE, DELETE or CONNECT)'),
  },
  {
    name: 'an operation that every object inherits',
    body: withRequest({ operation: 'constructor' }),
    response: invalid('operation: unknown (found "constructor", need CREATE, UPDATE, DELETE or CONNECT)'),
  },
  {
    name: 'no user',
    body: withRequest({ userInfo: undefined }),
    response: invalid('userInfo: missing'),
  },
  {
    name: 'a user without a name',
    body: withRequest({ userInfo: { groups: ['system:authenticated'] } }),
    response: invalid('userInfo.username: missing'),
  },
  {
    name: 'a user name that is a number',
    body: withRequest({ userInfo: { username: 1 } }),
    response: invalid('userInfo.username: not text'),
  },
  {
    name: 'groups that are no list',
    body: withRequest({ userInfo: aUser({ groups: 'system:masters' as never }) }),
    response: invalid('userInfo.groups: not a list'),
  },
  {
    name: 'extra that is a list',
    body: withRequest({ userInfo: { username: 'alice', extra: [] } }),
    response: invalid('userInfo.extra: not an object'),
  },
  {
    name: 'an extra value that is not text',
    body: withRequest({ userInfo: { username: 'alice', extra: { 'a\u202e': ['x', 1] } } }),
    response: invalid(String.raw`userInfo.extra["a\u202e"][1]: not text`),
  },
  {
    name: 'no kind',
    body: withRequest({ kind: undefined }),
    response: invalid('kind: missing'),
  },
  {
    name: 'a resource without its plural',
    body: withRequest({ resource: { group: '', version: 'v1' } }),
    response: invalid('resource.resource: missing or not text'),
  },
  {
    name: 'a dry-run mark that is text',
    body: withRequest({ dryRun: 'false' }),
    response: invalid('dryRun: not true or false'),
  },
  {
    name: 'no user, where the entry is to be ignored on failure',
    path: '/validate/open',
    body: withRequest({ userInfo: undefined }),
    response: {
      allowed: true,
      warnings: [
        `${IGNORE_ENTRY}: not enforced on this request: request.userInfo: missing: send the review as the API server does [GATE_REVIEW_INVALID]`,
      ],
      auditAnnotations: {
        'failed-open':
          'request.userInfo: missing: send the review as the API server does [GATE_REVIEW_INVALID]',
      },
    },
  },
];

const extraOf = (count: number): Readonly<Record<string, readonly string[]>> => ({
  'example.com/key': Array.from({ length: count }, (_, index) => `value ${String(index)}`),
});

export const readable: readonly BadInputCase[] = [
  {
    name: 'duplicate keys: the last one counts',
    body: text((body) =>
      body.replace('"uid":', '"uid":"first","uid":').replace('"name":"node-a"', '"name":"denied","name":"b"'),
    ),
    response: { allowed: true },
  },
  {
    name: 'duplicate keys: the last name is the denied one',
    body: text((body) => body.replace('"operation":', '"name":"denied","operation":')),
    response: denied('not liked (found "denied")'),
  },
  ...[0, 1, 2, 10_000].map((count) => ({
    name: `a user with ${String(count)} extra values`,
    body: () => review({ extra: extraOf(count) }),
    response: { allowed: true },
  })),
  {
    name: 'a user with the extra key __proto__ and a list that is null',
    body: text((body) => body.replace('"username":', '"extra":{"__proto__":["x"],"a":null},"username":')),
    response: { allowed: true },
  },
  {
    name: 'a body with __proto__ and constructor as keys',
    body: text((body) =>
      body.replace('"spec":', '"__proto__":{"a":1},"constructor":{"prototype":{}},"spec":'),
    ),
    response: { allowed: true },
  },
  {
    name: 'a delete collection, which names nothing',
    body: () => review({ name: '', object: null, oldObject: aLease() }),
    response: { allowed: true },
  },
  {
    name: 'a connect without an object',
    body: () => review({ operation: 'CONNECT', object: null, name: 'web', subResource: 'exec' }),
    response: { allowed: true },
  },
  {
    name: 'fields that nobody knows',
    body: withRequest({ later: { anything: [1, 2] } }),
    response: { allowed: true },
  },
  {
    name: 'a media type with parameters',
    headers: { 'content-type': 'Application/JSON; charset="UTF-8"' },
    response: { allowed: true },
  },
  {
    name: 'an encoding that changes nothing',
    headers: { 'content-encoding': 'identity' },
    response: { allowed: true },
  },
];

const names: readonly (readonly [name: string, shown: string])[] = [
  ['denied-%2e%2e%00', '"denied-%2e%2e%00"'],
  ['denied/../../secrets', '"denied/../../secrets"'],
  ['denied\nforged line', String.raw`"denied\nforged line"`],
  ['denied\u0000', String.raw`"denied\u0000"`],
  ['denied\u202egnp.exe\u202c', String.raw`"denied\u202egnp.exe\u202c"`],
  ['denied\u200b\u2066x', String.raw`"denied\u200b\u2066x"`],
  ['denied\u001b[31m', String.raw`"denied\u001b[31m"`],
  [`denied${'a'.repeat(300)}`, `"denied${'a'.repeat(114)}…"`],
];

export const hostileNames: readonly BadInputCase[] = names.map(([name, shown]) => ({
  name: `the name ${shown}`,
  body: () => review({ name }),
  response: denied(`not liked (found ${shown})`),
}));
