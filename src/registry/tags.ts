/** Lists of tags, page by page (platform.md §1.3 rule 9). */
import { field, refused, type Subject, wrongAnswer, shownHost } from './failures.ts';
import type { RegistryLimits } from './options.ts';
import { isTag, type Repository, showReference } from './reference.ts';
import type { Ask, Transport } from './transport.ts';

/** Fewer pages where the registry heeds it. */
const PAGE_SIZE = 1_000;

type Call = Pick<Ask, 'sources' | 'signal'>;

/**
 * All tags, each once, in the order of the registry; what is no tag is left out. The pages have one time together.
 * @throws GateError GATE_REGISTRY_ANSWER where there are too many, or pages without end.
 */
export function listTags(
  transport: Transport,
  repository: Repository,
  limits: RegistryLimits,
  call: Call,
): Promise<readonly string[]> {
  const subject: Subject = { reference: showReference(repository), wanted: 'the list of tags' };
  return transport.together(subject, call.signal, (signal) =>
    allPages(transport, repository, limits, { ...call, signal }, subject),
  );
}

async function allPages(
  transport: Transport,
  repository: Repository,
  limits: RegistryLimits,
  call: Call,
  subject: Subject,
): Promise<readonly string[]> {
  const tags = new Set<string>();
  let at = transport.urlOf(repository, `tags/list?n=${PAGE_SIZE}`);
  const seen = new Set([at.href]);
  for (;;) {
    const page = await transport.whole(
      {
        ...call,
        repository,
        at,
        method: 'GET',
        action: 'pull',
        subject,
        headers: { accept: 'application/json' },
      },
      limits.tagPageBytes,
    );
    for (const tag of tagsOf(page.bytes, subject)) tags.add(tag);
    if (tags.size > limits.tags) throw wrongAnswer(subject, `has more than ${limits.tags} tags`);
    const next = nextPage(page.header('link'), at, subject);
    if (next === undefined) return [...tags];
    if (seen.has(next.href)) throw wrongAnswer(subject, 'goes in a circle');
    if (seen.size >= limits.tagPages) throw wrongAnswer(subject, `has more than ${limits.tagPages} pages`);
    seen.add(next.href);
    at = next;
  }
}

/**
 * `Link: </v2/…?last=x&n=1000>; rel="next"` (RFC 8288), taken as it is written.
 * @throws GateError GATE_REGISTRY_REFUSED where it leads to another host.
 */
export function nextPage(header: string | undefined, from: URL, subject: Subject): URL | undefined {
  const links = [...(header ?? '').slice(0, 16_384).matchAll(/<([^<>]*)>([^<]*)/g)];
  const link = links.find(([, , parameters]) =>
    /;\s*rel\s*=\s*"?next"?\s*(?:[;,]|$)/i.test(parameters ?? ''),
  );
  if (link === undefined) return undefined;
  const next = URL.parse(link[1] ?? '', from.href);
  if (next === null) throw wrongAnswer(subject, 'has a next page that is no URL');
  if (next.origin !== from.origin || next.username !== '' || next.password !== '')
    throw refused(
      subject,
      `the next page of the list is on another host, ${shownHost(next)}; nothing was sent there`,
    );
  next.hash = '';
  return next;
}

function tagsOf(bytes: Buffer, subject: Subject): readonly string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw wrongAnswer(subject, 'is no JSON');
  }
  const tags = field(parsed, 'tags');
  // docker-registry says null where there are none.
  if (tags === null) return [];
  if (!Array.isArray(tags)) throw wrongAnswer(subject, 'has no tags');
  return tags.filter((tag): tag is string => typeof tag === 'string' && isTag(tag));
}
