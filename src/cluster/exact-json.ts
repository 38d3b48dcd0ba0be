/** JSON of an API server's answer. */
import { readJson } from '../json.ts';

/**
 * @param exact as ReadOptions.exact: a pass over the bytes more, so it is for the few kinds whose numbers count. The
 *   token `-0` is the integer 0 then, as client-go reads it.
 * @throws where it is none.
 */
export function parseJson(body: Buffer, exact: boolean | undefined): unknown {
  return exact === true ? readJson(body, { negativeZero: 'int' }) : JSON.parse(body.toString('utf8'));
}
