/** One stream of requests at a fixed arrival rate, and the connections it uses. */
import { createSecureContext, type SecureContext } from 'node:tls';
import { reviewBody, UID_LENGTH, uidOfRequest, type ReviewBody } from './corpus.ts';
import { LoadConnection, type Answer, type ConnectionEvents } from './load-connection.ts';
import { REQUEST_TIMEOUT_MS, type Endpoint, type StreamJob, type StreamResult } from './load-job.ts';
import { schedule, type Schedule } from './schedule.ts';
import { percentile, summarize } from './statistics.ts';

/** Beyond this a body is not copied for each request but sent in two parts. */
const COPY_BYTES = 64 * 1024;
/** So many connections that each carry one request may be open at once: above it requests wait, and are late. */
const MAX_SINGLE_CONNECTIONS = 500;

interface Pending {
  readonly index: number;
  readonly dueMs: number;
}

export class LoadStream implements ConnectionEvents {
  private readonly job: StreamJob;
  private readonly endpoint: Endpoint;
  private readonly plan: Schedule;
  private readonly body: ReviewBody;
  private readonly message: Buffer;
  private readonly uidAt: number;
  private readonly secureContext: SecureContext;
  private readonly waiting: Pending[] = [];
  private readonly connections = new Map<LoadConnection, Pending | undefined>();
  private readonly latencies: number[] = [];
  private readonly lags: number[] = [];
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
    this.body = reviewBody(job.body);
    this.secureContext = createSecureContext({ ca: [...endpoint.ca] });
    const head = Buffer.from(headOf(endpoint, this.body.bytes.length, job.connections === 'each'), 'latin1');
    this.message = Buffer.concat([head, this.body.bytes]);
    this.uidAt = head.length + this.body.uidOffset;
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
      const pending = { index: this.next, dueMs };
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
    const fault = this.faultOf(answer, pending);
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
    const uidEnd = this.uidAt + UID_LENGTH;
    const copied = this.message.length <= COPY_BYTES ? this.message.length : uidEnd;
    const head = Buffer.from(this.message.subarray(0, copied));
    head.write(uidOfRequest(pending.index), this.uidAt, UID_LENGTH, 'latin1');
    connection.send(copied === this.message.length ? [head] : [head, this.message.subarray(copied)]);
  }

  private faultOf(answer: Answer, pending: Pending): string | undefined {
    if (answer.status !== 200) return `status ${answer.status}`;
    try {
      const review = JSON.parse(answer.body.toString('utf8')) as {
        readonly kind?: unknown;
        readonly response?: { readonly uid?: unknown; readonly allowed?: unknown };
      };
      if (review.kind !== 'AdmissionReview') return 'not an AdmissionReview';
      if (review.response?.uid !== uidOfRequest(pending.index)) return 'answer to another uid';
      return review.response.allowed === this.job.expectAllowed
        ? undefined
        : `allowed is ${String(review.response.allowed)}`;
    } catch {
      return 'not JSON';
    }
  }

  private fail(reason: string): void {
    this.failed += 1;
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
  }
}

/** The request line and headers as the API server sends them (platform.md §3.4). */
function headOf(endpoint: Endpoint, length: number, once: boolean): string {
  const lines = [
    `POST ${endpoint.path}?timeout=${REQUEST_TIMEOUT_MS / 1000}s HTTP/1.1`,
    `Host: ${endpoint.serverName}:${endpoint.port}`,
    'User-Agent: kube-apiserver-admission',
    `Content-Length: ${length}`,
    'Accept: application/json, */*',
    'Content-Type: application/json',
    ...(once ? ['Connection: close'] : []),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
