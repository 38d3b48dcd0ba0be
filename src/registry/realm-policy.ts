/**
 * Which token server we talk to: a registry names it in its answer, and whoever answers for a registry must not choose
 * who sees our credentials (platform.md §1.3 rule 6).
 */
import { refused, type Subject, wrongAnswer, shownHost } from './failures.ts';
import type { HostList } from './hosts.ts';

/** Docker Hub, whose token server is a sibling of the registry. */
const DOCKER_HUB = /^(?:index|registry-1)\.docker\.io$/;
const DOCKER_HUB_REALM = 'auth.docker.io';

/**
 * Allowed are the registry's host, a host below it, a domain above it (whoever has that has the registry too), and what
 * the operator lists. A sibling, such as `auth.example.com` for `registry.example.com`, must be listed: without the
 * list of public suffixes nobody can tell it from another customer's host.
 * @throws GateError GATE_REGISTRY_REFUSED, or …_ANSWER where it is no URL
 */
export function checkRealm(text: string, registry: URL, allowed: HostList, subject: Subject): URL {
  const realm = URL.parse(text);
  if (realm === null || (realm.protocol !== 'https:' && realm.protocol !== 'http:'))
    throw wrongAnswer({ ...subject, wanted: 'the challenge' }, 'names a token server that is no URL');
  if (realm.username !== '' || realm.password !== '')
    throw refused(subject, `the address of the token server ${shownHost(realm)} carries a user name`);
  if (registry.protocol === 'https:' && realm.protocol !== 'https:')
    throw refused(
      subject,
      `the token server ${shownHost(realm)} is without TLS, and the registry has it; no credentials were sent`,
    );
  const isKnown = DOCKER_HUB.test(registry.hostname) && realm.hostname === DOCKER_HUB_REALM;
  if (!isKnown && !isRelated(realm.hostname, registry.hostname) && !allowed.hasUrl(realm))
    throw refused(
      subject,
      `the token server ${shownHost(realm)} is on a host foreign to the registry; no credentials were sent: add it to registry.realms if it belongs to the registry`,
    );
  realm.hash = '';
  return realm;
}

function isRelated(realm: string, registry: string): boolean {
  if (realm === registry) return true;
  // Addresses have no domains, and a name of one label is above everybody.
  if (/^\[|^[\d.]+$/.test(realm) || /^\[|^[\d.]+$/.test(registry)) return false;
  return realm.endsWith(`.${registry}`) || (realm.includes('.') && registry.endsWith(`.${realm}`));
}
