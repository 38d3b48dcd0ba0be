/** Requests straight to the API server, for what kubectl cannot send and for many in a short time. */
import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import type { UserInfo } from '../../../src/cluster/objects.ts';
import { readJson, stringifyJson } from '../../../src/json.ts';
import type { ControlPlane } from './control-plane.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With query, for example `/api/v1/nodes?limit=1`. */
  readonly path: string;
  readonly body?: object;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Bearer token instead of the administrator's certificate. */
  readonly token?: string;
  /** Impersonated by the administrator, or by the holder of `token`. */
  readonly as?: UserInfo;
}

export interface ApiAnswer {
  readonly status: number;
  /** Parsed; a `metav1.Status` where the request failed. What is no JSON is a message. */
  readonly body: ApiBody;
  /** Texts of the Warning headers. */
  readonly warnings: readonly string[];
  /** Of the audit event. */
  readonly auditId: string | undefined;
}

/** What tests look at of an object or a Status. */
export interface ApiBody {
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly [field: string]: unknown;
  };
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly [field: string]: unknown;
}

export interface ApiClient {
  /** @throws where no whole answer came. */
  request(request: ApiRequest): Promise<ApiAnswer>;
  /**
   * As `request`, for what must succeed.
   * @throws Error with the API server's words when it does not.
   */
  demand(request: ApiRequest): Promise<ApiBody>;
  close(): Promise<void>;
}

/** Far above what the API server takes, whose webhooks have 30 s at most. */
const ANSWER_TIMEOUT_MS = 60_000;

/** @param connections kept open at most, each for the administrator and for holders of tokens. */
export function createApiClient(
  plane: Pick<ControlPlane, 'url' | 'adminKubeconfigPath'>,
  connections = 4,
): ApiClient {
  const { admin, ca } = credentialsOf(plane.adminKubeconfigPath);
  // Over HTTP/2 undici joins the values of a header into one, which would be one group of a strange name.
  const common = { allowH2: false, headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS };
  const asAdmin = new Agent({ connections, connect: { ca, ...admin }, ...common });
  // A client certificate would win over a token.
  const asHolder = new Agent({ connections, connect: { ca }, ...common });
  const send = async ({ method, path, body, contentType, token, as }: ApiRequest): Promise<ApiAnswer> => {
    const {
      statusCode,
      headers,
      body: answer,
    } = await (token === undefined ? asAdmin : asHolder).request({
      origin: plane.url,
      method,
      path,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(as !== undefined && impersonationOf(as)),
      },
      ...(body !== undefined && { body: stringifyJson(body) }),
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const auditId = headers['audit-id'];
    // A path that nobody serves, and what lies behind a proxy, is answered in plain text.
    const isJson = String(headers['content-type']).startsWith('application/json');
    return {
      status: statusCode,
      body: isJson ? (readJson(bytes) as ApiBody) : { message: Buffer.from(bytes).toString('utf8') },
      warnings: warningsOf(headers['warning']),
      auditId: typeof auditId === 'string' ? auditId : undefined,
    };
  };
  return {
    request: send,
    async demand(request) {
      const { status, body } = await send(request);
      if (status >= 300)
        throw new Error(`${request.method} ${request.path} failed with ${status}: ${body.message}`);
      return body;
    },
    async close() {
      await Promise.all([asAdmin.close(), asHolder.close()]);
    },
  };
}

/** @param kubeconfig the file of the administrator. */
export function credentialsOf(kubeconfig: string): { ca: string; admin: { cert: string; key: string } } {
  // Written by writeKubeconfig, which writes JSON with everything embedded.
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: [{ cluster: Record<string, string> }];
    users: [{ user: Record<string, string> }];
  };
  const pem = (base64 = ''): string => Buffer.from(base64, 'base64').toString('utf8');
  const { user } = users[0];
  return {
    ca: pem(clusters[0].cluster['certificate-authority-data']),
    admin: { cert: pem(user['client-certificate-data']), key: pem(user['client-key-data']) },
  };
}

/** https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation */
function impersonationOf({
  username = '',
  groups = [],
  uid,
  extra = {},
}: UserInfo): Record<string, string | string[]> {
  return {
    'impersonate-user': username,
    ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key)}`,
        [...values],
      ]),
    ),
  };
}

/** `299 - "text"` (RFC 9111 §5.5), one or several: UTF-8, of which undici makes a character for each byte. */
function warningsOf(header: string | string[] | undefined): string[] {
  const headers = header === undefined ? [] : [header].flat();
  return headers.flatMap((value) =>
    [...value.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
      Buffer.from(text.replaceAll(/\\(.)/g, '$1'), 'latin1').toString('utf8'),
    ),
  );
}
