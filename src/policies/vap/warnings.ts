/** What of a request's warnings the API server sends to the client (vap.md A07). */

/** In Unicode code points, of all texts together. */
const TOTAL_LENGTH = 4096;
/** To which each text is cut once all of them are too long. */
const CUT_LENGTH = 256;

/**
 * The texts of the `Warning` headers. A webhook must not do this to its own: the API server will, and twice is not the
 * same.
 */
export function sentWarnings(texts: readonly string[]): readonly string[] {
  const recorded = [...new Set(texts)].filter((text) => text !== '');
  const sendable = recorded.filter(isSendable);
  const lengths = sendable.map((text) => codePoints(text));
  let written = 0;
  for (const [index, length] of lengths.entries()) {
    written += length;
    if (written > TOTAL_LENGTH) return cut(sendable, index);
  }
  return sendable;
}

/**
 * The least of the texts from which the same headers come: a webhook need not answer with a thousand texts that nobody
 * will see.
 */
export function neededWarnings(texts: readonly string[]): readonly string[] {
  const needed: string[] = [];
  let whole = 0;
  let shortened = 0;
  for (const text of new Set(texts)) {
    if (text === '' || !isSendable(text)) continue;
    if (whole > TOTAL_LENGTH && shortened >= TOTAL_LENGTH) break;
    needed.push(text);
    const length = codePoints(text);
    whole += length;
    shortened += Math.min(length, CUT_LENGTH);
  }
  return needed;
}

/** @param last the text with which it became too much: those up to it are all sent, and then until it is enough. */
function cut(texts: readonly string[], last: number): readonly string[] {
  const sent: string[] = [];
  let written = 0;
  for (const [index, text] of texts.entries()) {
    if (index > last && written >= TOTAL_LENGTH) break;
    const shortened = Array.from(text).slice(0, CUT_LENGTH);
    written += shortened.length;
    sent.push(shortened.join(''));
  }
  return sent;
}

function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count += 1;
  return count;
}

/** Control characters and what is no Unicode cannot stand in a header. */
function isSendable(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- those are looked for.
  return !/[\u0000-\u001f\u007f-\u009f]/.test(text) && text.isWellFormed();
}
