/** What can be wrong with a registry: one function a fault (platform.md §1.2), to be put into a fault proxy. */
import type { Answer, Fault, ProxyCall } from './fault-proxy.ts';

const TAGS = /^\/v2\/.+\/tags\/list$/;
const MANIFEST = /^\/v2\/.+\/manifests\/[^/]+$/;
const BLOB = /^\/v2\/.+\/blobs\/[^/]+$/;
const REFERRERS = /^\/v2\/(.+)\/referrers\/([^/]+)$/;

/** Reads only: an upload is never spoiled. */
function only(path: RegExp, fault: Fault): Fault {
  return (call) =>
    path.test(call.url.pathname) && (call.method === 'GET' || call.method === 'HEAD')
      ? fault(call)
      : call.pass();
}

export const onManifests = (fault: Fault): Fault => only(MANIFEST, fault);
export const onBlobs = (fault: Fault): Fault => only(BLOB, fault);

/** Pages of `size` tags behind a cookie that only a client which follows the Link as it is can know (as Quay does). */
export function paginateTags(size: number): Fault {
  return only(TAGS, async (call) => {
    const answer = await call.ask(call.url.pathname);
    if (answer.status !== 200) return call.send(answer);
    const { name, tags } = JSON.parse(answer.body.toString()) as { name: string; tags: string[] };
    const cookie = call.url.searchParams.get('next_page');
    const from = cookie === null ? 0 : Number(Buffer.from(cookie, 'base64url').toString());
    const next = Buffer.from(String(from + size)).toString('base64url');
    const link =
      from + size < tags.length ? { link: `<${call.url.pathname}?next_page=${next}>; rel="next"` } : {};
    const page = Buffer.from(JSON.stringify({ name, tags: tags.toSorted().slice(from, from + size) }));
    return call.send({ ...answer, headers: { ...answer.headers, ...link }, body: page });
  });
}

/** The first page is followed by `link`. */
export function tagsLink(link: string): Fault {
  return only(TAGS, (call) =>
    change(call, (answer) => ({
      ...answer,
      headers: { ...answer.headers, link: `<${link}>; rel="next"` },
    })),
  );
}

/** Each page is followed by another one, for ever; none is the same as one before. */
export function endlessTags(): Fault {
  return only(TAGS, (call) =>
    change(call, (answer) => {
      const page = Number(call.url.searchParams.get('page') ?? '0');
      const body = Buffer.from(JSON.stringify({ name: 'endless', tags: [`0.0.${page}`] }));
      const link = `<${call.url.pathname}?page=${page + 1}>; rel="next"`;
      return { ...answer, headers: { ...answer.headers, link }, body };
    }),
  );
}

/** A tag's name as no registry may answer it. */
export function withTags(...tags: readonly string[]): Fault {
  return only(TAGS, (call) =>
    change(call, (answer) => ({ ...answer, body: Buffer.from(JSON.stringify({ name: 'x', tags })) })),
  );
}

/** The referrers API, which the registry behind lacks: answers `index` for every subject. */
export function referrersApi(manifests: readonly { readonly artifactType: string }[]): Fault {
  return (call) => {
    if (!REFERRERS.test(call.url.pathname)) return call.pass();
    const wanted = call.url.searchParams.get('artifactType');
    const index = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: manifests.filter(({ artifactType }) => wanted === null || artifactType === wanted),
    };
    return call.send({
      status: 200,
      headers: {
        'content-type': index.mediaType,
        ...(wanted === null ? {} : { 'oci-filters-applied': 'artifactType' }),
      },
      body: Buffer.from(JSON.stringify(index)),
    });
  };
}

/** Sends whoever asks for a blob to the same path of another server. */
export function redirectBlobs(origin: string): Fault {
  return onBlobs(({ url, send }) =>
    send({ status: 307, headers: { location: `${origin}${url.pathname}` }, body: Buffer.alloc(0) }),
  );
}

/** Sends in circles. */
export function redirectLoop(): Fault {
  return onBlobs(({ url, send }) =>
    send({ status: 307, headers: { location: `${url.pathname}?again` }, body: Buffer.alloc(0) }),
  );
}

