/** TokenReview and SubjectAccessReview: what is sent, and what the answer's status says. */
import { isRecord, malformedAnswer, type Question } from './answers.ts';
import type { AccessAnswer, AccessQuestion, TokenReviewResult } from './cluster.ts';
import type { UserInfo } from './objects.ts';

export const TOKEN_REVIEW = {
  group: 'authentication.k8s.io',
  version: 'v1',
  resource: 'tokenreviews',
} as const;
export const SUBJECT_ACCESS_REVIEW = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'subjectaccessreviews',
} as const;

/** Authenticators' explanations, joined by the API server; some repeat what they were given. */
const ERROR_LENGTH = 500;

/** `spec` of a SubjectAccessReview. */
export function accessReviewOf({ user, resource, nonResource }: AccessQuestion): Record<string, unknown> {
  if ((resource === undefined) === (nonResource === undefined))
    throw new TypeError('an access question is about a resource or a path, one of the two');
  return {
    ...(user.username !== undefined && { user: user.username }),
    ...(user.uid !== undefined && { uid: user.uid }),
    ...(user.groups !== undefined && { groups: user.groups }),
    ...(user.extra !== undefined && { extra: user.extra }),
    ...(resource !== undefined && { resourceAttributes: resource }),
    ...(nonResource !== undefined && { nonResourceAttributes: nonResource }),
  };
}

/** @param token is cut out of the server's explanation, should that repeat it. */
export function tokenResultOf(body: unknown, question: Question, token: string): TokenReviewResult {
  const status = statusOf(body, question);
  const authenticated = status['authenticated'] === true;
  const user = userOf(status['user']);
  if (authenticated && (user.username === undefined || user.username === ''))
    throw malformedAnswer(question, 'an authenticated token without a user name');
  const error = status['error'];
  return {
    authenticated,
    user,
    audiences: stringsOf(status['audiences']) ?? [],
    ...(typeof error === 'string' &&
      error !== '' && {
        error: (token === '' ? error : error.replaceAll(token, '…')).slice(0, ERROR_LENGTH),
      }),
  };
}

export function accessAnswerOf(body: unknown, question: Question): AccessAnswer {
  const status = statusOf(body, question);
  const { allowed, denied, reason, evaluationError } = status;
  if (typeof allowed !== 'boolean') throw malformedAnswer(question, 'a review without status.allowed');
  return {
    // Both at once is no yes.
    allowed: allowed && denied !== true,
    denied: denied === true,
    reason: typeof reason === 'string' ? reason : '',
    ...(typeof evaluationError === 'string' && evaluationError !== '' && { evaluationError }),
  };
}

function statusOf(body: unknown, question: Question): Record<string, unknown> {
  const status = isRecord(body) ? body['status'] : undefined;
  if (!isRecord(status)) throw malformedAnswer(question, 'a review without status');
  return status;
}

function userOf(value: unknown): UserInfo {
  if (!isRecord(value)) return {};
  const { username, uid } = value;
  const groups = stringsOf(value['groups']);
  const extra = isRecord(value['extra'])
    ? Object.fromEntries(
        Object.entries(value['extra']).map(([key, values]) => [key, stringsOf(values) ?? []]),
      )
    : undefined;
  return {
    ...(typeof username === 'string' && { username }),
    ...(typeof uid === 'string' && { uid }),
    ...(groups !== undefined && { groups }),
    ...(extra !== undefined && { extra }),
  };
}

function stringsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined;
}
