/** How one API server is reached and by what we prove ourselves; made by kubeconfig.ts, used by transport.ts. */

/** What may change while the program runs: tokens expire and files are rotated. */
export interface Credentials {
  /** Value of the `Authorization` header. */
  readonly authorization?: string;
  /** PEM: the authorities that may have signed the API server's certificate; left out: the public ones. */
  readonly ca?: string;
  /** PEM: client certificate and its key, always both. */
  readonly certificate?: string;
  readonly key?: string;
}

export interface CredentialSource {
  /** What to use now. Cheap: it is asked before every call. */
  current(): Promise<Credentials>;
  /** After the API server answered 401 to `rejected`: what to try once more, or the same when there is nothing newer. */
  renew(rejected: Credentials): Promise<Credentials>;
}

/** Headers `Impersonate-*`. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Connection {
  /** `https://host:port`, with a path where the API is served below one. */
  readonly server: string;
  /** What an operator would look at when it does not work: a file and context, or `in-cluster`. */
  readonly origin: string;
  readonly credentials: CredentialSource;
  /** The name that the server's certificate must carry, instead of the host of `server`. */
  readonly tlsServerName?: string;
  /** The server's certificate is not verified at all. */
  readonly insecureSkipTlsVerify?: boolean;
  /** `http://` or `https://`; may hold a password, so it is never printed. */
  readonly proxyUrl?: string;
  readonly impersonate?: Impersonation;
  /** The namespace that goes with the connection: the pod's own, or the context's. */
  readonly namespace?: string;
  /** Weaknesses of this connection that the operator should hear of at start-up. */
  readonly warnings: readonly string[];
}

/** Credentials that never change. */
export function fixedCredentials(credentials: Credentials): CredentialSource {
  return {
    current: () => Promise.resolve(credentials),
    renew: () => Promise.resolve(credentials),
  };
}
