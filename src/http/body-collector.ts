/** Keeps a body as it comes: whole up to a limit, and of a larger one, or one without room, the beginning alone. */
import { GateError } from '../errors.ts';
import { SMALL_BODY_BYTES, type Slot } from './limits.ts';

/**
 * An UPDATE review carries object and oldObject of up to 3 MiB each beside its envelope
 * (webhook-operations.md W05, platform.md §3.4).
 */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

/**
 * Of a larger body this much is read and thrown away. An API server takes objects of 3 MiB and writes each of `<`, `>`,
 * `&` and control characters as six bytes. A server-side apply writes keys of lists once more into managedFields, where
 * that makes seven. The old object is what etcd stored, 1.5 MiB: (3 + 1.5) × (6 + 7) = 58.5 MiB and the envelope.
 */
export const UNREAD_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * The envelope of a review in front of its objects: names of at most 253 characters, and a user with groups and extra
 * values. As much as a small body may have, so that it needs no room of the large ones.
 */
export const HEAD_BYTES = SMALL_BODY_BYTES;

/** Smallest buffer of a body whose length is not known; doubled as it fills. */
const FIRST_BYTES = 16 * 1024;

/** A body with room of its own must be on its way to be whole by then: half of the time a request may take. */
const WHOLE_WITHIN_MS = 5_000;

/**
 * Each piece costs its work, however small it is: a MiB in pieces of a byte keeps the process busy for ten seconds. TLS
 * records of a sender that begins carefully hold 1,300 bytes; a small body may come as it likes.
 */
const FREE_PIECES = 1_000;
const MIN_PIECE_BYTES = 256;

/** Whether the beginning of a body is worth keeping. */
export type HeadTest = (head: Uint8Array) => boolean;

export function tooLarge(limitBytes: number): GateError {
  return new GateError(
    'GATE_REVIEW_TOO_LARGE',
    `request body: more than ${String(limitBytes)} bytes: send a smaller one`,
  );
}

export interface CollectorOptions {
  /** Null where nothing is counted. What was declared is in it already. */
  readonly room: Pick<Slot, 'grow' | 'shrink'> | null;
  readonly limitBytes: number;
  readonly declared?: number;
  /** Left out: what cannot be kept whole is an error. */
  readonly keepsHead?: HeadTest;
  /** Known before it comes: only its beginning is kept. */
  readonly unread?: GateError;
}

export class BodyCollector {
  readonly #options: CollectorOptions;
  #buffer: Buffer = EMPTY;
  #length = 0;
  #received = 0;
  #pieces = 0;
  /** Counted in `room`. */
  #counted: number;
  #unread: GateError | undefined;
  #headIsGood = false;

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#unread = options.unread;
    this.#counted = options.unread === undefined ? (options.declared ?? 0) : HEAD_BYTES;
  }

  /**
   * @throws GateError GATE_REVIEW_TOO_LARGE, GATE_REVIEW_SLOW for very many small pieces, or GATE_OVERLOADED where an
   *   undeclared body finds no more room.
   */
  add(chunk: Uint8Array): void {
    this.#received += chunk.byteLength;
    if (++this.#pieces > FREE_PIECES + this.#received / MIN_PIECE_BYTES) {
      throw new GateError('GATE_REVIEW_SLOW', 'request body: it comes in too many pieces: send larger ones');
    }
    if (this.#unread === undefined && this.#makeRoom(chunk)) return;
    this.#addToHead(chunk);
  }

  /** All of it, or its beginning where `unread` is set. */
  body(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Why only the beginning was kept; undefined where that is all there was. */
  get unread(): GateError | undefined {
    return this.#received > this.#length ? this.#unread : undefined;
  }

  /** Set where there was no room, also for a body that was small enough to be kept all the same. */
  get overload(): GateError | undefined {
    return this.#unread?.code === 'GATE_OVERLOADED' ? this.#unread : undefined;
  }

  /** What is held for it, come or not. */
  get roomBytes(): number {
    return this.#unread === undefined ? this.#counted : 0;
  }

  /** Whether a body that holds more room than a small one comes too slowly for it. */
  isBehind(elapsedMs: number): boolean {
    const { roomBytes } = this;
    return roomBytes > SMALL_BODY_BYTES && this.#received < (roomBytes * elapsedMs) / WHOLE_WITHIN_MS;
  }

  /** Keeps a chunk whole. @returns false where only the beginning is kept from here on. */
  #makeRoom(chunk: Uint8Array): boolean {
    const { limitBytes, declared } = this.#options;
    const needed = this.#received;
    if (needed > limitBytes) return this.#keepHead(tooLarge(limitBytes));
    if (this.#length === 0 && needed === declared) {
      // The ordinary case of a small body: it came in one piece.
      this.#buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.#length = needed;
      return true;
    }
    if (needed > this.#buffer.byteLength) {
      const capacity =
        declared !== undefined && needed <= declared
          ? declared
          : Math.min(limitBytes, Math.max(needed, FIRST_BYTES, 2 * this.#buffer.byteLength));
      try {
        this.#count(capacity);
      } catch (error) {
        if (!(error instanceof GateError)) throw error;
        return this.#keepHead(error);
      }
      this.#resize(capacity);
    }
    this.#copy(chunk);
    return true;
  }

  #count(bytes: number): void {
    if (bytes <= this.#counted) return;
    this.#options.room?.grow(bytes - this.#counted);
    this.#counted = bytes;
  }

  #resize(capacity: number): void {
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  #keepHead(why: GateError): false {
    if (this.#options.keepsHead === undefined) throw why;
    this.#unread = why;
    if (this.#length > HEAD_BYTES) {
      this.#length = HEAD_BYTES;
      this.#resize(HEAD_BYTES);
    }
    this.#options.room?.shrink(HEAD_BYTES);
    this.#counted = Math.min(this.#counted, HEAD_BYTES);
    return false;
  }

  #addToHead(chunk: Uint8Array): void {
    if (this.#received > UNREAD_LIMIT_BYTES) throw tooLarge(UNREAD_LIMIT_BYTES);
    if (this.#length < HEAD_BYTES) {
      if (this.#buffer.byteLength < HEAD_BYTES) this.#resize(HEAD_BYTES);
      this.#copy(chunk.subarray(0, HEAD_BYTES - this.#length));
    }
    if (this.#headIsGood || this.#length < HEAD_BYTES || this.#unread === undefined) return;
    if (this.#options.keepsHead?.(this.body()) !== true) throw this.#unread;
    this.#headIsGood = true;
  }

  #copy(chunk: Uint8Array): void {
    this.#buffer.set(chunk, this.#length);
    this.#length += chunk.byteLength;
  }
}

const EMPTY = Buffer.alloc(0);
