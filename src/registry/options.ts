/** What a registry client is told from outside; every limit has a value of its own where nothing is said. */
import type { LookupFunction } from 'node:net';
import { type Clock, systemClock } from '../clock.ts';
import type { CredentialSource } from './credential.ts';
import type { ProxyOptions } from './proxies.ts';

export interface RegistryOptions {
  /** Tried in this order (contract.md §11.6); without any that knows the registry it is asked anonymously. */
  readonly sources?: readonly CredentialSource[];
  /** Hosts that references may name: exact, `*.suffix`, or with a port; undefined: any. */
  readonly allow?: readonly string[];
  /** Hosts, with or without a port, that are spoken to without TLS. */
  readonly insecure?: readonly string[];
  /** Addresses, CIDRs and host names that are let through although they are this machine's or an inner network's. */
  readonly allowAddresses?: readonly string[];
  /** Token servers that credentials may be sent to although they are on a host foreign to the registry. */
  readonly realms?: readonly string[];
  /** Host, with or without a port → PEM that is trusted there beside the public CAs. */
  readonly certificateAuthorities?: ReadonlyMap<string, string>;
  readonly proxy?: ProxyOptions;
  readonly limits?: Partial<RegistryLimits>;
  readonly clock?: Clock;
  /** From 0 to 1, for the jitter of retries. */
  readonly random?: () => number;
  readonly lookup?: LookupFunction;
}

export interface RegistryLimits {
  /** For one call with its retries, and for all pages of a list; a blob's own bytes have their time apart. */
  readonly totalMs: number;
  /** Until a connection is there, until an answer begins, and between two pieces of it. */
  readonly idleMs: number;
  /** A body that comes slower than this, measured over the time we wait for it, is given up. */
  readonly bytesPerSecond: number;
  /** A body is waited for no longer than this, however fast it comes; a call holds its turn as long. */
  readonly bodyMs: number;
  readonly attempts: number;
  readonly manifestBytes: number;
  readonly tagPageBytes: number;
  readonly tagPages: number;
  readonly tags: number;
  /** Where the caller says nothing smaller. */
  readonly blobBytes: number;
  /** Calls of one client under way at once; more wait for their turn. */
  readonly concurrency: number;
}

const MIB = 1024 * 1024;

export const REGISTRY_LIMITS: RegistryLimits = {
  totalMs: 60_000,
  // What a hanging server may cost (platform.md §1.2).
  idleMs: 5_000,
  bytesPerSecond: 16 * 1024,
  // The largest blob at 110 kB a second; at 16 KiB a second it would hold its turn for more than an hour.
  bodyMs: 600_000,
  attempts: 4,
  // The distribution specification asks registries to take manifests of at least this size.
  manifestBytes: 4 * MIB,
  tagPageBytes: 4 * MIB,
  tagPages: 100,
  tags: 50_000,
  blobBytes: 64 * MIB,
  concurrency: 8,
};

/** The same with every part filled in. */
export interface RegistrySettings extends RegistryOptions {
  readonly limits: RegistryLimits;
  readonly clock: Clock;
  readonly random: () => number;
}

export function settingsOf(options: RegistryOptions): RegistrySettings {
  return {
    ...options,
    limits: { ...REGISTRY_LIMITS, ...options.limits },
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}
