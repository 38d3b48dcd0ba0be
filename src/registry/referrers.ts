/** What refers to a manifest (OCI distribution specification 1.1, Listing Referrers). */
import { isDigest } from './digests.ts';
import { field, type Subject, wrongAnswer } from './failures.ts';
import type { RegistryLimits } from './options.ts';
import { type Repository, showReference } from './reference.ts';
import { nextPage } from './tags.ts';
import type { Ask, Transport, Whole } from './transport.ts';

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  readonly artifactType?: string;
}

const INDEX = 'application/vnd.oci.image.index.v1+json';

/** A manifest has a handful of referrers; one with more than this is not read. */
const MOST_REFERRERS = 10_000;

type Call = Pick<Ask, 'sources' | 'signal'>;
type Exact = Repository & { readonly digest: string };

/** The pages, and the tag after them, have one time together. */
export function listReferrers(
  transport: Transport,
  subject: Exact,
  artifactType: string | undefined,
  limits: RegistryLimits,
  call: Call,
): Promise<readonly Descriptor[]> {
  const about: Subject = { reference: showReference(subject), wanted: 'the list of referrers' };
  return transport.together(about, call.signal, (signal) =>
    allPages(transport, subject, artifactType, limits, { ...call, signal }, about),
  );
}

async function allPages(
  transport: Transport,
  subject: Exact,
  artifactType: string | undefined,
  limits: RegistryLimits,
  call: Call,
  about: Subject,
): Promise<readonly Descriptor[]> {
  const { registry, repository, digest } = subject;
  const ask = (at: string | URL): Promise<Whole> =>
    transport.whole(
      {
        ...call,
        repository: { registry, repository },
        at,
        method: 'GET',
        headers: { accept: INDEX },
        action: 'pull',
        subject: about,
        alsoFine: [404],
      },
      limits.manifestBytes,
    );
  const query = artifactType === undefined ? '' : `?artifactType=${encodeURIComponent(artifactType)}`;
  let at = transport.urlOf(subject, `referrers/${digest}${query}`);
  let page = await ask(at);
  const isServed = page.status !== 404;
  // The tag that stands for the question where it is not served.
  if (!isServed) page = await ask(`manifests/${digest.replace(':', '-')}`);
  const found: Descriptor[] = [];
  for (let pages = 1; page.status !== 404; pages++) {
    found.push(...descriptorsOf(page.bytes, about));
    if (found.length > MOST_REFERRERS) throw wrongAnswer(about, `has more than ${MOST_REFERRERS} entries`);
    const next = isServed ? nextPage(page.header('link'), at, about) : undefined;
    if (next === undefined) break;
    if (pages >= limits.tagPages) throw wrongAnswer(about, `has more than ${limits.tagPages} pages`);
    at = next;
    page = await ask(at);
  }
  // Registries need not filter, and the tag never does.
  return found.filter((one) => artifactType === undefined || one.artifactType === artifactType);
}

function descriptorsOf(bytes: Buffer, subject: Subject): readonly Descriptor[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw wrongAnswer(subject, 'is no JSON');
  }
  const manifests = field(parsed, 'manifests');
  if (!Array.isArray(manifests)) throw wrongAnswer(subject, 'is no index');
  return manifests.map((entry) => descriptorOf(entry, subject));
}

function descriptorOf(entry: unknown, subject: Subject): Descriptor {
  const [mediaType, digest, size, artifactType] = ['mediaType', 'digest', 'size', 'artifactType'].map(
    (name) => field(entry, name),
  );
  if (
    typeof mediaType !== 'string' ||
    typeof digest !== 'string' ||
    !isDigest(digest) ||
    typeof size !== 'number' ||
    !Number.isSafeInteger(size) ||
    size < 0
  )
    throw wrongAnswer(subject, 'has an entry that is no descriptor');
  return { mediaType, digest, size, ...(typeof artifactType === 'string' && { artifactType }) };
}
