/** `GET /v1/verdicts/{namespace}/{name}`: what the status says, or with `?fresh=10s` one that is no older (design §5). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PACTO } from '../../cluster/kinds.ts';
import { GateError } from '../../errors.ts';
import type { Callers } from '../../http/callers.ts';
import type { Verdict } from '../verdicts.ts';
import { parseGoDuration } from './go-duration.ts';

/** Nobody means a verdict of yesterday by a fresh one. */
const MAX_AGE_MS = 3_600_000;

export interface VerdictRoutes {
  readonly verdicts: {
    read(key: { readonly namespace: string; readonly name: string }): Promise<Verdict | undefined>;
    fresh(
      key: { readonly namespace: string; readonly name: string },
      maxAgeMs: number,
    ): Promise<Verdict | undefined>;
  };
  readonly callers: Callers;
}

/** A caller needs the right to `get pactos/verdict`, and `update pactos/verdict` where it makes us compute. */
export function registerVerdicts(app: FastifyInstance, { verdicts, callers }: VerdictRoutes): void {
  app.get<{ Params: { namespace: string; '*': string }; Querystring: { fresh?: unknown } }>(
    // The rest of the path: the router refuses parameters of more than 100 characters, and a name may have 253.
    '/v1/verdicts/:namespace/*',
    async (request, reply) => {
      const { namespace, '*': name } = request.params;
      const maxAgeMs = ageOf(request.query.fresh);
      await authorize(callers, request, { namespace, name, verb: maxAgeMs === undefined ? 'get' : 'update' });
      const key = { namespace, name };
      const verdict = maxAgeMs === undefined ? await verdicts.read(key) : await verdicts.fresh(key, maxAgeMs);
      if (verdict === undefined) return await send(reply, 404, { message: 'there is no such Pacto' });
      return await send(reply, 200, answerOf(verdict));
    },
  );
}

async function authorize(
  callers: Callers,
  request: FastifyRequest,
  { namespace, name, verb }: { readonly namespace: string; readonly name: string; readonly verb: string },
): Promise<void> {
  const user = await callers.authenticate(
    request.headers.authorization,
    request.raw.socket.remoteAddress ?? undefined,
  );
  for (const one of verb === 'get' ? ['get'] : ['get', verb])
    await callers.authorize(user, {
      resource: {
        verb: one,
        group: PACTO.group,
        version: PACTO.version,
        resource: PACTO.resource,
        subresource: 'verdict',
        namespace,
        name,
      },
    });
}

function ageOf(fresh: unknown): number | undefined {
  if (fresh === undefined) return undefined;
  const ageMs = typeof fresh === 'string' ? parseGoDuration(fresh) : undefined;
  if (ageMs === undefined || ageMs > MAX_AGE_MS)
    throw new GateError('GATE_HTTP_MALFORMED', 'query fresh: need one duration from 0 to 1h, such as 10s');
  return ageMs;
}

/** What a gate needs first, then what a person asks next. */
function answerOf({ namespace, name, generation, status, evaluatedAt, nextChange, source }: Verdict): object {
  const { contractStatus, contract, findings, summary, evaluationCoverage, conditions, validation } = status;
  return {
    apiVersion: 'gate.pacto.trianalab.io/v1',
    kind: 'Verdict',
    metadata: { namespace, name, generation },
    contractStatus: contractStatus ?? 'Unknown',
    observedGeneration: status.observedGeneration,
    source,
    evaluatedAt,
    nextChange,
    contractVersion: status.contractVersion,
    resolvedRef: contract?.resolvedRef,
    currentRevision: status.currentRevision,
    summary,
    evaluationCoverage,
    findings: findings ?? [],
    validation,
    conditions: conditions ?? [],
    readiness: status.readiness,
    observationWindows: status.observationWindows,
  };
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply
    .code(status)
    .headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    .send(`${JSON.stringify(body)}\n`);
}
