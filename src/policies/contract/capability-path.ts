/** The path of a capability's probe (contract.md §3.3.4), judged as Go's `url.Parse` would read it. */

/** What `url.Parse` refuses outside a fragment, byte by byte. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/** A percent sign without two hex digits behind it. */
const BROKEN_ESCAPE = /%(?![0-9a-fA-F]{2})/;

/**
 * Whether the path can only ever be one on the host that the prober chose: no reading of it, decoded or not, names a
 * host, and it has no fragment. Dot segments and queries are allowed.
 */
export function isSafeCapabilityPath(path: string): boolean {
  const hash = path.indexOf('#');
  const beforeFragment = hash === -1 ? path : path.slice(0, hash);
  const fragment = hash === -1 ? '' : path.slice(hash + 1);
  const [urlPath = ''] = beforeFragment.split('?', 1);

  if (!urlPath.startsWith('/') || fragment !== '') return false;
  // The query is never decoded by the parser; control characters count there too.
  if (CONTROL.test(beforeFragment) || BROKEN_ESCAPE.test(urlPath)) return false;
  return !/^\/(?:\/|%2f)/i.test(urlPath);
}
