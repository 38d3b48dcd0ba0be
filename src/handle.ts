/**
 * The serverless entry: `handle(request)` for any runtime that speaks the Fetch API's Request and Response. Nothing is
 * kept in the process that a restart may not lose; the configuration comes from PACTO_GATE_* variables or a file.
 */
import { openAdmission } from './app/admission.ts';
import type { AppParts } from './app/parts.ts';
import { openState } from './app/state.ts';
import { readAtMost } from './bounded-file.ts';
import { sleep, systemClock, type Clock } from './clock.ts';
import { CONFIG_FILE_BYTES, loadConfig, type Config } from './config.ts';
import { GateError } from './errors.ts';
import { answerOf, bodyOf, TEXT } from './http/answers.ts';
import { usernamesGuard } from './http/callers.ts';
import { readRequest, type RequestLimits } from './http/fetch-body.ts';
import { createLimits } from './http/limits.ts';
import { reportRefusals, type OnRefusal } from './http/refusals.ts';
import { createLog, type Log } from './log.ts';
import { isReviewHead } from './webhooks/layout.ts';

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
  const { clock, log } = parts;
  const state = await openState(config, parts);
  if (state.callers === undefined) {
    throw new GateError(
      'GATE_CONFIG_INVALID',
      'handle: webhooks.auth bearer needs a cluster; set cluster.source',
    );
  }
  const guard = usernamesGuard(state.callers, config.webhooks.bearer.usernames);
  const { edge, metrics, policies } = await openAdmission(config, parts, state);
  // Nobody asks a function whether it is ready: its first request waits for what a server would not be ready without.
  if (policies !== undefined && config.state === 'cached')
    await Promise.race([policies.ready, sleep(clock, FIRST_POLICIES_MS)]);
  const { maxConcurrent, maxQueued, maxBytesInFlight } = config.webhooks;
  const limits = createLimits({ maxConcurrent, maxQueued, maxBytesInFlight });
  metrics.observeLoad(() => limits.stats());
  const reading: RequestLimits = { limits, clock, keepsHead: isReviewHead };
  const onRefusal = reportRefusals({
    listener: 'handle',
    clock,
    log,
    count: (code) => metrics.refusal(code),
  });

  return async (request) => {
    const receivedMs = clock.monotonic();
    let read: Awaited<ReturnType<typeof readRequest>> | undefined;
    try {
      await guard(request.headers.get('authorization') ?? undefined);
      read = await readRequest(request, receivedMs, reading);
      const { body, overload, unread } = read;
      const { path, query } = targetOf(request.url);
      const answer = await edge.answer({
        method: request.method,
        path,
        query,
        headers: Object.fromEntries(request.headers),
        body,
        receivedMs,
        signal: request.signal,
        ...(overload !== undefined && { overload }),
        ...(unread !== undefined && { unread }),
      });
      return new Response(answer.body, { status: answer.status, headers: { ...answer.headers } });
    } catch (error) {
      return refusal(error, log, onRefusal);
    } finally {
      read?.leave();
    }
  };
}

/** The handler of this process, made at the first request from the environment. */
export const handle: Handle = handleOnDemand({
  clock: systemClock,
  log: () => createLog({ level: 'info', format: 'json' }),
  async make() {
    const loaded = await loadConfig({
      flags: [],
      readFile: async (name) => (await readAtMost(name, CONFIG_FILE_BYTES)).toString('utf8'),
    });
    if (!loaded.ok) {
      throw new GateError('GATE_CONFIG_INVALID', loaded.problems.map(({ message }) => message).join('; '));
    }
    const { config } = loaded;
    return createHandle(config, { clock: systemClock, log: createLog(config.log) });
  },
});

/** Within the time that the API server gives a webhook by default; what is not known by then answers 503. */
const FIRST_POLICIES_MS = 5_000;

/** A failed start is not tried again for this long: any caller can bring one about. */
const RETRY_START_MS = 1_000;

/**
 * A handler that is made at its first request, and again after a start that failed. Why it did is for the log: whoever
 * asks has not proved who they are.
 */
export function handleOnDemand(options: {
  readonly make: () => Promise<Handle>;
  readonly clock: Clock;
  readonly log: () => Log;
}): Handle {
  let made: Promise<Handle> | undefined;
  return async (request) => {
    made ??= options.make().catch((error: unknown) => {
      options.log().error('start failed', { err: error });
      options.clock.setTimer(RETRY_START_MS, () => {
        made = undefined;
      });
      return NOT_STARTED;
    });
    return (await made)(request);
  };
}

const NOT_STARTED: Handle = () => {
  const answer = new GateError('GATE_CONFIG_INVALID', 'handle: not started: see the log of pacto-gate');
  return Promise.resolve(responseOf(answer));
};

/**
 * Path and query as they are in the URL. A Request's URL has been parsed by its runtime, so `..` in it is resolved
 * already; nothing more is done to it here.
 */
function targetOf(url: string): { readonly path: string; readonly query: string } {
  const [, path = '', query = ''] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? [];
  return { path, query };
}

function refusal(error: unknown, log: Log, onRefusal: OnRefusal): Response {
  const known =
    error instanceof GateError && error.disposition !== 'internal'
      ? error
      : new GateError('GATE_INTERNAL', 'internal error: see the log of pacto-gate');
  if (known.code === 'GATE_INTERNAL') log.error('admission request failed', { err: error });
  onRefusal(answerOf(known));
  return responseOf(known);
}

function responseOf(error: GateError): Response {
  const answer = answerOf(error);
  return new Response(bodyOf(answer), {
    status: answer.status,
    headers: { 'content-type': TEXT, ...answer.headers },
  });
}
