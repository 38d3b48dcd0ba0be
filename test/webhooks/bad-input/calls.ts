/** Calls that are no review: each is refused, with the one answer it gets. */
import { gzipSync } from 'node:zlib';

import { aLease, aReview } from '../../support/builders.ts';
import { json, review, text, withRequest, type BadInputCase, type Refusal } from './case.ts';

const MIB = 1024 * 1024;
const LONGEST_REVIEW = 8 * MIB;

const timeout = (found: string): Refusal => ({
  status: 400,
  code: 'GATE_REVIEW_TIMEOUT',
  message: `timeout: not usable (found ${found}, need a duration above zero such as "10s"): send the timeoutSeconds of the webhook entry`,
});
const notJson = (offset: number): Refusal => ({
  status: 400,
  code: 'GATE_REVIEW_NOT_JSON',
  message: `request body: not JSON (found at byte ${String(offset)}): send an AdmissionReview as JSON`,
});
const badUid = (found: string): Refusal => ({
  status: 400,
  code: 'GATE_REVIEW_INVALID',
  message: `request.uid: not usable (found ${found}, need 1 to 256 characters): send the uid to be answered`,
});

export const transport: readonly BadInputCase[] = [
  {
    name: 'an empty body',
    body: () => new Uint8Array(),
    refused: {
      status: 400,
      code: 'GATE_REVIEW_EMPTY',
      message: 'request body: empty: send an AdmissionReview as JSON',
    },
  },
  {
    name: 'a truncated body',
    body: () => Buffer.from('{"kind":"AdmissionReview","apiVers'),
    refused: notJson(34),
  },
  { name: 'a body of one word', body: () => Buffer.from('review'), refused: notJson(0) },
  {
    name: 'a body of 8 MiB and one byte',
    body: () => Buffer.alloc(LONGEST_REVIEW + 1, 0x20),
    refused: {
      status: 413,
      code: 'GATE_REVIEW_TOO_LARGE',
      message: 'request body: too large (found 8388609 bytes, need at most 8388608): send a smaller review',
    },
    listenerAnswers: true,
  },
  {
    name: 'an object nested 100,000 deep',
    body: () => Buffer.from('{"request":'.repeat(100_000) + '1' + '}'.repeat(100_000)),
    refused: {
      status: 400,
      code: 'GATE_REVIEW_TOO_DEEP',
      message: `request body: nested deeper than 512 levels (found at byte ${String(512 * 11)}): send a flatter object`,
    },
  },
  {
    name: 'a number that no double can hold',
    body: text((body) => body.replace('"kind":{', '"number":1e999,"kind":{')),
    refused: {
      status: 400,
      code: 'GATE_REVIEW_NOT_JSON',
      message: `request body: a number beyond the range of a double (found at byte ${String(
        Buffer.from(review()).toString().indexOf(',"kind":{') + 10,
      )}): send valid JSON`,
    },
  },
  {
    name: 'a body of another media type',
    headers: { 'content-type': 'application/yaml' },
    refused: {
      status: 415,
      code: 'GATE_REVIEW_MEDIA_TYPE',
      message: 'content-type: not a review (found "application/yaml", need application/json): send JSON',
    },
  },
  {
    name: 'a body in another character set',
    headers: { 'content-type': 'application/json; charset=utf-16' },
    refused: {
      status: 415,
      code: 'GATE_REVIEW_MEDIA_TYPE',
      message:
        'content-type: not a review (found "application/json; charset=utf-16", need application/json): send JSON',
    },
  },
  {
    name: 'a compressed body',
    headers: { 'content-encoding': 'gzip' },
    body: () => gzipSync(review()),
    refused: {
      status: 415,
      code: 'GATE_REVIEW_ENCODING',
      message: 'content-encoding: not supported (found "gzip", need identity): send the review uncompressed',
    },
  },
  {
    name: 'a body that is not UTF-8',
    body: () => Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    refused: {
      status: 400,
      code: 'GATE_REVIEW_NOT_UTF8',
      message: 'request body: not UTF-8 (found at byte 6): send the review as UTF-8',
    },
  },
];

export const versions: readonly BadInputCase[] = [
  {
    name: 'a review of an unknown version',
    body: text((body) => body.replace('admission.k8s.io/v1', 'admission.k8s.io/v2')),
    refused: {
      status: 400,
      code: 'GATE_REVIEW_VERSION',
      message:
        'apiVersion: unknown review version (found "admission.k8s.io/v2", need admission.k8s.io/v1 or admission.k8s.io/v1beta1): set admissionReviewVersions of the webhook to v1',
    },
  },
  {
    name: 'an object that is no review',
    body: () => json(aLease()),
    refused: {
      status: 400,
      code: 'GATE_REVIEW_VERSION',
      message: 'kind: not a review (need AdmissionReview): send an AdmissionReview',
    },
  },
  {
    name: 'a review of a list',
    body: () => json([aReview({ object: aLease() })]),
    refused: {
      status: 400,
      code: 'GATE_REVIEW_VERSION',
      message: 'kind: not a review (need AdmissionReview): send an AdmissionReview',
    },
  },
  {
    name: 'a review without a request',
    body: () => json({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' }),
    refused: {
      status: 400,
      code: 'GATE_REVIEW_INVALID',
      message: 'request: missing: send an AdmissionReview that asks something',
    },
  },
  {
    name: 'a review of v1beta1',
    body: () => review({ version: 'v1beta1' }),
    apiVersion: 'admission.k8s.io/v1beta1',
    response: { allowed: true },
  },
  { name: 'a review without a uid', body: withRequest({ uid: undefined }), refused: badUid('no text') },
  { name: 'a review with an empty uid', body: withRequest({ uid: '' }), refused: badUid('empty text') },
  { name: 'a review whose uid is a number', body: withRequest({ uid: 7 }), refused: badUid('no text') },
  {
    name: 'a review with a uid of 10 KB',
    body: withRequest({ uid: 'a'.repeat(10_000) }),
    refused: badUid('10000 characters'),
  },
];

export const calls: readonly BadInputCase[] = [
  { name: 'a negative timeout', query: 'timeout=-5s', refused: timeout('"-5s"') },
  { name: 'a timeout of zero', query: 'timeout=0s', refused: timeout('"0s"') },
  { name: 'a timeout without unit', query: 'timeout=10', refused: timeout('"10"') },
  { name: 'an empty timeout', query: 'timeout=', refused: timeout('""') },
  { name: 'two timeouts', query: 'timeout=1s&timeout=2s', refused: timeout('"several"') },
  {
    name: 'a bad timeout with a bad body',
    query: 'timeout=no',
    body: () => Buffer.from('{'),
    refused: timeout('"no"'),
  },
  {
    name: 'an unknown path',
    path: '/validate/%2e%2e/closed',
    refused: {
      status: 404,
      code: 'GATE_HTTP_NOT_FOUND',
      message: '"/validate/%2e%2e/closed": no webhook here: check the path of the webhook entry',
    },
    listenerAnswers: true,
  },
  {
    name: 'another method',
    method: 'PUT',
    refused: {
      status: 405,
      code: 'GATE_HTTP_METHOD',
      message: '"/validate/closed": "PUT" is not answered here: use POST',
    },
    listenerAnswers: true,
  },
];
