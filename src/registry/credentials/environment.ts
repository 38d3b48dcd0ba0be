/**
 * Credentials of the process environment: PACTO_REGISTRY_TOKEN, else PACTO_REGISTRY_USERNAME with PACTO_REGISTRY_PASSWORD
 * (contract.md §11.6). Upstream sends them to every registry; here only to hosts that are named for them.
 */
import type { Credential, CredentialSource } from '../credential.ts';
import { credentialOf } from './login.ts';
import { registryHost } from './registry-host.ts';

export interface EnvironmentLogin {
  readonly token?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** @param hosts `registry.credentialHosts`: host, and port where the reference has one. */
export function environmentCredentials(
  login: () => EnvironmentLogin,
  hosts: readonly string[],
): CredentialSource {
  const trusted = new Set(hosts.map(registryHost));
  return {
    name: 'environment',
    async for(host: string): Promise<Credential | undefined> {
      if (!trusted.has(registryHost(host))) return undefined;
      const { token, username, password } = login();
      return credentialOf({ registryToken: token, username, password }, 'the environment');
    },
  };
}
