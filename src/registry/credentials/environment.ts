/**
 * Credentials of the process environment: PACTO_REGISTRY_TOKEN, else PACTO_REGISTRY_USERNAME with PACTO_REGISTRY_PASSWORD
 * (contract.md §11.6). Upstream sends them to every registry; here only to hosts that are named for them.
 */
import { quote } from '../../errors.ts';
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
    async unused(host: string): Promise<string | undefined> {
      const { what, isWhole } = describe(login());
      const isTrusted = trusted.has(registryHost(host));
      if (what === undefined || (isWhole && isTrusted)) return undefined;
      return isTrusted ? what : `${what}, and ${untrusted(host, hosts)}`;
    },
  };
}

/** What is set, without its values. */
function describe({ token, username, password }: EnvironmentLogin): {
  readonly what: string | undefined;
  readonly isWhole: boolean;
} {
  const isFilled = (text: string | undefined): boolean => text !== undefined && text !== '';
  const [name, secret] = ['PACTO_REGISTRY_USERNAME', 'PACTO_REGISTRY_PASSWORD'];
  if (isFilled(token)) return { what: 'PACTO_REGISTRY_TOKEN is set', isWhole: true };
  if (isFilled(username) && isFilled(password))
    return { what: `${name} and ${secret} are set`, isWhole: true };
  if (isFilled(username)) return { what: `${name} is set without ${secret}`, isWhole: false };
  if (isFilled(password)) return { what: `${secret} is set without ${name}`, isWhole: false };
  return { what: undefined, isWhole: false };
}

function untrusted(asked: string, hosts: readonly string[]): string {
  // Named without its port, most often, or with one that the reference does not have.
  const bare = (text: string): string => registryHost(text).replace(/:\d+$/, '');
  const near = hosts.find((each) => bare(each) === bare(asked));
  return `registry.credentialHosts does not name ${quote(asked)}${near === undefined ? '' : `, only ${quote(near)}`}`;
}
