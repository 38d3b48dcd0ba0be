/** One stream of requests at a fixed arrival rate, and the connections it uses. */
import { createSecureContext, type SecureContext } from 'node:tls';
import { reviewBody, UID_LENGTH, uidOfRequest, type ReviewBody } from './corpus.ts';
import { LoadConnection, type Answer, type ConnectionEvents } from './load-connection.ts';
import {
  REQUEST_TIMEOUT_MS,
  type Endpoint,
  type KeptAnswer,
  type StreamJob,
  type StreamResult,
} from './load-job.ts';
import { schedule, type Schedule } from './schedule.ts';
import { percentile, summarize } from './statistics.ts';

/** Beyond this a body is not copied for each request but sent in two parts. */
const COPY_BYTES = 64 * 1024;
/** So many connections that each carry one request may be open at once: above it requests wait, and are late. */
const MAX_SINGLE_CONNECTIONS = 500;

interface Pending {
  readonly index: number;
  readonly dueMs: number;
  /** Infinity until it is sent. */
  sentMs: number;
}

/** The request as it goes to one path, but for the uid. */
interface Message {
  readonly bytes: Buffer;
  readonly uidAt: number;
}

interface Review {
  readonly kind?: unknown;
  readonly response?: {
    readonly uid?: unknown;
    readonly allowed?: unknown;
    readonly status?: { readonly message?: string };
    readonly auditAnnotations?: Readonly<Record<string, string>>;
  };
}

export class LoadStream implements ConnectionEvents {
  private readonly job: StreamJob;
  private readonly endpoint: Endpoint;
  private readonly plan: Schedule;
  private readonly messages: readonly Message[];
  private readonly secureContext: SecureContext;
  private readonly waiting: Pending[] = [];
  private readonly connections = new Map<LoadConnection, Pending | undefined>();
  private readonly latencies: number[] = [];
  private readonly lags: number[] = [];
  private readonly answers: KeptAnswer[] = [];
  private readonly failures = new Map<string, number>();
  private readonly certificates = new Map<string, number>();
  private startMs = 0;
  private next = 0;
  private limit: number;
  private succeeded = 0;
  private failed = 0;
  private handshakes = 0;
  private lastAnswerMs = 0;

  constructor(job: StreamJob, endpoint: Endpoint) {
    this.job = job;
    this.endpoint = endpoint;
    this.plan = schedule(job.arrivals);
    this.limit = this.plan.count;
    const body = reviewBody(job.body);
    this.secureContext = createSecureContext({ ca: [...endpoint.ca] });
    this.messages = job.paths.map((path) => messageTo(path, body, job, endpoint));
    if (this.messages.length === 0) throw new RangeError(`${job.name}: no path to send to`);
  }

  /** Opens the kept connections ahead of the load, so that no handshake is measured as a request. */
  openConnections(): void {
    for (let n = 0; n < (this.job.connections === 'each' ? 0 : this.job.connections); n += 1)
      this.dial(undefined);
  }

  /** Every dial of `openConnections` has ended, well or not. */
  get isOpen(): boolean {
    return [...this.connections.keys()].every((connection) => connection.idle);
  }

  start(nowMs: number): void {
    this.startMs = nowMs;
  }

  /** When the next request is due, on the loader's clock; Infinity when none is left. */
  get nextDueMs(): number {
    return this.next < this.limit ? this.startMs + this.plan.dueMs(this.next) : Infinity;
  }

  get isDone(): boolean {
    return this.next >= this.limit && this.succeeded + this.failed >= this.next;
  }

  stop(): void {
    this.limit = this.next;
  }

  /** Sends all that is due. */
  sendDue(nowMs: number): void {
    for (let dueMs = this.nextDueMs; dueMs <= nowMs; dueMs = this.nextDueMs) {
      const pending = { index: this.next, dueMs, sentMs: Infinity };
      this.next += 1;
      if (pending.index >= this.plan.discarded) this.lags.push(nowMs - dueMs);
      this.place(pending);
    }
  }

  /** Gives up what waits longer than the API server would, and what a lost connection never answered. */
  expire(nowMs: number): void {
    const isLate = (pending: Pending): boolean => nowMs - pending.dueMs > REQUEST_TIMEOUT_MS;
    for (let first = this.waiting[0]; first !== undefined && isLate(first); first = this.waiting[0]) {
      this.waiting.shift();
      this.fail('no connection in time');
    }
    for (const [connection, pending] of this.connections) {
      if (pending !== undefined && isLate(pending)) connection.close('no answer in time');
    }
  }

  /** Closes everything; what is still on the way has failed. */
  close(): void {
    for (const connection of this.connections.keys()) connection.close('the load was ended');
    while (this.waiting.shift() !== undefined) this.fail('the load was ended');
  }

  result(): StreamResult {
    const { discarded } = this.plan;
    const firstDueMs = this.startMs + this.plan.dueMs(discarded);
    const seconds = Math.max(this.lastAnswerMs - firstDueMs, 1) / 1000;
    return {
      name: this.job.name,
      latency: summarize(this.latencies),
      lagP99Ms: this.lags.length === 0 ? 0 : percentile(Float64Array.from(this.lags).sort(), 0.99),
      requests: this.next,
      succeeded: this.succeeded,
      failed: this.failed,
      failures: Object.fromEntries(this.failures),
      achievedPerSecond: this.latencies.length / seconds,
      handshakes: this.handshakes,
      certificates: Object.fromEntries(this.certificates),
      answers: this.answers,
    };
  }

