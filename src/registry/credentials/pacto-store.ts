/** What `pacto login` stored: `{"auths": {"<registry>": {"auth": "<base64>"}}}` (contract.md §11.6 source 2). */
import type { Credential, CredentialSource } from '../credential.ts';
import { readCredentialFile } from './credential-file.ts';
import { credentialOf, ownField, textField } from './login.ts';

/** @param path read again at each question, so that a login counts at once; absent or malformed means no credentials. */
export function pactoStoreCredentials(path: string): CredentialSource {
  return {
    name: 'pacto login',
    async for(host: string): Promise<Credential | undefined> {
      const auths = ownField(await readCredentialFile(path, false), 'auths');
      // By the exact text; Docker Hub goes by two names.
      const names = host === 'index.docker.io' ? [host, 'docker.io'] : [host];
      const entry = names.map((name) => ownField(auths, name)).find((found) => found !== undefined);
      return credentialOf({ auth: textField(entry, 'auth') }, 'the store of pacto login');
    },
  };
}
