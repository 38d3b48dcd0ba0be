/** Digests of content, as the OCI image specification spells them (contract.md §9.2, platform.md §1.3 rules 3 and 4). */
import { createHash, type Hash } from 'node:crypto';

const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

type Algorithm = 'sha256' | 'sha512';

/** Whether the text is a digest in one of the two registered algorithms. */
export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** `sha256:…` or, where `like` is one of sha512, `sha512:…` of the raw bytes. */
export function digestOf(bytes: Uint8Array, like = 'sha256:'): string {
  const algorithm = algorithmOf(like);
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

/** Digests what passes by. */
export class RunningDigest {
  readonly #algorithm: Algorithm;
  readonly #hash: Hash;

  /** @param like a digest in the algorithm that is wanted. */
  constructor(like: string) {
    this.#algorithm = algorithmOf(like);
    this.#hash = createHash(this.#algorithm);
  }

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  /** Once, at the end. */
  finish(): string {
    return `${this.#algorithm}:${this.#hash.digest('hex')}`;
  }
}

function algorithmOf(digest: string): Algorithm {
  return digest.startsWith('sha512:') ? 'sha512' : 'sha256';
}
