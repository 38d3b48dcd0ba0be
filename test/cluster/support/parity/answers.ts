/** Sends cases to one side, and gathers what somebody sees of each. */
import type { ApiAnswer, ApiRequest } from '../api-client.ts';
import { readAuditEvents, type AuditEvent } from '../audit-log.ts';
import { requestOf } from '../case-objects.ts';
import type { KubectlResult } from '../kubectl.ts';
import { pollUntil } from '../polling.ts';
import { batchCommand, kubectlCommand, targetOf, type KubectlCommand } from './kubectl-command.ts';
import type { ParityCase, Sending } from './parity-case.ts';
import {
  policyAnnotations,
  policyWarnings,
  withoutOtherWarnings,
  type Answers,
  type Printed,
  type Seen,
} from './seen.ts';
import type { Side } from './sides.ts';

/** So many at once: a kubectl takes a tenth of a second of a processor. */
const CONCURRENCY = 3;

export async function answersOf(side: Side, sendings: readonly Sending[]): Promise<Answers> {
  const before = readAuditEvents(side.plane.auditLogFile).length;
  const sent = new Map<Sending, Sent>();
  const queue = [...sendings];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      sent.set(next, await send(side, next));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const events = await pollUntil('the audit events of all requests', 30_000, () => {
    const all = readAuditEvents(side.plane.auditLogFile).slice(before);
    const found = new Map(sendings.map((sending) => [sending, eventsOf(all, sending)]));
    return Promise.resolve([...found.values()].includes(undefined) ? undefined : found);
  }).catch((error: unknown) => {
    const all = readAuditEvents(side.plane.auditLogFile).slice(before);
    const without = sendings.filter((sending) => eventsOf(all, sending) === undefined);
    const said = without.map((one) => `${one.id}: ${JSON.stringify(sent.get(one)?.printed)}`);
    throw new Error(`no audit events on ${side.plane.version}:\n${said.join('\n')}`, { cause: error });
  });
  const printed = new Map<string, Printed>();
  const seen = new Map<string, Seen>();
  for (const sending of sendings) {
    const result = sent.get(sending);
    if (result?.printed !== undefined) printed.set(sending.id, result.printed);
    for (const [index, one] of sending.cases.entries()) {
      const event = events.get(sending)?.[index];
      if (event === undefined) throw new Error(`${one.id}: no audit event`);
      seen.set(one.id, withoutGenerated(one, seenOf(one, event, result?.answer)));
    }
  }
  return { printed, seen };
}

interface Sent {
  readonly printed?: Printed;
  readonly answer?: ApiAnswer;
}

async function send(side: Side, { id, cases, batch }: Sending): Promise<Sent> {
  const [first] = cases;
  if (first === undefined) throw new Error(`${id} has no case`);
  const requests = cases.map(requestOf);
  const [request] = requests as [ApiRequest];
  const command =
    batch === undefined
      ? kubectlCommand(request)
      : batchCommand(
          batch,
          requests.map(({ body = {} }) => body),
          id,
        );
  if (command === undefined) return { answer: await side.api.request(request) };
  const result = await side.plane.kubectl(command.args, {
    ...(command.stdin !== undefined && { stdin: command.stdin }),
    as: impersonated(request),
  });
  return { printed: withoutGenerated(first, printedOf(command, result)) };
}

function impersonated({ as }: ApiRequest): {
  user: string;
  groups?: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
} {
  const { username = '', groups, uid, extra } = as ?? {};
  return {
    user: username,
    ...(groups !== undefined && { groups }),
    ...(uid !== undefined && { uid }),
    ...(extra !== undefined && { extra }),
  };
}

function printedOf({ args }: KubectlCommand, { code, stdout, stderr }: KubectlResult): Printed {
  // What is sent raw is printed whole: objects with uid and time.
  const isObject = args.includes('--raw') && code === 0;
  return { code, stdout: isObject ? '' : stdout, stderr: withoutOtherWarnings(stderr) };
}

function seenOf(one: ParityCase, event: AuditEvent, answer: ApiAnswer | undefined): Seen {
  const { code = 0, reason, message = '', ...rest } = event.responseStatus ?? {};
  const { details } = rest as { readonly details?: unknown };
  return {
    refusal: code >= 400 ? { code, reason, message, details } : undefined,
    warnings: policyWarnings(answer?.warnings ?? []),
    annotations: policyAnnotations(one, event.annotations ?? {}),
  };
}

/** A generated name is another one each time. */
function withoutGenerated<T>(one: ParityCase, value: T): T {
  const { body } = requestOf(one) as {
    readonly body?: { readonly metadata?: { readonly generateName?: string } };
  };
  const { generateName } = body?.metadata ?? {};
  if (generateName === undefined) return value;
  const text = JSON.stringify(value).replaceAll(
    new RegExp(`${generateName}[a-z0-9]{5}`, 'g'),
    `${generateName}?????`,
  );
  return JSON.parse(text) as T;
}

/** Of each case of it, in their order; undefined while some are not written. */
function eventsOf(
  events: readonly AuditEvent[],
  { id, cases, batch }: Sending,
): readonly AuditEvent[] | undefined {
  const complete = events.filter(({ stage }) => stage === 'ResponseComplete');
  if (batch !== undefined) {
    const verb = batch === 'create' ? 'create' : 'update';
    const found = complete.filter(
      (event) => event.verb === verb && targetOf(event.requestURI).query.get('fieldManager') === id,
    );
    return found.length === cases.length ? found : undefined;
  }
  const [one] = cases;
  const event = one === undefined ? undefined : complete.findLast((candidate) => isOf(one, candidate));
  return event === undefined ? undefined : [event];
}

const VERBS: Readonly<Record<ApiRequest['method'], string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

function isOf(one: ParityCase, event: AuditEvent): boolean {
  const { method, path, body, as } = requestOf(one);
  const wanted = targetOf(path);
  const target = targetOf(event.requestURI);
  const isCollection = method === 'DELETE' && wanted.name === undefined;
  const { name, generateName } =
    (body as { metadata?: { name?: string; generateName?: string } })?.metadata ?? {};
  const isCreated = method === 'POST' && wanted.subresource === undefined && generateName === undefined;
  return (
    event.verb === (isCollection ? 'deletecollection' : VERBS[method]) &&
    event.impersonatedUser?.username === as?.username &&
    pathOf(target) === pathOf(wanted) &&
    (!isCreated || event.objectRef?.name === undefined || event.objectRef.name === name)
  );
}

function pathOf({ query: _query, ...parts }: ReturnType<typeof targetOf>): string {
  return JSON.stringify(parts);
}
