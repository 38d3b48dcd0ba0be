/** What a request is answered, as the API server words it (vap.md A01 to A11). */
import { labelKeyFaults } from '../cel/libraries/kubernetes-names.ts';
import { goQuote } from '../cel/libraries/go-text.ts';
import { allow, type Verdict } from '../verdict.ts';
import { nameInAnswer, type Attributes } from './attributes.ts';
import { cutBytes, goJson } from './go-strings.ts';
import { namespaceNotFound } from './match.ts';
import type { Binding, Policy } from './types.ts';
import { codeOf, violationOf } from './violations.ts';

/** `metav1.Status` of a refusal. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: 'Failure';
  readonly message: string;
  readonly reason: string;
  readonly details: {
    readonly name: string;
    readonly group?: string;
    readonly kind: string;
    readonly causes?: readonly { readonly message: string }[];
  };
  readonly code: number;
}

/** Something that a policy found wrong, whatever came of it: for metrics and explanations. */
export interface Decision {
  readonly policy: string;
  /** Undefined where the policy itself could not be applied. */
  readonly binding: string | undefined;
  /**
   * `deny`: a validation is false. `error`: an expression has no result. `configuration`: the policy or the binding
   * cannot be applied.
   */
  readonly evaluation: 'deny' | 'error' | 'configuration';
  /** Of the validation, from 0; undefined where it is not about one. */
  readonly expressionIndex: number | undefined;
  readonly message: string;
  readonly reason: string | undefined;
  /** What it did; nothing: it was ignored, by failurePolicy or for want of actions. */
  readonly actions: readonly string[];
}

export interface Outcome {
  /** For the answer of a webhook: without the API server's own `… is forbidden: ` (vap.md F1). */
  readonly verdict: Verdict;
  /** What the API server itself would answer; undefined where it lets the request pass. */
  readonly status: Status | undefined;
  readonly decisions: readonly Decision[];
  /** All of them, in order: what of these a client sees says warnings.ts. */
  readonly warnings: readonly string[];
  /** Under the API server's keys. */
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** Key of the failures that action Audit records. */
const FAILURE_KEY = 'validation.policy.admission.k8s.io/validation_failure';
/** The same in the answer of a webhook, under whose name the API server puts it (design decision 16). */
const WEBHOOK_FAILURE_KEY = 'validation_failure';
/** Bytes of an audit annotation (vap.md A09). */
const MAX_ANNOTATION_BYTES = 10_240;
/** Minor from which on all failures are recorded, and how many (vap.md A08). */
const RECORDS_ALL_FAILURES = 37;
const MAX_RECORDED_FAILURES = 50;

const CODES: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};
const DEFAULT_REASON = 'Invalid';
const DEFAULT_CODE = 422;

/** Gathers what the policies say about one request. */
export class AnswerBuilder {
  readonly #attributes: Attributes;
  readonly #minor: number;
  readonly #decisions: Decision[] = [];
  #denial: Decision | undefined;
  readonly #warnings: string[] = [];
  readonly #failures: string[] = [];
  /** By policy and key, in order. */
  readonly #annotations = new Map<string, Map<string, string[]>>();

  /** @param minor of the API server that is imitated */
  constructor(attributes: Attributes, minor: number) {
    this.#attributes = attributes;
    this.#minor = minor;
  }

