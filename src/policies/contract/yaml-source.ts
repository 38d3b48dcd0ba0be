/** From bytes to text: the encodings that YAML has, and the size that is read. */

/** A contract is far smaller; reading more would let one text hold the process up. */
const MAX_CONTRACT_BYTES = 1024 * 1024;

export type Source =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string; readonly text: string };

/** UTF-8, or UTF-16 with its mark, which stays. */
export function decodeSource(source: string | Uint8Array): Source {
  if (source.length > MAX_CONTRACT_BYTES) {
    const reason = `it has more than ${String(MAX_CONTRACT_BYTES)} bytes`;
    return { ok: false, reason, text: typeof source === 'string' ? source : decode(source, 'utf-8', false) };
  }
  if (typeof source === 'string') return { ok: true, text: source };
  const encoding = encodingOf(source);
  try {
    return { ok: true, text: decode(source, encoding, true) };
  } catch {
    return {
      ok: false,
      reason: `it is not ${encoding.toUpperCase()}`,
      text: decode(source, encoding, false),
    };
  }
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

function decode(bytes: Uint8Array, encoding: string, fatal: boolean): string {
  return new TextDecoder(encoding, { fatal, ignoreBOM: true }).decode(bytes);
}
