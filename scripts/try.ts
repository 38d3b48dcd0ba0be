/**
 * `npm run try`: sends the reviews of examples/reviews over HTTPS, as an API server would, to the server that
 * `npm start` started, and shows what it answered.
 */
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { plain, table } from '../src/cli/output.ts';

const HELP = `Usage: npm run try -- [OPTIONS] [FILE…]

Sends AdmissionReviews to a running server and shows request, verdict and message.

  --url URL        where it listens (default: https://127.0.0.1:9443)
  --ca-file FILE   CA certificate to trust (default: .cache/pacto-gate/ca.crt, where npm start writes it)
  --help           this text

FILE: AdmissionReviews as JSON (default: all of examples/reviews).
Exit codes: 0 everything was answered, 2 usage or input, 3 no answer`;

/** Longer than the 10 s that API servers wait by default. */
const TIMEOUT_MS = 15_000;
const MESSAGE_WIDTH = 88;

interface Review {
  readonly request: {
    readonly resource: { readonly resource: string };
    readonly subResource?: string;
  };
}

interface Answer {
  readonly response: {
    readonly allowed: boolean;
    readonly status?: { readonly message: string; readonly reason: string };
    readonly warnings?: readonly string[];
    readonly auditAnnotations?: Readonly<Record<string, string>>;
  };
}

/** Where the generated entries send such a request (src/policies/identity/entry-names.ts). */
function pathOf({ request: { resource, subResource } }: Review): string {
  if (resource.resource === 'serviceaccounts' && subResource === 'token')
    return '/validate/node-identity/tokens';
  // One of the policies that would be asked (examples/policies): each has an entry of its own.
  if (resource.resource === 'deployments') return '/validate/policies/approved-registries';
  if (resource.resource === 'validatingadmissionpolicies') return '/validate/policy-writers';
  return resource.resource === 'pods' ? '/validate/node-identity/pods' : '/validate/node-identity';
}

function post(url: URL, body: string, ca: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { method: 'POST', ca, timeout: TIMEOUT_MS, headers: { 'content-type': 'application/json' } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        });
      },
    );
    call.on('timeout', () => call.destroy(new Error(`no answer within ${String(TIMEOUT_MS / 1000)} s`)));
    call.on('error', reject);
    call.end(body);
  });
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > MESSAGE_WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function rowsOf(name: string, { status, text }: { status: number; text: string }): string[][] {
  if (status !== 200) return [[name, `HTTP ${String(status)}`, text.trim()]];
  const { response } = JSON.parse(text) as Answer;
  const failed = response.status?.reason === 'InternalError';
  const verdict = response.allowed ? 'allowed' : failed ? 'FAILED' : 'denied';
  const said = [response.status?.message ?? '', ...(response.warnings ?? [])]
    .filter((one) => one !== '')
    .join(' ');
  return wrap(said).map((line, index) => (index === 0 ? [name, verdict, line] : ['', '', line]));
}

class Unanswered extends Error {}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { url: { type: 'string' }, 'ca-file': { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    console.log(HELP);
    return 0;
  }
  const base = values.url ?? 'https://127.0.0.1:9443';
  const caFile = values['ca-file'] ?? join('.cache', 'pacto-gate', 'ca.crt');
  const ca = await readFile(caFile, 'utf8').catch(() => {
    throw new Unanswered(`there is no CA certificate in ${caFile}. Start the server first: npm start`);
  });
  const directory = join('examples', 'reviews');
  const files =
    positionals.length > 0
      ? positionals
      : (await readdir(directory))
          .filter((name) => name.endsWith('.json'))
          .toSorted()
          .map((name) => join(directory, name));
  const rows: string[][] = [['REQUEST', 'VERDICT', 'MESSAGE']];
  for (const file of files) {
    const body = await readFile(file, 'utf8');
    const url = new URL(pathOf(JSON.parse(body) as Review), base);
    const answer = await post(url, body, ca).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      const next = /certificate|issuer/.test(why)
        ? `Its certificate is not from the CA in ${caFile}: restart it, or give --ca-file`
        : 'Start it in another terminal: npm start';
      throw new Unanswered(`${url.origin} does not answer: ${why}. ${next}`);
    });
    rows.push(...rowsOf(basename(file, '.json'), answer));
  }
  console.log(plain(table(rows)));
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`npm run try: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof Unanswered ? 3 : 2;
}
