/** Our client as a test configures it: for loopback, with short limits, and with a credential of its own. */
import { RegistryClient } from '../../../src/registry/client.ts';
import type { Credential } from '../../../src/registry/credential.ts';
import type { RegistryOptions } from '../../../src/registry/options.ts';
import { USER } from './docker-registry.ts';

export const BASIC: Credential = { kind: 'basic', ...USER };

/** Where the client may go. Names are beside addresses: `localhost` is another host than `127.0.0.1`. */
const LOOPBACK = ['127.0.0.0/8', '::1'];

export interface Target {
  readonly host: string;
  readonly secure: boolean;
}

/**
 * @param ca what the registry's certificate is trusted by.
 * @param credential for whatever host is asked about: that it goes nowhere else is the client's business.
 */
export function gateClient(
  { host, secure }: Target,
  ca: string,
  credential?: Credential,
  overrides: RegistryOptions = {},
): RegistryClient {
  return new RegistryClient({
    sources: credential ? [{ name: 'test', for: async () => credential }] : [],
    allowAddresses: LOOPBACK,
    insecure: secure ? [] : [host],
    certificateAuthorities: new Map([['127.0.0.1', ca]]),
    ...overrides,
  });
}

/** All of a stream. */
export async function whole(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of stream) read.push(piece);
  return Buffer.concat(read);
}

/** What a call fails with; it is an error of the test when it does not fail. */
export async function failureOf(call: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await call;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { code: code ?? 'no code', message };
  }
  throw new Error('the call did not fail');
}
