/** What a TLS listener serves, and where it comes from: mounted files here, certificates of our own in self-issued.ts. */
import { dirname } from 'node:path';
import type { Clock } from '../clock.ts';
import { checkBundle, checkPair, isTrustedBy, type CertificateFacts, type TlsPair } from './certificate.ts';
import { readTogether, watchFiles } from './watched-files.ts';

type Health = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** A checked pair that may be replaced while it is served. */
export interface TlsSource {
  current(): TlsPair;
  /** PEM of what callers should trust; undefined where nobody told us. */
  caBundle(): string | undefined;
  /** End of the served certificate's life, milliseconds since the Unix epoch; for the metric. */
  notAfterMs(): number;
  /** For readiness: an expired certificate is our own fault. */
  health(): Health;
  /** Calls `listener` with each new pair, already checked. @returns the undoing. */
  onReload(listener: (pair: TlsPair) => void): () => void;
  close(): void;
}

interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Published as the CA bundle; while it does not vouch for the certificate, the source is not healthy. */
  readonly caFile?: string;
}

export interface TlsFilesOptions extends TlsFiles {
  readonly clock: Clock;
  /** Told of each reload that was refused, once for each cause; the pair before goes on being served. */
  readonly onError: (error: unknown) => void;
  /** Told of each reload that was taken. */
  readonly onReload?: (facts: CertificateFacts) => void;
}

/**
 * Serves a pair from files and follows their changes.
 * @throws GateError GATE_TLS_FILE for a file that cannot be read, GATE_TLS_PAIR for a pair that cannot serve: at the
 *   start there is no older pair to keep.
 */
export async function tlsFromFiles(options: TlsFilesOptions): Promise<TlsSource> {
  const paths = [
    options.certFile,
    options.keyFile,
    ...(options.caFile === undefined ? [] : [options.caFile]),
  ];
  const take = (contents: readonly string[]): Served => {
    const [certPem = '', keyPem = '', caPem] = contents;
    const pair = { certPem, keyPem };
    const facts = checkPair(pair, options.clock.now(), `${options.certFile} and ${options.keyFile}`);
    if (caPem !== undefined) checkBundle(caPem, options.caFile ?? '');
    return { pair, facts, caPem };
  };
  const first = await readTogether(paths);
  const holder = servedBy(options.clock, take(first));
  const watch = watchFiles({
    paths,
    first,
    directories: [...new Set(paths.map((path) => dirname(path)))],
    clock: options.clock,
    take: (contents) => {
      const served = take(contents);
      holder.replace(served);
      options.onReload?.(served.facts);
    },
    onError: options.onError,
  });
  return { ...holder.source, close: () => watch.close() };
}

export interface Served {
  readonly pair: TlsPair;
  readonly facts: CertificateFacts;
  readonly caPem: string | undefined;
}

/** The part that every source shares: the pair in use, its health, and who is told of the next one. */
export function servedBy(
  clock: Clock,
  first: Served,
): { readonly source: Omit<TlsSource, 'close'>; replace(next: Served): void } {
  let served = first;
  const listeners = new Set<(pair: TlsPair) => void>();
  return {
    source: {
      current: () => served.pair,
      caBundle: () => served.caPem,
      notAfterMs: () => served.facts.notAfterMs,
      health: () => health(served, clock.now()),
      onReload: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    replace(next) {
      const before = served;
      try {
        served = next;
        for (const listener of listeners) listener(next.pair);
      } catch (error) {
        // All of them or none: what the metric and the readiness say is what every listener serves.
        served = before;
        for (const listener of listeners) listener(before.pair);
        throw error;
      }
    },
  };
}

function health({ pair, facts, caPem }: Served, nowMs: number): Health {
  if (nowMs >= facts.notAfterMs) {
    return {
      ok: false,
      reason: `the serving certificate expired at ${new Date(facts.notAfterMs).toISOString()}`,
    };
  }
  if (nowMs < facts.notBeforeMs) {
    return {
      ok: false,
      reason: `the serving certificate is not valid before ${new Date(facts.notBeforeMs).toISOString()}`,
    };
  }
  if (caPem !== undefined && !isTrustedBy(pair.certPem, caPem)) {
    return { ok: false, reason: 'the published CA bundle does not vouch for the serving certificate' };
  }
  return { ok: true };
}