  opened(connection: LoadConnection): void {
    this.handshakes += 1;
    const fingerprint = connection.fingerprint();
    this.certificates.set(fingerprint, (this.certificates.get(fingerprint) ?? 0) + 1);
    const pending = this.connections.get(connection);
    if (pending === undefined) this.takeNext(connection);
    else this.sendOn(connection, pending);
  }

  answered(connection: LoadConnection, answer: Answer): void {
    const nowMs = performance.now();
    const pending = this.connections.get(connection);
    this.connections.set(connection, undefined);
    if (pending === undefined) {
      connection.close('an answer that nobody asked for');
      return;
    }
    const fault = this.faultOf(answer, pending, nowMs);
    if (fault === undefined) {
      this.succeeded += 1;
      this.lastAnswerMs = nowMs;
      if (pending.index >= this.plan.discarded) this.latencies.push(nowMs - pending.dueMs);
    } else {
      this.fail(fault);
    }
    if (answer.lastOfConnection || this.job.connections === 'each') connection.close('finished');
    else this.takeNext(connection);
  }

  closed(connection: LoadConnection, reason: string): void {
    const pending = this.connections.get(connection);
    this.connections.delete(connection);
    if (pending !== undefined) this.fail(reason);
    const waiting = this.waiting.shift();
    if (waiting !== undefined) this.place(waiting);
  }

  private place(pending: Pending): void {
    const most = this.job.connections === 'each' ? MAX_SINGLE_CONNECTIONS : this.job.connections;
    const free = this.job.connections === 'each' ? undefined : this.freeConnection();
    if (free !== undefined) this.sendOn(free, pending);
    else if (this.connections.size < most) this.dial(pending);
    else this.waiting.push(pending);
  }

  private freeConnection(): LoadConnection | undefined {
    for (const connection of this.connections.keys()) if (connection.idle) return connection;
    return undefined;
  }

  private dial(pending: Pending | undefined): void {
    this.connections.set(new LoadConnection(this.endpoint, this.secureContext, this), pending);
  }

  private takeNext(connection: LoadConnection): void {
    const pending = this.waiting.shift();
    if (pending !== undefined) this.sendOn(connection, pending);
  }

  private sendOn(connection: LoadConnection, pending: Pending): void {
    this.connections.set(connection, pending);
    pending.sentMs = performance.now();
    const { bytes, uidAt } = this.messages[this.pathOf(pending)] as Message;
    const uidEnd = uidAt + UID_LENGTH;
    const copied = bytes.length <= COPY_BYTES ? bytes.length : uidEnd;
    const head = Buffer.from(bytes.subarray(0, copied));
    head.write(uidOfRequest(pending.index), uidAt, UID_LENGTH, 'latin1');
    connection.send(copied === bytes.length ? [head] : [head, bytes.subarray(copied)]);
  }

  private pathOf({ index }: Pending): number {
    return index % this.messages.length;
  }

  private faultOf(answer: Answer, pending: Pending, nowMs: number): string | undefined {
    if (answer.status !== 200) return `status ${answer.status}`;
    let review: Review;
    try {
      review = JSON.parse(answer.body.toString('utf8')) as Review;
    } catch {
      return 'not JSON';
    }
    const { kind, response } = review;
    if (kind !== 'AdmissionReview') return 'not an AdmissionReview';
    if (response?.uid !== uidOfRequest(pending.index)) return 'answer to another uid';
    const { allowed, status, auditAnnotations } = response;
    if (typeof allowed !== 'boolean') return 'neither allowed nor denied';
    const { expectAllowed, keepsAnswers } = this.job;
    if (expectAllowed !== undefined && allowed !== expectAllowed) return `allowed is ${String(allowed)}`;
    if (keepsAnswers === true) {
      this.answers.push({
        path: this.pathOf(pending),
        sentMs: performance.timeOrigin + pending.sentMs,
        answeredMs: performance.timeOrigin + nowMs,
        allowed,
        message: status?.message ?? '',
        annotations: Object.values(auditAnnotations ?? {}),
      });
    }
    return undefined;
  }

  private fail(reason: string): void {
    this.failed += 1;
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
  }
}

function messageTo(path: string, body: ReviewBody, job: StreamJob, endpoint: Endpoint): Message {
  const head = Buffer.from(headOf(path, endpoint, body.bytes.length, job.connections === 'each'), 'latin1');
  return { bytes: Buffer.concat([head, body.bytes]), uidAt: head.length + body.uidOffset };
}

/** The request line and headers as the API server sends them (platform.md §3.4). */
function headOf(path: string, endpoint: Endpoint, length: number, once: boolean): string {
  const lines = [
    `POST ${path}?timeout=${REQUEST_TIMEOUT_MS / 1000}s HTTP/1.1`,
    `Host: ${endpoint.serverName}:${endpoint.port}`,
    'User-Agent: kube-apiserver-admission',
    `Content-Length: ${length}`,
    'Accept: application/json, */*',
    'Content-Type: application/json',
    ...(once ? ['Connection: close'] : []),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
