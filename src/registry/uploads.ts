/** Pushing: a blob in one piece, and a manifest (OCI distribution specification 1.1, Push). */
import { GateError } from '../errors.ts';
import { digestOf, isDigest } from './digests.ts';
import { refused, type Subject, wrongAnswer, shownHost } from './failures.ts';
import { manifestName, type RegistryReference, type Repository, showReference } from './reference.ts';
import type { Ask, Transport, Whole } from './transport.ts';

/** Of an answer that is read for its headers. */
const ANSWER_BYTES = 64 * 1024;

/** How an upload that is over or gone shows. */
const LOST: ReadonlySet<string> = new Set(['GATE_REGISTRY_UNREACHABLE', 'GATE_REGISTRY_NOT_FOUND']);

type Call = Pick<Ask, 'sources' | 'signal'>;

/** @returns the digest. */
export async function putBlob(
  transport: Transport,
  { registry, repository: path, digest: wanted }: RegistryReference,
  bytes: Uint8Array,
  call: Call,
): Promise<string> {
  const repository: Repository = { registry, repository: path };
  const digest = digestOf(bytes, wanted);
  const subject: Subject = {
    reference: showReference({ ...repository, digest }),
    wanted: 'the upload of the blob',
  };
  if (wanted !== undefined && wanted !== digest)
    throw new GateError(
      'GATE_REGISTRY_REFERENCE',
      `${subject.reference}: the bytes to be sent do not have the digest ${wanted}; nothing was sent`,
    );
  const common = { ...call, repository, action: 'pull,push', subject } as const;
  for (let isAgain = false; ; isAgain = true) {
    const opened = await transport.whole(
      { ...common, at: 'blobs/uploads/', method: 'POST', headers: { 'content-length': '0' } },
      ANSWER_BYTES,
    );
    const at = uploadTarget(opened, subject);
    at.searchParams.append('digest', digest);
    try {
      const answer = await transport.whole(
        {
          ...common,
          at,
          method: 'PUT',
          headers: { 'content-type': 'application/octet-stream' },
          body: bytes,
        },
        ANSWER_BYTES,
      );
      checkTold(answer, digest, subject);
      return digest;
    } catch (error) {
      // An upload that broke off may be over, or gone: what counts is whether the blob is there.
      const isLost = error instanceof GateError && LOST.has(error.code) && call.signal?.aborted !== true;
      if (!isLost || isAgain) throw error;
      if (await isThere(transport, repository, digest, call)) return digest;
    }
  }
}

/** Whether the repository has the blob. */
export async function isThere(
  transport: Transport,
  repository: Repository,
  digest: string,
  call: Call,
): Promise<boolean> {
  const subject: Subject = { reference: showReference({ ...repository, digest }), wanted: 'the blob' };
  const answer = await transport.whole(
    {
      ...call,
      repository,
      at: `blobs/${digest}`,
      method: 'HEAD',
      action: 'pull,push',
      subject,
      alsoFine: [404],
    },
    0,
  );
  return answer.status !== 404;
}

/** @returns the digest. */
export async function putManifest(
  transport: Transport,
  reference: RegistryReference,
  bytes: Uint8Array,
  mediaType: string,
  call: Call,
): Promise<string> {
  const digest = digestOf(bytes, reference.digest);
  const subject: Subject = { reference: showReference(reference), wanted: 'the manifest that was pushed' };
  if (reference.digest !== undefined && reference.digest !== digest)
    throw new GateError(
      'GATE_REGISTRY_REFERENCE',
      `${subject.reference}: the bytes to be sent have the digest ${digest}; nothing was sent`,
    );
  const answer = await transport.whole(
    {
      ...call,
      repository: reference,
      at: `manifests/${reference.tag ?? manifestName(reference)}`,
      method: 'PUT',
      headers: { 'content-type': mediaType },
      body: bytes,
      action: 'pull,push',
      subject,
    },
    ANSWER_BYTES,
  );
  checkTold(answer, digest, subject);
  return digest;
}

/** Where to send the bytes: with our credentials, so only to the registry itself. */
function uploadTarget(opened: Whole, subject: Subject): URL {
  const location = opened.header('location');
  const target = location === undefined ? null : URL.parse(location, opened.url.href);
  if (target === null) throw wrongAnswer(subject, 'does not say where to send it');
  if (target.origin !== opened.url.origin || target.username !== '' || target.password !== '')
    throw refused(
      subject,
      `the registry wants the blob to be sent to another host, ${shownHost(target)}; nothing was sent`,
    );
  target.hash = '';
  return target;
}

function checkTold(answer: Whole, digest: string, subject: Subject): void {
  const told = answer.header('docker-content-digest');
  if (told !== undefined && isDigest(told) && told.slice(0, 7) === digest.slice(0, 7) && told !== digest)
    throw wrongAnswer(subject, 'has another digest there than the one that was sent');
}
