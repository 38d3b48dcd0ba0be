/** Our client before a scripted registry, with servers and clients that end with the test. */
import type { LookupFunction } from 'node:net';
import { onTestFinished } from 'vitest';
import { RegistryClient } from '../../../src/registry/client.ts';
import type { Credential, CredentialSource } from '../../../src/registry/credential.ts';
import type { RegistryOptions } from '../../../src/registry/options.ts';
import type { RegistryReference } from '../../../src/registry/reference.ts';
import { scriptedRegistry, type ScriptedOptions, type ScriptedRegistry } from './scripted-registry.ts';

export const NAME = 'acme/shop';

/** Without the test's servers allowed, nothing on this machine would be. */
const LOOPBACK = ['127.0.0.0/8'];

export async function registryOfTest(options: ScriptedOptions = {}): Promise<ScriptedRegistry> {
  const registry = await scriptedRegistry(options);
  onTestFinished(() => registry.close());
  return registry;
}

/** Plain http to the registry, no waiting between attempts, and a loopback that is allowed. */
export function clientOfTest(
  registry: ScriptedRegistry | string,
  options: RegistryOptions = {},
): RegistryClient {
  const host = typeof registry === 'string' ? registry : registry.host;
  const client = new RegistryClient({
    insecure: [host],
    allowAddresses: LOOPBACK,
    random: () => 0,
    ...options,
    limits: { attempts: 1, ...options.limits },
  });
  onTestFinished(() => client.close());
  return client;
}

export function at(registry: ScriptedRegistry | string, name = '1.0'): RegistryReference {
  const host = typeof registry === 'string' ? registry : registry.host;
  return {
    registry: host,
    repository: NAME,
    ...(name.includes(':') ? { digest: name } : { tag: name }),
  };
}

/** A source that has this for every registry. */
export function has(credential: Credential, name = 'test'): CredentialSource {
  return { name, for: () => Promise.resolve(credential) };
}

/** Names of tests, all of them on this machine unless said otherwise. */
export function lookupOf(names: Readonly<Record<string, readonly string[]>>): LookupFunction {
  return (host, options, callback) => {
    const found = (names[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    const [first] = found;
    if (first === undefined) callback(Object.assign(new Error(host), { code: 'ENOTFOUND' }), '', 0);
    else if (options.all === true) callback(null, found);
    else callback(null, first.address, first.family);
  };
}

export async function wholeOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  return Buffer.concat(read);
}

/** Everything an error says, with its causes and fields. */
export function everythingOf(error: unknown): string {
  const seen: string[] = [];
  for (let one = error; one instanceof Error; one = one.cause)
    seen.push(
      one.message,
      one.stack ?? '',
      JSON.stringify(one),
      JSON.stringify(Object.getOwnPropertyDescriptors(one)),
    );
  return seen.join('\n');
}