  /** The policy, or with a binding the binding, cannot be applied: actions do not matter then (vap.md P10). */
  misconfigured(policy: Policy, binding: Binding | undefined, error: string): void {
    const { failurePolicy } = policy;
    const known = failurePolicy === 'Fail' || failurePolicy === 'Ignore';
    const what = binding === undefined ? 'policy' : 'binding';
    this.#decide(failurePolicy === 'Ignore' ? [] : ['Deny'], {
      policy: policy.name,
      binding: binding?.name,
      evaluation: 'configuration',
      expressionIndex: undefined,
      message: known
        ? `failed to configure ${what}: ${error}`
        : `unrecognized failure policy: '${failurePolicy}'`,
      reason: undefined,
    });
  }

  failed(
    policy: Policy,
    binding: Binding,
    failing: {
      readonly expressionIndex: number;
      readonly evaluation: 'deny' | 'error';
      readonly message: string;
      readonly reason?: string;
    },
  ): void {
    const ignored = failing.evaluation === 'error' && policy.failurePolicy === 'Ignore';
    const { expressionIndex, evaluation } = failing;
    const message = failing.message.toWellFormed();
    this.#decide(ignored ? [] : binding.validationActions, {
      policy: policy.name,
      binding: binding.name,
      evaluation,
      expressionIndex,
      message,
      reason: failing.reason,
    });
    if (ignored) return;
    for (const action of binding.validationActions) {
      if (action === 'Audit') {
        this.#failures.push(
          goJson({
            message,
            policy: binding.policyName,
            binding: binding.name,
            expressionIndex,
            validationActions: binding.validationActions,
          }),
        );
      } else if (action === 'Warn' && failing.message.isWellFormed()) {
        // What is no Unicode cannot be sent, and would be repaired on the way through a webhook.
        this.#warnings.push(
          `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${failing.message}`,
        );
      }
    }
  }

  /** An audit annotation without a value denies, whatever the actions are (vap.md E10). */
  annotationFailed(policy: Policy, binding: Binding, message: string): void {
    this.#decide(['Deny'], {
      policy: policy.name,
      binding: binding.name,
      evaluation: 'error',
      expressionIndex: undefined,
      message,
      reason: undefined,
    });
  }

  annotate(policy: Policy, key: string, value: string): void {
    const cut = cutBytes(value, MAX_ANNOTATION_BYTES).toWellFormed();
    let keys = this.#annotations.get(policy.name);
    if (keys === undefined) this.#annotations.set(policy.name, (keys = new Map<string, string[]>()));
    const values = keys.get(key);
    if (values === undefined) keys.set(key, [cut]);
    else if (!values.includes(cut)) values.push(cut);
  }

  #decide(actions: readonly string[], decision: Omit<Decision, 'actions'>): void {
    const whole = { ...decision, actions };
    this.#decisions.push(whole);
    // The first one decides, later ones are not seen (vap.md A02).
    if (actions.includes('Deny')) this.#denial ??= whole;
  }

  finish(): Outcome {
    const denial = this.#denial;
    if (denial === undefined) return this.#outcome(allow(this.#extra()), undefined);
    const { policy, binding } = denial;
    const who = `ValidatingAdmissionPolicy '${policy}'${binding === undefined ? '' : ` with binding '${binding}'`}`;
    const message = `${who} denied request: ${denial.message}`;
    const reason = denial.reason === undefined || denial.reason === '' ? DEFAULT_REASON : denial.reason;
    const code = Object.hasOwn(CODES, reason) ? (CODES[reason] ?? DEFAULT_CODE) : DEFAULT_CODE;
    const { group, resource } = this.#attributes.resource;
    const name = nameInAnswer(this.#attributes);
    const causes = [{ message }];
    const status: Status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `${resource}${group === '' ? '' : `.${group}`} ${goQuote(name)} is forbidden: ${message}`,
      reason,
      details: { name, ...(group === '' ? {} : { group }), kind: resource, causes },
      code,
    };
    return this.#outcome(
      {
        allowed: false,
        code,
        reason,
        message,
        causes,
        object: { group, kind: resource, name },
        codes: [codeOf(denial)],
        ...this.#extra(),
      },
      status,
    );
  }

  /** The request's namespace does not exist: that is the answer, whatever policies said (vap.md A06). */
  namespaceGone(name: string): Outcome {
    const message = namespaceNotFound(name);
    const status: Status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason: 'NotFound',
      details: { name, kind: 'namespaces' },
      code: 404,
    };
    const verdict = {
      allowed: false,
      code: 404,
      reason: 'NotFound',
      message,
      causes: [],
      object: { group: '', kind: 'namespaces', name },
      codes: ['POLICY_NAMESPACE_GONE'],
      ...this.#extra(),
    } as const;
    return this.#outcome(verdict, status);
  }

  #outcome(verdict: Verdict, status: Status | undefined): Outcome {
    const violations = this.#decisions.map(violationOf);
    return {
      verdict: violations.length === 0 ? verdict : { ...verdict, violations },
      status,
      decisions: this.#decisions,
      warnings: this.#warnings,
      auditAnnotations: this.#annotationsBy((policy, key) => `${policy}/${key}`, FAILURE_KEY),
    };
  }

  /** In the answer of a webhook the entry stands for the policy, and its name for the first part of the key. */
  #extra(): { readonly warnings: readonly string[]; readonly auditAnnotations: Record<string, string> } {
    const auditAnnotations = this.#annotationsBy((_, key) => key, WEBHOOK_FAILURE_KEY);
    return { warnings: this.#warnings, auditAnnotations };
  }

  #annotationsBy(keyOf: (policy: string, key: string) => string, failureKey: string): Record<string, string> {
    if (this.#annotations.size === 0 && this.#failures.length === 0) return {};
    const annotations = new Map<string, string>();
    for (const [policy, keys] of this.#annotations) {
      for (const [key, values] of keys) {
        if (isAnnotationKey(`${policy}/${key}`)) annotations.set(keyOf(policy, key), values.join(', '));
      }
    }
    const failure = this.#failureAnnotation();
    if (failure !== undefined) annotations.set(failureKey, failure);
    return Object.fromEntries(annotations);
  }

  /** vap.md A08. */
  #failureAnnotation(): string | undefined {
    if (this.#failures.length === 0) return undefined;
    const count = this.#minor >= RECORDS_ALL_FAILURES ? MAX_RECORDED_FAILURES : 1;
    return `[${this.#failures.slice(0, count).join(',')}]`;
  }
}

/** What the audit log takes: two parts, and a qualified name. */
function isAnnotationKey(key: string): boolean {
  return key.split('/').length === 2 && labelKeyFaults(key).length === 0;
}
