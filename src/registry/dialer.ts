/**
 * Sends one request to one host, and follows nothing: addresses, plain http, certificates and proxies are settled here.
 * undici is loaded with the first request (platform.md §3.5).
 */
import { X509Certificate } from 'node:crypto';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import { GateError } from '../errors.ts';
import { AddressGuard, type Origin } from './address-guard.ts';
import { networkFailure, refused, type Subject, shownHost } from './failures.ts';
import { HostList } from './hosts.ts';
import type { RegistrySettings } from './options.ts';
import type { Patience } from './patience.ts';
import { Proxies } from './proxies.ts';

export type Answer = Dispatcher.ResponseData;

export interface Dial {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The registry of the reference, whatever host this goes to. */
  readonly registry: URL;
  readonly subject: Subject;
  readonly patience: Patience;
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Connections to one host at once. */
const CONNECTIONS_PER_HOST = 8;
/** Load balancers close idle connections after a minute; a client that reuses one later meets a reset. */
const KEEP_ALIVE_MS = 30_000;

export class Dialer {
  readonly #settings: RegistrySettings;
  readonly #guard: AddressGuard;
  readonly #insecure: HostList;
  readonly #authorities: HostList;
  readonly #pemOf: ReadonlyMap<string, string>;
  readonly #proxies: Proxies;
  readonly #contexts = new Map<string, SecureContext>();
  readonly #agents = new Map<string, Dispatcher>();
  readonly #closing = new AbortController();

  /** @throws GateError GATE_CONFIG_INVALID where a CA or proxy cannot be used. */
  constructor(settings: RegistrySettings) {
    this.#settings = settings;
    this.#guard = new AddressGuard(settings);
    this.#insecure = new HostList(settings.insecure ?? []);
    this.#pemOf = new Map(
      [...(settings.certificateAuthorities ?? [])].map(([host, pem]) => [host.trim().toLowerCase(), pem]),
    );
    this.#authorities = new HostList([...this.#pemOf.keys()]);
    this.#proxies = new Proxies(settings.proxy ?? {});
    for (const [host, pem] of this.#pemOf) this.#contexts.set(host, secureContextOf(host, pem));
  }

  /** Aborts when the client is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Where the API of a registry answers: plain http only where it is said. */
  originOf(registry: string): URL {
    const https = new URL(`https://${registry}/`);
    const http = new URL(`http://${registry}/`);
    return this.#insecure.hasUrl(http) ? http : https;
  }

  /** @throws GateError GATE_REGISTRY_REFUSED or …_UNREACHABLE, or a PassingFailure. */
  async send(dial: Dial): Promise<Answer> {
    const { url, patience } = dial;
    this.#checkScheme(dial);
    const origin = this.#originKind(dial);
    const proxy = this.#proxies.forUrl(url);
    this.#guard.checkHost(url.hostname, origin, proxy !== undefined);
    const agent = await this.#agentFor(url, origin, proxy);
    patience.restart();
    try {
      return await patience.during(
        agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: dial.method,
          headers: { 'user-agent': 'pacto-gate', ...dial.headers },
          body: dial.body ?? null,
          signal: patience.signal,
          // Patience times both, by our clock.
          headersTimeout: 0,
          bodyTimeout: 0,
        }),
      );
    } catch (cause) {
      if (patience.signal.aborted) throw patience.signal.reason;
      throw networkFailure(dial.subject, cause);
    }
  }

  /** Breaks what is under way and closes every connection. */
  async close(): Promise<void> {
    this.#closing.abort(new GateError('GATE_REGISTRY_UNREACHABLE', 'the registry client is closed'));
    const agents = [...this.#agents.values()];
    this.#agents.clear();
    await Promise.all(agents.map((agent) => agent.destroy()));
  }

  #checkScheme({ url, registry, subject }: Dial): void {
    if (url.protocol === 'https:') return;
    // A registry without TLS may have its token server or storage on another port of the same host.
    const isBeside = registry.protocol === 'http:' && registry.hostname === url.hostname;
    if (url.protocol === 'http:' && registry.protocol === 'http:' && (isBeside || this.#insecure.hasUrl(url)))
      return;
    throw refused(
      subject,
      `the registry leads to ${shownHost(url)} without TLS; nothing was sent there: only hosts in registry.insecure are spoken to so, and never from a registry with TLS`,
    );
  }

  #originKind({ url, registry }: Dial): Origin {
    return url.hostname === registry.hostname || this.#guard.isPrivate(registry.hostname) ? 'asked' : 'led';
  }

  /** One for each way to connect; each has connections to many hosts. */
  async #agentFor(url: URL, origin: Origin, proxy: string | undefined): Promise<Dispatcher> {
    const authority = url.protocol === 'https:' ? this.#authorities.find(url.host) : undefined;
    const key = JSON.stringify([origin, authority, proxy]);
    const open = this.#agents.get(key);
    if (open !== undefined) return open;
    const undici = await import('undici');
    this.#closing.signal.throwIfAborted();
    // Another call may have opened it while undici was loading.
    const current = this.#agents.get(key);
    if (current !== undefined) return current;
    const context = authority === undefined ? undefined : this.#contexts.get(authority);
    const tls = {
      timeout: this.#settings.limits.idleMs,
      allowH2: false,
      ...(context !== undefined && { secureContext: context }),
    };
    const common = {
      connections: CONNECTIONS_PER_HOST,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      allowH2: false,
    };
    const agent =
      proxy === undefined
        ? new undici.Agent({ ...common, connect: { ...tls, lookup: this.#guard.lookupFor(origin) } })
        : // The proxy is the operator's own choice: its address is not guarded.
          new undici.ProxyAgent({
            ...common,
            uri: proxy,
            requestTls: tls,
            proxyTls: { timeout: this.#settings.limits.idleMs },
          });
    this.#agents.set(key, agent);
    return agent;
  }
}

/**
 * The public CAs and this one. A context made once costs a third of what handing the list to each connection costs
 * (platform.md §1.3 rule 13).
 */
function secureContextOf(host: string, pem: string): SecureContext {
  const certificates = pem.match(PEM_CERTIFICATE) ?? [];
  try {
    // A context takes what is no certificate for none.
    if (certificates.length === 0) throw new Error('there is no certificate in it');
    const read = certificates.map((certificate) => new X509Certificate(certificate).toString());
    return createSecureContext({ ca: [...rootCertificates, ...read] });
  } catch (cause) {
    throw new GateError(
      'GATE_CONFIG_INVALID',
      `registry.certificateAuthorities: what is given for ${host} is not a PEM certificate; check the file`,
      { cause },
    );
  }
}
