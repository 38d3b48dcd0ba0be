/**
 * Whether the server behind an entry answers, as the API server would find out: a TLS handshake that trusts what the
 * entry publishes and nothing else, and a review (webhook-operations.md R3, R5).
 */
import { randomUUID } from 'node:crypto';
import { request, type RequestOptions } from 'node:https';
import type { Clock } from '../clock.ts';
import { messageOf, quote } from '../errors.ts';
import type { ValidatingEntry } from '../policies/entry.ts';
import type { ServerProbe } from './fill.ts';

/** For handshake and answer together. */
const TIMEOUT_MS = 5_000;
/** Of an answer; a verdict is some hundred bytes. */
const ANSWER_BYTES = 1024 * 1024;
/** The alert of a TLS 1.3 server that got no client certificate (RFC 8446 §6.2). */
const WANTS_CERTIFICATE = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';

export function createServerProbe(clock: Clock): ServerProbe {
  return (entry, signal) => probe(entry, clock, signal);
}

async function probe(
  entry: ValidatingEntry,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const limit = new AbortController();
  const timer = clock.setTimer(TIMEOUT_MS, () => {
    limit.abort(new Error(`no answer within ${String(TIMEOUT_MS)} ms`));
  });
  const signals = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
  try {
    return verdictOf(await post(optionsOf(entry), JSON.stringify(review()), signals));
  } catch (error) {
    signal?.throwIfAborted();
    return `no answer from it: ${messageOf(limit.signal.aborted ? limit.signal.reason : error)}`;
  } finally {
    timer.cancel();
  }
}

/** What calls the server without a credential of an API server is no further than that: it answers. */
function verdictOf({ status, isReview }: { status: number; isReview: boolean }): string | undefined {
  if (status === 401 || status === 403) return undefined;
  if (status === 503) return 'it does not know this path yet, or is not ready';
  if (status !== 200) return `it answered ${String(status)}`;
  return isReview ? undefined : 'its answer is not that of an admission webhook';
}

function optionsOf({ clientConfig }: ValidatingEntry): RequestOptions {
  const { url, service, caBundle } = clientConfig;
  const ca = caBundle === undefined || caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64') };
  const common = { ...ca, method: 'POST', agent: false, headers: { 'content-type': 'application/json' } };
  if (service === undefined) {
    const { hostname, port, pathname } = new URL(url ?? '');
    return {
      ...common,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? 443 : Number(port),
      path: pathname,
    };
  }
  // As the API server names it (k8s.io/apiserver, util/webhook).
  return {
    ...common,
    hostname: `${service.name}.${service.namespace}.svc`,
    port: service.port,
    path: service.path,
  };
}

function post(
  options: RequestOptions,
  body: string,
  signal: AbortSignal,
): Promise<{ status: number; isReview: boolean }> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, signal }, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('error', reject);
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES)
          sent.destroy(new Error(`an answer of more than ${String(ANSWER_BYTES)} bytes`));
        else chunks.push(chunk);
      });
      answer.on('end', () => {
        resolve({
          status: answer.statusCode ?? 0,
          isReview: isReview(Buffer.concat(chunks).toString('utf8')),
        });
      });
    });
    let isTrusted = false;
    sent.on('socket', (socket) => {
      socket.once('secureConnect', () => {
        isTrusted = true;
      });
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // It has shown its certificate and wants to see that of an API server (webhooks.auth clientCA).
      if (isTrusted && error.code === WANTS_CERTIFICATE) resolve({ status: 401, isReview: false });
      else reject(new Error(error.code === undefined ? quote(error.message) : error.code, { cause: error }));
    });
    sent.end(body);
  });
}

function isReview(text: string): boolean {
  try {
    const { kind, response } = JSON.parse(text) as { kind?: unknown; response?: { allowed?: unknown } };
    return kind === 'AdmissionReview' && typeof response?.allowed === 'boolean';
  } catch {
    return false;
  }
}

/** About nothing that exists: whatever the verdict, there is one. */
function review(): object {
  const group = 'probe.gate.pacto.trianalab.io';
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: randomUUID(),
      kind: { group, version: 'v1', kind: 'Probe' },
      resource: { group, version: 'v1', resource: 'probes' },
      requestKind: { group, version: 'v1', kind: 'Probe' },
      requestResource: { group, version: 'v1', resource: 'probes' },
      name: 'probe',
      operation: 'CREATE',
      userInfo: { username: 'pacto-gate-installer', groups: ['system:authenticated'] },
      object: { apiVersion: `${group}/v1`, kind: 'Probe', metadata: { name: 'probe' } },
      oldObject: null,
      dryRun: true,
      options: { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions' },
    },
  };
}