/** The first `times` attempts at each path get this status; then all is well. */
export function fails(
  status: number,
  times: number,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Fault {
  return (call) =>
    call.attempt > times ? call.pass() : call.send({ status, headers, body: Buffer.from(body) });
}

/** One bit of what comes is another than that of what was stored; every header stays. */
export function tampers(): Fault {
  return (call) =>
    change(call, (answer) => {
      const body = Buffer.from(answer.body);
      const last = body.length - 1;
      if (last >= 0) body[last] = (body[last] ?? 0) ^ 1;
      return { ...answer, body };
    });
}

/** Promises all of it and closes the connection half way. */
export function breaksOff(): Fault {
  return async ({ ask, response }) => {
    const { status, headers, body } = await ask();
    response.writeHead(status, { ...headers, 'content-length': String(body.length) });
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  };
}

/** Does not take the first token that comes, as after a restart with a new key. */
export function rejectsFirstToken(): Fault {
  let first: string | undefined;
  return async (call) => {
    const { authorization } = call.headers;
    first ??= authorization;
    if (first === undefined || authorization !== first) return call.pass();
    const { authorization: _mine, ...headers } = call.headers;
    return call.send(await call.ask(undefined, headers));
  };
}

/** Takes the bytes of an upload, and is gone before it can say so; the first time only. */
export function losesUploadAnswer(): Fault {
  let isLost = false;
  return async (call) => {
    const answer = await call.ask();
    if (call.method === 'PUT' && !isLost) {
      isLost = true;
      call.response.destroy();
    } else call.send(answer);
  };
}

/** Wants the bytes of an upload on another server. */
export function uploadsElsewhere(origin: string): Fault {
  return (call) =>
    call.method === 'POST'
      ? call.send({ status: 202, headers: { location: `${origin}/upload` }, body: Buffer.alloc(0) })
      : call.pass();
}

/** The header says one digest, what comes has another. */
export function liesAboutDigest(digest: string): Fault {
  return (call) =>
    change(call, (answer) => ({
      ...answer,
      headers: { ...answer.headers, 'docker-content-digest': digest },
    }));
}

/** Gives another manifest than the one asked for, with all that belongs to it: its length, its type and its digest. */
export function substitutes(digest: string): Fault {
  return onManifests(async (call) => {
    const path = call.url.pathname.replace(/[^/]+$/, digest);
    call.send(await call.ask(path));
  });
}

/** As registries that never send it. */
export function dropsDigest(): Fault {
  return (call) =>
    change(call, (answer) => {
      const { 'docker-content-digest': _digest, etag: _etag, ...headers } = answer.headers;
      return { ...answer, headers };
    });
}

/** Takes the request and says nothing. */
export function hangs(): Fault {
  return () => undefined;
}

/** Sends the headers and one byte each `intervalMs`: never idle for long, and never done. */
export function drips(intervalMs: number): Fault {
  return ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    const timer = setInterval(() => response.write('x'), intervalMs);
    response.once('close', () => clearInterval(timer));
  };
}

/** Sends for as long as the client reads. @param count is told the bytes that were handed over. */
export function floods(count: (bytes: number) => void): Fault {
  return ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    const chunk = Buffer.alloc(64 * 1024);
    const pump = (): void => {
      while (!response.destroyed) {
        count(chunk.length);
        if (!response.write(chunk)) return;
      }
    };
    response.on('drain', pump);
    pump();
  };
}

/** Asks for credentials with this challenge; undefined: with none. */
export function challenges(challenge: string | undefined): Fault {
  return ({ send }) =>
    send({
      status: 401,
      headers: challenge === undefined ? {} : { 'www-authenticate': challenge },
      body: Buffer.alloc(0),
    });
}

/** Writes the registry's own challenge in another way. */
export function rewritesChallenge(rewrite: (challenge: string) => string): Fault {
  return (call) =>
    change(call, (answer) => {
      const challenge = answer.headers['www-authenticate'];
      return challenge === undefined
        ? answer
        : { ...answer, headers: { ...answer.headers, 'www-authenticate': rewrite(challenge) } };
    });
}

async function change(call: ProxyCall, edit: (answer: Answer) => Answer): Promise<void> {
  call.send(edit(await call.ask()));
}
