/** Reading what was answered: never more than allowed, never longer than there is patience. */
import type { Answer } from './dialer.ts';
import { networkFailure, type Subject, wrongAnswer } from './failures.ts';
import type { Patience } from './patience.ts';

/** The body of an error is read for its code. */
const ERROR_BODY_BYTES = 16 * 1024;

/** A header; several of one name are one list (RFC 9110 §5.3). */
export function headerOf(answer: Pick<Answer, 'headers'>, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * The pieces of the body. Stopping early closes the connection.
 * @throws GateError GATE_REGISTRY_UNREACHABLE or a PassingFailure where it breaks off.
 */
export async function* pieces(
  answer: Answer,
  patience: Patience,
  subject: Subject,
): AsyncGenerator<Uint8Array, void> {
  const iterator = answer.body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let isOver = false;
  try {
    for (;;) {
      const next = await patience.during(iterator.next());
      if (next.done === true) {
        isOver = true;
        return;
      }
      patience.received(next.value.length);
      yield next.value;
    }
  } catch (cause) {
    if (patience.signal.aborted) throw patience.signal.reason;
    throw networkFailure(subject, cause);
  } finally {
    if (!isOver) iterator.return?.().catch(() => undefined);
  }
}

/** @throws also GateError GATE_REGISTRY_ANSWER where there is more than `maxBytes`. */
export async function readWhole(
  answer: Answer,
  maxBytes: number,
  patience: Patience,
  subject: Subject,
): Promise<Buffer> {
  const tooLarge = wrongAnswer(subject, `has more than ${maxBytes} bytes`);
  const told = headerOf(answer, 'content-length');
  const read: Uint8Array[] = [];
  let bytes = told === undefined ? 0 : Number(told);
  if (bytes > maxBytes) {
    answer.body.on('error', () => undefined).destroy();
    throw tooLarge;
  }
  bytes = 0;
  for await (const piece of pieces(answer, patience, subject)) {
    bytes += piece.length;
    if (bytes > maxBytes) throw tooLarge;
    read.push(piece);
  }
  return Buffer.concat(read, bytes);
}

/** What an error says, as far as it is short; the connection can be used again then. */
export async function readError(answer: Answer, patience: Patience, subject: Subject): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces(answer, patience, subject)) {
    read.push(piece);
    bytes += piece.length;
    if (bytes > ERROR_BODY_BYTES) break;
  }
  return Buffer.concat(read);
}
