/** A validating webhook that admits everything and keeps the reviews that it gets while somebody listens. */
import { createServer } from 'node:https';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { readJson } from '../../../src/json.ts';
import type { Review } from '../../conformance/vap-case.ts';
import type { ApiClient } from './api-client.ts';
import { createAuthority } from './certificates.ts';
import { servingPair } from './gate.ts';
import { pollUntil } from './polling.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const NAME = 'recorder';
const EVERYTHING = 'everything.recorder.example.com';

/** An entry beside that for everything. */
export interface RecordedEntry {
  /** A DNS name of three parts, at least. */
  readonly name: string;
  readonly rules: readonly object[];
  readonly matchPolicy: string;
  readonly namespaceSelector: object;
}

/** What was received for one request. */
export interface Recording {
  /** By the entry for everything: several for the deletion of a collection. */
  readonly reviews: readonly Review[];
  /** By entries of their own, by name. */
  readonly byEntry: ReadonlyMap<string, Review>;
}

export interface RecordingWebhook {
  /** Keeps what comes in from this user while `send` runs. */
  record<T>(
    username: string | undefined,
    send: () => Promise<T>,
  ): Promise<{ readonly answer: T; readonly recording: Recording }>;
  /** Takes the entries away. */
  uninstall(): Promise<void>;
  close(): Promise<void>;
}

/** Starts it, has the API server call it for everything and for these entries, and waits until it does. */
export async function startRecordingWebhook(
  api: ApiClient,
  entries: readonly RecordedEntry[],
): Promise<RecordingWebhook> {
  const authority = await createAuthority('recorder-ca');
  const { certPem, keyPem } = await servingPair(authority);
  let listener: ((entry: string, review: Review) => void) | undefined;
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    void buffer(request).then((body) => {
      const review = readJson(body) as Review;
      listener?.((request.url ?? '').split(/[/?]/)[1] ?? '', review);
      const answer = { uid: review.request.uid, allowed: true };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as { readonly port: number };
  const webhookOf = (entry: Omit<RecordedEntry, 'namespaceSelector'>, failurePolicy: string): object => ({
    ...entry,
    failurePolicy,
    clientConfig: {
      url: `https://127.0.0.1:${address.port}/${entry.name}`,
      caBundle: Buffer.from(authority.certificate).toString('base64'),
    },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 30,
  });
  const all = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
  const everything = { name: EVERYTHING, rules: [all], matchPolicy: 'Equivalent' };
  await api.demand({
    method: 'POST',
    path: CONFIGURATIONS,
    body: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: NAME },
      // An entry whose conversion fails is not called, and must not refuse what is to be recorded.
      webhooks: [webhookOf(everything, 'Fail'), ...entries.map((entry) => webhookOf(entry, 'Ignore'))],
    },
  });
  const webhook: RecordingWebhook = {
    async record(username, send) {
      const reviews: Review[] = [];
      const byEntry = new Map<string, Review>();
      listener = (entry, review) => {
        if (review.request.userInfo.username !== username) return;
        if (entry === EVERYTHING) reviews.push(review);
        else byEntry.set(entry, review);
      };
      try {
        return { answer: await send(), recording: { reviews, byEntry } };
      } finally {
        listener = undefined;
      }
    },
    async uninstall() {
      await api.demand({ method: 'DELETE', path: `${CONFIGURATIONS}/${NAME}` });
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  await waitUntilCalled(api, webhook);
  return webhook;
}

/** All entries come into force at once, for they are one object. */
async function waitUntilCalled(api: ApiClient, webhook: RecordingWebhook): Promise<void> {
  const username = 'probe@example.com';
  const probe = {
    method: 'POST',
    path: '/api/v1/namespaces/default/configmaps?dryRun=All',
    as: { username, groups: ['system:masters'] },
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'probe' } },
  } as const;
  await pollUntil('the recording webhook to be called', 30_000, async () => {
    const { recording } = await webhook.record(username, () => api.demand(probe));
    return recording.reviews.length > 0 ? true : undefined;
  });
}
