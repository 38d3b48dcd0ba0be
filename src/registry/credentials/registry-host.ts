/** Names of registries as credentials are filed under them. */

/** Docker Hub by all the names its credentials are filed under (operator.md §3.3). */
const DOCKER_HUB = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

/** Host and port without scheme and path, in lower case; Docker Hub always as `index.docker.io`. */
export function registryHost(text: string): string {
  const host = (text.replace(/^[a-z]+:\/\//i, '').split('/', 1)[0] ?? '').toLowerCase();
  return DOCKER_HUB.has(host) ? 'index.docker.io' : host;
}
