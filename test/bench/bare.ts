/**
 * The baseline: a bare TLS server that parses the review, allows it and does nothing else. What our server costs on
 * top of it is what we are answerable for. The harness strips the types first, so that it runs as plain JavaScript.
 *
 * Arguments: port, certificate file, key file.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string };
}

function answer(chunks: readonly Buffer[], response: ServerResponse): void {
  const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Review;
  const body = JSON.stringify({
    apiVersion: review.apiVersion,
    kind: review.kind,
    response: { uid: review.request.uid, allowed: true },
  });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function handle(request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'POST') {
    // Readiness: a server that listens is ready.
    response.end('ok');
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => answer(chunks, response));
}

const [port = '0', certFile = '', keyFile = ''] = process.argv.slice(2);
const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, handle);
// As ours: beyond the 90 s that the API server keeps an idle connection (webhook-operations.md W03).
server.keepAliveTimeout = 95_000;
server.listen(Number(port), '127.0.0.1');
