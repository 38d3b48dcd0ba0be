/** Redirects, followed by hand (platform.md §1.3 rule 5). */
import { refused, type Subject, wrongAnswer, shownHost } from './failures.ts';

export const MAX_REDIRECTS = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * Where it leads. That it does not lead to plain http is the dialer's business, as is where its address is.
 * @throws GateError GATE_REGISTRY_ANSWER or …_REFUSED
 */
export function redirectTarget(from: URL, location: string | undefined, subject: Subject): URL {
  const target = location === undefined ? null : URL.parse(location, from.href);
  if (target === null || (target.protocol !== 'https:' && target.protocol !== 'http:'))
    throw wrongAnswer({ ...subject, wanted: 'the redirect' }, 'does not say where to');
  if (target.username !== '' || target.password !== '')
    throw refused(subject, `the registry leads to ${shownHost(target)} with a user name of its own`);
  target.hash = '';
  return target;
}
