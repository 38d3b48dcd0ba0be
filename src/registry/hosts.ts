/** Lists of hosts in the configuration, matched with the host of a registry or URL. */

const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map([
  ['https:', '443'],
  ['http:', '80'],
]);

/**
 * Entries: `host`, which is that host on any port; `host:port`; `*.suffix` with or without a port, which is every host
 * below the suffix and not the suffix itself. Upper and lower case are the same.
 */
export class HostList {
  readonly #entries: readonly string[];

  constructor(entries: readonly string[]) {
    this.#entries = entries.map((entry) => entry.trim().toLowerCase()).filter((entry) => entry !== '');
  }

  hasUrl(url: URL): boolean {
    return this.has(url.hostname, url.port === '' ? DEFAULT_PORTS.get(url.protocol) : url.port);
  }

  /** @param registry as references have it: `host` or `host:port`; without a port it is that of https. */
  hasRegistry(registry: string): boolean {
    const url = URL.parse(`https://${registry}/`);
    return url !== null && this.hasUrl(url);
  }

  has(host: string, port: string | undefined): boolean {
    return this.#entries.some((entry) => matches(entry, host, port));
  }

  /** The entry that names the host most exactly. */
  find(registry: string): string | undefined {
    const url = URL.parse(`https://${registry}/`);
    if (url === null) return undefined;
    const port = url.port === '' ? '443' : url.port;
    return this.#entries
      .filter((entry) => matches(entry, url.hostname, port))
      .toSorted((a, b) => b.length - a.length)[0];
  }
}

function matches(entry: string, host: string, port: string | undefined): boolean {
  const [, name = '', wantedPort] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
}
