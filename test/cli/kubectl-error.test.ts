import { describe, expect, it } from 'vitest';
import { kubectlError, type Doing, type ErrorStatus } from '../../src/cli/kubectl-error.ts';

const CREATING: Doing = { verb: 'creating', source: 'a.yaml' };
const status = (change: Partial<ErrorStatus>): ErrorStatus => ({
  message: 'no',
  reason: 'Forbidden',
  code: 403,
  ...change,
});
const cause = (message: string, field?: string): { message: string; field?: string } => ({
  message,
  ...(field === undefined ? {} : { field }),
});

describe('an error as kubectl shows it', () => {
  it.each<[string, ErrorStatus, Doing | undefined, string]>([
    ['by its reason and message', status({}), undefined, 'Error from server (Forbidden): no'],
    [
      'with what kubectl did',
      status({}),
      CREATING,
      'Error from server (Forbidden): error when creating "a.yaml": no',
    ],
    ['without a reason', status({ reason: '', code: 400 }), undefined, 'Error from server: no'],
    [
      'of what is invalid by its cause alone',
      status({
        reason: 'Invalid',
        code: 422,
        details: { kind: 'deployments', name: 'x', causes: [cause('no')] },
      }),
      CREATING,
      'The deployments "x" is invalid: : no',
    ],
    [
      'of what is invalid by each of its causes once',
      status({
        reason: 'Invalid',
        code: 422,
        details: { kind: 'K', name: 'x', causes: [cause('no', 'a'), cause('no', 'b'), cause('no', 'a')] },
      }),
      CREATING,
      'The K "x" is invalid: \n* a: no\n* b: no',
    ],
    [
      'of a webhook that names nothing',
      status({ reason: 'Invalid', code: 422, details: { causes: [cause('no')] } }),
      CREATING,
      'The request is invalid: : no',
    ],
    [
      'without causes and names by its message',
      status({ reason: 'Invalid', code: 422, details: {} }),
      CREATING,
      'The request is invalid: error when creating "a.yaml": no',
    ],
    [
      'without details by its message',
      status({ reason: 'Invalid' }),
      undefined,
      'The request is invalid: no',
    ],
    [
      'without causes by its name',
      status({ reason: 'Invalid', details: { kind: 'K', name: 'x' } }),
      undefined,
      'The K "x" is invalid',
    ],
    [
      'with a reason that nobody knows, whatever its code',
      status({ reason: 'Odd', code: 422 }),
      CREATING,
      'Error from server (Odd): error when creating "a.yaml": no',
    ],
    [
      'of who is not known as a matter of logging in',
      status({ reason: 'Unauthorized', code: 401 }),
      CREATING,
      'error: You must be logged in to the server (error when creating "a.yaml": no)',
    ],
  ])('%s', (_how, given, doing, text) => {
    expect(kubectlError(given, doing)).toBe(text);
  });
});
