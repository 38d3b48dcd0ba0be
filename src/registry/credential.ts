/** What proves us to a registry, and where it comes from. */

/**
 * - `basic`: user name and password, sent to the registry or to its token server.
 * - `bearer`: a token that the registry takes as it is (`registrytoken`).
 * - `identity`: a refresh token, exchanged at the token server alone (`identitytoken`).
 */
export type Credential =
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'identity'; readonly token: string };

export interface CredentialSource {
  /** For messages: where it is configured, such as `environment` or `docker config`; never what it holds. */
  readonly name: string;
  /**
   * @param registryHost host and, where the reference names one, port of the registry, as the reference spells them;
   *   `docker.io` where it is Docker Hub.
   * @returns undefined where this source has nothing for that host; what it throws ends the call.
   */
  for(registryHost: string, repository: string): Promise<Credential | undefined>;
  /**
   * Asked where nobody was let in, for the message.
   * @returns what is there and not used for that host, and why, never with what it holds: `PACTO_REGISTRY_TOKEN is set,
   *   but …`; undefined where nothing is.
   */
  unused?(registryHost: string): Promise<string | undefined>;
}
