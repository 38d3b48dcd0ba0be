/**
 * Refuses to connect to addresses where no registry is. It looks at what a name was resolved to in the very look-up that
 * the connection uses, so that a name which resolves differently the next time gains nothing.
 */
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { GateError } from '../errors.ts';
import { AddressKinds, AddressSet, isAddressRange, isInnerName, plainAddress } from './addresses.ts';

/**
 * Who named a host: `asked` is the registry of the reference itself, which may be in a private network; `led` is a host
 * that an answer led to (redirect, token server), which may not, unless the registry is there too.
 */
export type Origin = 'asked' | 'led';

export interface AddressGuardOptions {
  /** Addresses, CIDRs and host names (exact, without port) that are let through whatever they are. */
  readonly allowAddresses?: readonly string[];
  readonly lookup?: LookupFunction;
}

/** Hosts whose kind of address is known: the ones seen longest ago are forgotten. */
const REMEMBERED_HOSTS = 1_000;

export class AddressGuard {
  readonly #kinds = new AddressKinds();
  readonly #allowed: AddressSet;
  readonly #allowedHosts: ReadonlySet<string>;
  readonly #lookup: LookupFunction;
  readonly #privateHosts = new Set<string>();
  /** Hosts that had a public address once: who they are when they answer cannot be told from the last look-up. */
  readonly #publicHosts = new Set<string>();

  constructor(options: AddressGuardOptions) {
    const entries = options.allowAddresses ?? [];
    this.#allowed = new AddressSet(entries.filter(isAddressRange));
    this.#allowedHosts = new Set(entries.filter((entry) => !isAddressRange(entry)).map(lowerHost));
    this.#lookup = options.lookup ?? systemLookup;
  }

  /**
   * What can be said before any look-up: an address in a URL is never looked up, and behind a proxy no name is (the
   * proxy does that, and which addresses it reaches is its operator's choice).
   * @param host of a URL, with brackets where it has them.
   * @throws GateError GATE_REGISTRY_REFUSED
   */
  checkHost(host: string, origin: Origin, isProxied: boolean): void {
    const bare = lowerHost(host);
    if (isIP(bare) !== 0) this.#checkAddresses(bare, [bare], origin);
    else if (isProxied && isInnerName(bare) && !this.#allowedHosts.has(bare))
      throw forbidden(bare, 'is a name of this machine or of a metadata service');
  }

  /** Whether the registry was seen in a private network, so that what it leads to may be there too. */
  isPrivate(host: string): boolean {
    return this.#privateHosts.has(lowerHost(host));
  }

  /** For connections: fails with GATE_REGISTRY_REFUSED where one of the addresses is not allowed. */
  lookupFor(origin: Origin): LookupFunction {
    return (host, options, callback) => {
      this.#lookup(host, { ...options, all: true }, (error, found) => {
        const addresses = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : found;
        const [first] = addresses ?? [];
        if (error !== null || first === undefined) {
          callback(error ?? notFound(host), '', 0);
          return;
        }
        try {
          this.#checkAddresses(
            host,
            addresses.map(({ address }) => address),
            origin,
          );
        } catch (refusal) {
          callback(refusal as GateError, '', 0);
          return;
        }
        if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      });
    };
  }

  /** One forbidden address among several refuses the name: whoever mixes them means it to be tried. */
  #checkAddresses(host: string, addresses: readonly string[], origin: Origin): void {
    if (this.#allowedHosts.has(lowerHost(host))) {
      this.#remember(host, addresses);
      return;
    }
    for (const address of addresses) {
      const plain = plainAddress(address);
      if (this.#allowed.has(plain) || this.#allowed.has(address)) continue;
      const kind = this.#kinds.of(plain);
      if (kind === 'inner')
        throw forbidden(
          host,
          `has the address ${address}, which is of this machine, its link or a metadata service`,
        );
      if (kind === 'private' && origin === 'led')
        throw forbidden(
          host,
          `has the private address ${address}, and a registry outside of it may not lead there`,
        );
    }
    if (origin === 'asked') this.#remember(host, addresses);
  }

  /** Private is only what never had another address, or a name with both would open the network to its outer half. */
  #remember(host: string, addresses: readonly string[]): void {
    const name = lowerHost(host);
    if (addresses.some((address) => this.#kinds.of(plainAddress(address)) === 'public')) {
      this.#privateHosts.delete(name);
      addBounded(this.#publicHosts, name);
    } else if (!this.#publicHosts.has(name)) addBounded(this.#privateHosts, name);
  }
}

function addBounded(hosts: Set<string>, host: string): void {
  hosts.delete(host);
  hosts.add(host);
  for (const oldest of hosts) {
    if (hosts.size <= REMEMBERED_HOSTS) break;
    hosts.delete(oldest);
  }
}

function lowerHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

function forbidden(host: string, why: string): GateError {
  return new GateError(
    'GATE_REGISTRY_REFUSED',
    `the host ${host} ${why}; nothing was sent there: add it to registry.allowAddresses if that is meant`,
  );
}

function notFound(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
}
