/** Blobs, streamed and verified (platform.md §1.3 rule 4). */
import { GateError } from '../errors.ts';
import { headerOf, pieces } from './bodies.ts';
import { isDigest, RunningDigest } from './digests.ts';
import { PassingFailure, type Subject, wrongAnswer } from './failures.ts';
import { type Repository, showReference } from './reference.ts';
import { SpentBytes } from './spent-bytes.ts';
import type { Ask, Transport } from './transport.ts';

export interface BlobDescriptor {
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  /** The blob itself in base64, where the manifest holds it. */
  readonly data?: string;
}

export interface BlobOptions {
  /** Below the client's own limit. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

/** @throws GateError as RegistryClient says. */
export async function* readBlob(
  transport: Transport,
  repository: Repository,
  descriptor: BlobDescriptor,
  maxBytes: number,
  call: Pick<Ask, 'sources' | 'signal'>,
): AsyncGenerator<Uint8Array, void> {
  const { digest, size } = descriptor;
  if (!isDigest(digest) || !Number.isSafeInteger(size) || size < 0)
    throw new GateError(
      'GATE_REGISTRY_REFERENCE',
      `${showReference(repository)}: a blob is asked for by a descriptor without a digest or a size`,
    );
  const subject: Subject = { reference: showReference({ ...repository, digest }), wanted: 'the blob' };
  if (size > maxBytes) throw wrongAnswer(subject, `is said to have ${size} bytes, more than ${maxBytes}`);
  const { data } = descriptor;
  yield* verified(
    data === undefined
      ? streamed(transport, repository, descriptor, subject, call)
      : inline(data, size, subject),
    descriptor,
    subject,
  );
}

async function* streamed(
  transport: Transport,
  repository: Repository,
  { digest, size }: BlobDescriptor,
  subject: Subject,
  call: Pick<Ask, 'sources' | 'signal'>,
): AsyncGenerator<Uint8Array, void> {
  const { answer, patience, release } = await transport.open({
    ...call,
    repository,
    at: `blobs/${digest}`,
    method: 'GET',
    action: 'pull',
    subject,
  });
  try {
    const told = headerOf(answer, 'content-length');
    if (told !== undefined && Number(told) !== size) {
      answer.body.on('error', () => undefined).destroy();
      throw wrongAnswer(subject, `has ${Number(told)} bytes, and ${size} were announced`);
    }
    for await (const piece of pieces(answer, patience, subject)) yield piece;
  } catch (failure) {
    // What has been handed on cannot be taken back: whoever reads it begins anew.
    throw failure instanceof PassingFailure ? failure.error : failure;
  } finally {
    release();
  }
}

// oxlint-disable-next-line require-yield -- one piece
async function* inline(data: string, size: number, subject: Subject): AsyncGenerator<Uint8Array, void> {
  // Base64 is four characters for three bytes: more need not be decoded to be known as too much.
  if (data.length > Math.ceil(size / 3) * 4)
    throw wrongAnswer(subject, `has more than the ${size} bytes announced`);
  yield Buffer.from(data, 'base64');
}

/** One piece behind: the last one is held back until it is known to be right. */
async function* verified(
  source: AsyncIterable<Uint8Array>,
  { digest, size }: BlobDescriptor,
  subject: Subject,
): AsyncGenerator<Uint8Array, void> {
  const running = new RunningDigest(digest);
  const spent = new SpentBytes();
  let bytes = 0;
  let held: Uint8Array | undefined;
  for await (const piece of source) {
    bytes += piece.length;
    if (bytes > size) throw wrongAnswer(subject, `has more than the ${size} bytes announced`);
    running.add(piece);
    if (held !== undefined) {
      yield held;
      spent.add(held.length);
    }
    held = piece;
  }
  if (bytes !== size) throw wrongAnswer(subject, `ends after ${bytes} of ${size} bytes`);
  if (running.finish() !== digest) throw wrongAnswer(subject, 'has another digest than the one asked for');
  if (held !== undefined && held.length > 0) yield held;
}
