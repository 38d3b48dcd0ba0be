/**
 * The serverless entry: `handle(request)` for any runtime that speaks the Fetch API's Request and Response. Nothing is
 * kept in the process that a restart may not lose; the configuration comes from PACTO_GATE_* variables or a file.
 */
import { readFile } from 'node:fs/promises';
import { openAdmission } from './app-admission.ts';
import type { AppParts } from './app-parts.ts';
import { openState } from './app-state.ts';
import { systemClock } from './clock.ts';
import { loadConfig, type Config } from './config.ts';
import { GateError } from './errors.ts';
import { answerOf, bodyOf, TEXT } from './http/answers.ts';
import { BODY_LIMIT_BYTES, tooLarge } from './http/body.ts';
import { usernamesGuard } from './http/callers.ts';
import { createLimits, type Slot } from './http/limits.ts';
import { createLog } from './log.ts';

export type Handle = (request: Request) => Promise<Response>;

/**
 * Makes a handler. Whoever owns the URL of a function is not known to the API server's network policy, so callers must
 * prove themselves: `webhooks.auth` is `bearer` here (a client certificate ends at the host of the function).
 * @throws GateError GATE_CONFIG_INVALID for another `webhooks.auth`, or without a cluster that vouches for tokens.
 */
export async function createHandle(config: Config, parts: AppParts): Promise<Handle> {
  if (config.webhooks.auth !== 'bearer') {
    throw new GateError(
      'GATE_CONFIG_INVALID',
      `handle: webhooks.auth is ${config.webhooks.auth}, which leaves a function open to everybody; set webhooks.auth bearer and webhooks.bearer.usernames`,
    );
  }
  const state = await openState(config, parts);
  if (state.callers === undefined) {
    await state.close();
    throw new GateError(
      'GATE_CONFIG_INVALID',
      'handle: webhooks.auth bearer needs a cluster that vouches for tokens; set cluster.source to in-cluster or kubeconfig',
    );
  }
  const guard = usernamesGuard(state.callers, config.webhooks.bearer.usernames);
  const { edge } = openAdmission(config, parts, state);
  const { maxConcurrent, maxQueued, maxBytesInFlight } = config.webhooks;
  const limits = createLimits({ maxConcurrent, maxQueued, maxBytesInFlight });

  return async (request) => {
    const receivedMs = parts.clock.monotonic();
    let slot: Slot | undefined;
    try {
      await guard(request.headers.get('authorization') ?? undefined);
      slot = await limits.enter(declaredLength(request), request.signal);
      const body = await readBody(request, slot);
      await slot.start(request.signal);
      const url = new URL(request.url);
      const answer = await edge.answer({
        method: request.method,
        path: url.pathname,
        query: url.search.slice(1),
        headers: Object.fromEntries(request.headers),
        body,
        receivedMs,
        signal: request.signal,
      });
      return new Response(answer.body, { status: answer.status, headers: { ...answer.headers } });
    } catch (error) {
      return refusal(error, parts);
    } finally {
      slot?.leave();
    }
  };
}

/** The handler of this process, made at the first request from the environment. A failed start is tried again. */
export const handle: Handle = lazily(async () => {
  const loaded = await loadConfig({ flags: [], readFile: (name) => readFile(name, 'utf8') });
  if (!loaded.ok) {
    throw new GateError('GATE_CONFIG_INVALID', loaded.problems.map(({ message }) => message).join('; '));
  }
  const { config } = loaded;
  return createHandle(config, { clock: systemClock, log: createLog(config.log) });
});

function lazily(make: () => Promise<Handle>): Handle {
  let made: Promise<Handle> | undefined;
  return async (request) => {
    made ??= make();
    let handler: Handle;
    try {
      handler = await made;
    } catch (error) {
      made = undefined;
      return refusal(error, undefined);
    }
    return handler(request);
  };
}

function declaredLength(request: Request): number {
  const header = request.headers.get('content-length') ?? '';
  const bytes = /^\d{1,15}$/.test(header) ? Number(header) : 0;
  if (bytes > BODY_LIMIT_BYTES) throw tooLarge(BODY_LIMIT_BYTES);
  return bytes;
}

/** A runtime may lie about the length: what is read beyond the declared one takes room as it comes. */
async function readBody(request: Request, slot: Slot): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const declared = declaredLength(request);
  const chunks: Uint8Array[] = [];
  let received = 0;
  for await (const chunk of request.body) {
    const before = Math.max(received, declared);
    received += chunk.byteLength;
    if (received > BODY_LIMIT_BYTES) throw tooLarge(BODY_LIMIT_BYTES);
    if (received > before) slot.grow(received - before);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refusal(error: unknown, parts: AppParts | undefined): Response {
  const known =
    error instanceof GateError
      ? error
      : new GateError('GATE_INTERNAL', 'internal error: see the log of pacto-gate', { cause: error });
  parts?.log.warn('admission request refused', { code: known.code, err: error });
  const answer = answerOf(known);
  return new Response(bodyOf(answer), {
    status: answer.status,
    headers: { 'content-type': TEXT, ...answer.headers },
  });
}
