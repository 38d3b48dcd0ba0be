/** Input that no API server sends, each with the one answer it gets; driven through the edge and through HTTPS. */
import { calls, transport, versions } from './calls.ts';
import type { BadInputCase } from './case.ts';
import { envelopes, hostileNames, readable } from './reviews.ts';

/** Every case, each of which is a POST of a good review to the entry under Fail where it says nothing else. */
export function badInputCases(): readonly BadInputCase[] {
  return [...transport, ...versions, ...calls, ...envelopes, ...readable, ...hostileNames];
}
