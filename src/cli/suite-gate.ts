/** The delivery gate in a suite: what it would say, from Stages, Pactos and a policy in files, at a time that the suite says. */
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Reader } from '../cluster/cluster.ts';
import type { AdmissionRequest, KubeObject } from '../cluster/objects.ts';
import { GateError } from '../errors.ts';
import { deliveryEntries } from '../policies/delivery/entries.ts';
import { STAMPS_PATH } from '../policies/delivery/entry-names.ts';
import { EntryReach } from '../policies/entry-reach.ts';
import type { Outcome } from '../policies/vap/answer.ts';
import type { Verdict } from '../policies/verdict.ts';
import { deliveryWebhooks } from '../webhooks/delivery.ts';
import type { DecisionContext, Webhook } from '../webhooks/webhook.ts';
import { clockAt } from './fixed-clock.ts';
import { isStamped, withStamps } from './stamped-request.ts';

export interface SuiteGateOptions {
  /** Stages, Operations, Approvals, Pactos, the identity policy, and what Flux has. */
  readonly objects: readonly KubeObject[];
  readonly namespaces: readonly KubeObject[];
  /** Of the identity policy. */
  readonly namespace: string;
  readonly promoter: string | undefined;
  readonly stabilizationMs: number;
  /** Undefined: now. */
  readonly nowMs: number | undefined;
}

/** Stands where the server's address would; only the path counts. */
const ADDRESS = 'https://pacto-gate.invalid';
const ON = { enabled: true, failurePolicy: 'Fail' } as const;

export class SuiteGate {
  readonly #options: SuiteGateOptions;
  readonly #webhooks: ReadonlyMap<string, Webhook>;
  readonly #reach = new EntryReach();

  constructor(options: SuiteGateOptions, clock: Clock) {
    this.#options = options;
    const webhooks = deliveryWebhooks({
      settings: { promoterUsername: options.promoter, sha256 },
      namespace: options.namespace,
      failurePolicy: 'Fail',
      workloads: ON,
      // Cases do not depend on the ones before.
      stickyMs: 0,
      stabilizationMs: options.stabilizationMs,
      clock: clockAt(clock, options.nowMs),
    });
    this.#webhooks = new Map(webhooks.map((webhook) => [webhook.path, webhook]));
  }

  /**
   * What all entries of delivery that would be asked come to; the first refusal counts, as with an API server.
   *
   * @throws GateError where a decision cannot be made.
   */
  async decide(request: AdmissionRequest): Promise<Outcome> {
    const asked = isStamped(request) ? await this.#stamped(request) : request;
    const warnings: string[] = [];
    const auditAnnotations: Record<string, string> = {};
    for (const { name, path } of this.#entriesFor(asked)) {
      const verdict = await this.#ask(path, asked);
      warnings.push(...verdict.warnings);
      Object.assign(auditAnnotations, verdict.auditAnnotations);
      if (!verdict.allowed) return refusal(name, verdict, { warnings, auditAnnotations });
    }
    return { verdict: ALLOWED, status: undefined, decisions: [], warnings, auditAnnotations };
  }

  async #stamped(request: AdmissionRequest): Promise<AdmissionRequest> {
    const verdict = await this.#ask(STAMPS_PATH, request);
    return verdict.allowed ? withStamps(request, verdict.patch ?? []) : request;
  }

  /** Those that `generate webhooks` would write and an API server would ask. */
  #entriesFor(request: AdmissionRequest): readonly { readonly name: string; readonly path: string }[] {
    const { namespace, namespaces } = this.#options;
    const { configuration } = deliveryEntries({
      delivery: { ...ON, namespace, workloads: ON },
      target: { url: ADDRESS },
      timeoutSeconds: 10,
    });
    const labels = namespaces.find(({ metadata }) => metadata.name === request.namespace)?.metadata.labels;
    return configuration.webhooks.flatMap((entry) => {
      const found = this.#reach.of(entry, request, labels === undefined ? {} : { namespaceLabels: labels });
      return found.reach === 'passed'
        ? []
        : [{ name: entry.name, path: new URL(entry.clientConfig.url ?? ADDRESS).pathname }];
    });
  }

  async #ask(path: string, request: AdmissionRequest): Promise<Verdict> {
    const entry = this.#webhooks.get(path)?.entry({});
    if (entry === undefined) throw new GateError('GATE_INTERNAL', `nothing answers ${path}`);
    return entry.decidePlain?.(request) ?? (await entry.decide(request, this.#context()));
  }

  #context(): DecisionContext {
    const { signal } = new AbortController();
    const { objects, namespaces } = this.#options;
    return {
      signal,
      reader: readerOver([...objects, ...namespaces]),
      share: () => ({ signal, clear: () => undefined }),
    };
  }
}

const ALLOWED: Verdict = { allowed: true, warnings: [], auditAnnotations: {} };

function refusal(
  name: string,
  verdict: Verdict & { readonly allowed: false },
  rest: Pick<Outcome, 'warnings' | 'auditAnnotations'>,
): Outcome {
  const { message, reason, code } = verdict;
  // The words of the API server around those of the webhook (delivery.md F6).
  const status = { message: `admission webhook "${name}" denied the request: ${message}`, reason, code };
  return { verdict, status: status as Outcome['status'], decisions: [], ...rest };
}

function readerOver(objects: readonly KubeObject[]): Reader {
  const isOf = (object: KubeObject, kind: string, namespace: string | undefined): boolean =>
    object.kind === kind &&
    (namespace === undefined || (object.metadata.namespace ?? 'default') === namespace);
  return {
    get: ({ kind, namespaced }, { namespace, name }) =>
      Promise.resolve(
        objects.find(
          (object) => isOf(object, kind, namespaced ? namespace : undefined) && object.metadata.name === name,
        ),
      ),
    list: ({ kind }, { namespace }) =>
      Promise.resolve(objects.filter((object) => isOf(object, kind, namespace))),
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
