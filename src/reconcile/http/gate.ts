/** `GET|POST /v1/stages/{namespace}/{name}/gate`: one decision, three views, for whoever asks before they move (delivery.md §4.0). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { STAGE } from '../../cluster/kinds.ts';
import type { UserInfo } from '../../cluster/objects.ts';
import { GateError } from '../../errors.ts';
import type { Callers } from '../../http/callers.ts';
import type { StageGates } from '../stages/gates.ts';
import { gateBody, type GateBody } from './gate-body.ts';

export interface GateRoutes {
  readonly gates: StageGates;
  /** Of the API itself, then of tokens for the gate alone (`pacto-delivery-gate`); the first that knows one counts. */
  readonly callers: readonly Callers[];
}

type View = 'json' | 'status' | 'phase';

interface Asked {
  readonly Params: { readonly namespace: string; readonly name: string };
  readonly Querystring: { readonly digest?: unknown; readonly view?: unknown };
}

/** What a pointer may hold: a digest, a commit, a version. */
const DIGEST = /^[\w.:+@/-]{1,256}$/;
const VIEWS: readonly View[] = ['json', 'status', 'phase'];
/** Of an answer that waits, where nothing says when it may be another. */
const RETRY_SECONDS = 10;
const PHASES = { Allow: 'success', Wait: 'pending', Deny: 'failure' } as const;

/** A caller needs the right to `get stages/gate`. Only memory is read, so that it may be asked every few seconds. */
export function registerGate(app: FastifyInstance, routes: GateRoutes): void {
  app.route<Asked>({
    method: ['GET', 'POST'],
    url: '/v1/stages/:namespace/:name/gate',
    async handler(request, reply) {
      const { namespace, name } = request.params;
      const view = viewOf(request.query.view);
      const digest = digestOf(request.query.digest);
      await authorize(routes.callers, request, { namespace, name });
      const body = gateBody(routes.gates, { namespace, name }, digest);
      if (body === undefined) return await send(reply, 404, { message: 'there is no such Stage' });
      return await show(reply, view, body);
    },
  });
}

function show(reply: FastifyReply, view: View, body: GateBody): FastifyReply {
  const { decision } = body;
  if (decision === 'Wait') void reply.header('retry-after', String(secondsUntil(body)));
  if (view === 'phase') return send(reply, 200, { phase: PHASES[decision] });
  return send(reply, view === 'json' || decision === 'Allow' ? 200 : 403, body);
}

function secondsUntil({ nextChange, evaluatedAt }: GateBody): number {
  if (nextChange === undefined) return RETRY_SECONDS;
  const seconds = Math.ceil((Date.parse(nextChange) - Date.parse(evaluatedAt)) / 1_000);
  return Math.min(Math.max(seconds, 1), 300);
}

async function authorize(
  callers: readonly Callers[],
  request: FastifyRequest,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<void> {
  const { user, by } = await whoIs(callers, request);
  await by.authorize(user, {
    resource: {
      verb: 'get',
      group: STAGE.group,
      version: STAGE.version,
      resource: STAGE.resource,
      subresource: 'gate',
      namespace,
      name,
    },
  });
}

/** The last refusal counts, where nobody knows the caller. */
async function whoIs(
  callers: readonly Callers[],
  { headers, raw }: FastifyRequest,
): Promise<{ readonly user: UserInfo; readonly by: Callers }> {
  let refusal: unknown;
  for (const by of callers) {
    try {
      return { user: await by.authenticate(headers.authorization, raw.socket.remoteAddress), by };
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

function viewOf(view: unknown): View {
  if (view === undefined) return 'json';
  const found = VIEWS.find((one) => one === view);
  if (found === undefined)
    throw new GateError('GATE_HTTP_MALFORMED', `query view: need one of ${VIEWS.join(', ')}`);
  return found;
}

function digestOf(digest: unknown): string | undefined {
  if (digest === undefined) return undefined;
  if (typeof digest !== 'string' || !DIGEST.test(digest))
    throw new GateError('GATE_HTTP_MALFORMED', 'query digest: need one digest such as sha256:…');
  return digest;
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply
    .code(status)
    .headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    .send(`${JSON.stringify(body)}\n`);
}
