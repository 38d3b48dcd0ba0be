/** Bundles for tests, and the loader that the composition hands in. */
import { expect } from 'vitest';

import { readContract } from '../../../src/app/contract-reader.ts';
import { packBundle, type PackedBundle } from '../../../src/registry/pack.ts';

/** Files with a contract of this version, and more. */
export function bundleFiles(
  version = '1.0.0',
  more: Readonly<Record<string, string>> = {},
): Map<string, Uint8Array> {
  const contract = `pactoVersion: "2.0"\nservice:\n  name: shop-cart\n  version: ${version}\n`;
  return new Map(
    Object.entries({ 'pacto.yaml': contract, ...more }).map(([name, text]) => [
      name,
      new Uint8Array(Buffer.from(text)),
    ]),
  );
}

export function packed(version?: string, more?: Readonly<Record<string, string>>): PackedBundle {
  return packBundle(bundleFiles(version, more), readContract);
}

/** `CODE: message` of what is thrown; the test fails where nothing is. */
export async function failure(run: () => unknown): Promise<string> {
  try {
    await run();
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return `${code ?? 'no code'}: ${message}`;
  }
  expect.unreachable('it did not fail');
}
