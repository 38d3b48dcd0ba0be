/** Which proxy a host is reached by. Written here because undici's own reading of exceptions knows no CIDRs (platform.md §7). */
import { isIP } from 'node:net';
import { GateError } from '../errors.ts';
import { AddressSet, isAddressRange, plainAddress } from './addresses.ts';

export interface ProxyOptions {
  /** For https, such as `http://proxy.test:3128`; user and password may be in it. */
  readonly https?: string;
  /** For plain http. */
  readonly http?: string;
  /** Reached without: `host`, `.suffix`, `*.suffix`, `host:port`, an address, a CIDR, or `*`. */
  readonly except?: readonly string[];
}

const SCHEMES: ReadonlySet<string | undefined> = new Set(['http:', 'https:']);

export class Proxies {
  readonly #https: string | undefined;
  readonly #http: string | undefined;
  readonly #names: readonly string[];
  readonly #addresses: AddressSet;

  /** @throws GateError GATE_CONFIG_INVALID where a proxy is no URL; the message does not repeat it. */
  constructor(options: ProxyOptions) {
    this.#https = checkedProxy('https', options.https);
    this.#http = checkedProxy('http', options.http);
    const entries = (options.except ?? []).map((entry) => entry.trim().toLowerCase()).filter(Boolean);
    this.#names = entries.filter((entry) => !isAddressRange(entry));
    this.#addresses = new AddressSet(entries.filter(isAddressRange));
  }

  /** @returns undefined: reached without one. */
  forUrl(url: URL): string | undefined {
    const proxy = url.protocol === 'https:' ? this.#https : this.#http;
    return proxy === undefined || this.#isExcepted(url) ? undefined : proxy;
  }

  #isExcepted(url: URL): boolean {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
    if (isIP(host) !== 0 && this.#addresses.has(plainAddress(host))) return true;
    return this.#names.some((entry) => {
      const [, name = '', wantedPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (wantedPort !== undefined && wantedPort !== port) return false;
      if (name === '*') return true;
      const suffix = name.replace(/^\*?\.?/, '');
      return host.endsWith(`.${suffix}`) || (host === suffix && !name.startsWith('*'));
    });
  }
}

function checkedProxy(scheme: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (!SCHEMES.has(URL.parse(text)?.protocol))
    // Not repeated: a proxy's address may hold a password.
    throw new GateError(
      'GATE_CONFIG_INVALID',
      `the proxy for ${scheme} is not a URL that begins with http:// or https://; correct registry.proxy`,
    );
  return text;
}
