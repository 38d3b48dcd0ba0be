/** The API server's audit log as a test reads it (audit.k8s.io/v1, JSON lines). */
import { existsSync, readFileSync } from 'node:fs';
import { pollUntil } from './polling.ts';

/** The fields of an audit.k8s.io/v1 Event that tests look at; the others are there too. */
export interface AuditEvent {
  readonly auditID: string;
  readonly stage: 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly verb: string;
  readonly requestURI: string;
  readonly user: {
    readonly username: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly impersonatedUser?: AuditEvent['user'];
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
    readonly apiVersion?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly reason?: string; readonly message?: string };
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Everything at RequestResponse, once a request, but for the API server's talk with itself: that would bury what a
 * test did. Valid for 1.29 and 1.36 alike.
 */
export const DEFAULT_AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    users: ['system:apiserver']
  - level: None
    nonResourceURLs: ['/readyz*', '/livez*', '/healthz*', '/version', '/openapi*']
  - level: RequestResponse
`;

/** All events written so far, oldest first. A line that is still being written is left for the next call. */
export function readAuditEvents(file: string): AuditEvent[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  // After the last newline: nothing, or half an event.
  lines.pop();
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AuditEvent);
}

/** How long an event may follow its request: it is written after the response was sent. */
const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Waits for an event: the API server writes it after the client has its answer.
 *
 * @throws Error when none matches within `timeoutMs` milliseconds.
 */
export function waitForAuditEvent(
  file: string,
  matches: (event: AuditEvent) => boolean,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<AuditEvent> {
  return pollUntil('an audit event that matches', timeoutMs, () =>
    Promise.resolve(readAuditEvents(file).find((event) => matches(event))),
  );
}
