/** The repository of a reference, in one form on both sides of a comparison (operator.md §5.4 and §20, T3). */

/** Names of one and the same registry; an image without a namespace is in `library` there. */
const DOCKER_HUB: ReadonlySet<string> = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

/** @returns host and repository without scheme, tag and digest; empty for an empty reference. */
export function repositoryOf(reference: string): string {
  const bare = withoutTag(
    reference
      .trim()
      .replace(/^oci:\/\//, '')
      .replace(/@.*$/s, ''),
  );
  if (bare === '') return '';
  const slash = bare.indexOf('/');
  const first = bare.slice(0, Math.max(0, slash));
  // A registry has a dot or a port; anything else is of Docker Hub (operator.md §3.3).
  const hasHost = slash > 0 && (/[.:]/.test(first) || first === 'localhost');
  const host = hasHost ? first.toLowerCase() : 'docker.io';
  const path = hasHost ? bare.slice(slash + 1) : bare;
  if (!DOCKER_HUB.has(host)) return `${host}/${path}`;
  return `docker.io/${path.includes('/') ? path : `library/${path}`}`;
}

/** A colon is a tag's only behind the last slash: before it, it is a port's. */
function withoutTag(reference: string): string {
  const colon = reference.lastIndexOf(':');
  return colon > reference.lastIndexOf('/') ? reference.slice(0, colon) : reference;
}
