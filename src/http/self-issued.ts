/** Certificates of our own: a CA and a leaf made at start, the leaf renewed in process below the same CA. */
import type { Clock, Timer } from '../clock.ts';
import { checkPair, type CertificateFacts, type TlsPair } from './certificate.ts';
import { issueAuthority, issueLeaf } from './issue.ts';
import { servedBy, type Served, type TlsSource } from './tls.ts';

/** Wall-clock polling, not one long timer: a suspended machine or a set clock must not put renewal off (R4). */
const POLL_MS = 60_000;

export interface SelfIssuedOptions {
  readonly clock: Clock;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** Life of a leaf; @defaultValue 90. */
  readonly leafDays?: number;
  /** Signs with this CA instead of one made now. */
  readonly authority?: TlsPair;
  /** Told of a renewal that failed; it is tried again a minute later. */
  readonly onError: (error: unknown) => void;
  readonly onReload?: (facts: CertificateFacts) => void;
}

/**
 * Issues a CA and a leaf for the given names and renews the leaf at two thirds of its life, keeping the CA, so that
 * a bundle once published stays right for the life of the process.
 * @throws GateError GATE_CONFIG_INVALID for names that no certificate can hold.
 */
export async function selfIssuedTls(options: SelfIssuedOptions): Promise<TlsSource> {
  const { clock } = options;
  const authority = options.authority ?? (await issueAuthority({ nowMs: clock.now() }));
  const issue = async (): Promise<Served> => {
    const pair = await issueLeaf(authority, {
      nowMs: clock.now(),
      dnsNames: options.dnsNames,
      ipAddresses: options.ipAddresses,
      ...(options.leafDays === undefined ? {} : { validDays: options.leafDays }),
    });
    return {
      pair,
      facts: checkPair(pair, clock.now(), 'the self-issued certificate'),
      caPem: authority.certPem,
    };
  };
  let served = await issue();
  const holder = servedBy(clock, served);
  let timer: Timer;
  let closed = false;
  const poll = (): void => {
    timer = clock.setTimer(POLL_MS, () => void renewIfDue());
  };
  const renewIfDue = async (): Promise<void> => {
    try {
      if (clock.now() >= renewalMs(served.facts)) {
        const next = await issue();
        if (closed) return;
        served = next;
        holder.replace(next);
        options.onReload?.(next.facts);
      }
    } catch (error) {
      options.onError(error);
    }
    if (!closed) poll();
  };
  poll();
  return {
    ...holder.source,
    close() {
      closed = true;
      timer.cancel();
    },
  };
}

function renewalMs(facts: CertificateFacts): number {
  return facts.notBeforeMs + ((facts.notAfterMs - facts.notBeforeMs) * 2) / 3;
}
