/**
 * The verdict: the one shape in which every rule answers. A rule that cannot answer does not return a verdict,
 * it throws, and the edge then answers by the entry's own failure policy (design decision 13).
 */

/** A `metav1.Status` cause: one finding of a denial. */
export interface Cause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

/** What a policy found wrong, whatever came of it: for the log and the metrics, so without any value of the object. */
export interface Violation {
  readonly policy: string;
  /** Left out where the policy itself cannot be applied. */
  readonly binding?: string;
  /** Place in the policy, such as `validations[0]`; left out where it is not about one expression. */
  readonly field?: string;
  /** `deny`: it is false. `error`: it has no result. `configuration`: the policy or the binding cannot be applied. */
  readonly evaluation: 'deny' | 'error' | 'configuration';
  /** What came of it: actions of the binding; none where it was ignored, by the failure policy. */
  readonly actions: readonly string[];
}

export interface Allowed {
  readonly allowed: true;
  /** Texts for `Warning` headers, each shown to the user by kubectl. */
  readonly warnings: readonly string[];
  /** Keys without `/`: the API server puts the entry's name in front (vap.md F4). */
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly violations?: readonly Violation[];
  /** Of a mutating entry alone: what is to be changed (RFC 6902). A validating one must leave it out (flux-facts.md FF-40). */
  readonly patch?: readonly PatchOperation[];
}

/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  /** JSON Pointer (RFC 6901). */
  readonly path: string;
  /** Left out for `remove`. */
  readonly value?: unknown;
}

export interface Denied {
  readonly allowed: false;
  /** HTTP-style status code, 400 to 599 (below 400 the API server turns it into 400: vap.md F2). */
  readonly code: number;
  /** `metav1.StatusReason`, for example `Forbidden`. */
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly Cause[];
  /** The object that is refused, where the status names it as the API server's own would: kubectl shows it then. */
  readonly object?: { readonly group: string; readonly kind: string; readonly name?: string };
  /** Finding codes, for the log and the metric; never shown apart from the message. */
  readonly codes: readonly string[];
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly violations?: readonly Violation[];
}

export type Verdict = Allowed | Denied;

/** What happens to a request when its entry could not answer (`failurePolicy` of the webhook entry). */
export type FailurePolicy = 'Fail' | 'Ignore';

export function allow(
  extra: { warnings?: readonly string[]; auditAnnotations?: Readonly<Record<string, string>> } = {},
): Allowed {
  return { allowed: true, warnings: extra.warnings ?? [], auditAnnotations: extra.auditAnnotations ?? {} };
}

export interface Finding {
  /** A code of src/policies/finding.ts. */
  readonly code: string;
  /** Field path in Kubernetes syntax, or the subject when no field is to blame. */
  readonly where: string;
  /** What is wrong, with found and needed value, and one next step. */
  readonly message: string;
}

/** Findings shown in one denial; the rest is only counted (style.md §4.9). */
const FINDINGS_SHOWN = 20;

/**
 * A 403 `Forbidden` denial: never 409 or 422, on which GitOps tools delete and re-create (design decision 23).
 * Message: `<where>: <what is wrong>. [CODE]`, all findings in one answer.
 */
export function deny(
  findings: readonly [Finding, ...Finding[]],
  extra: { warnings?: readonly string[]; auditAnnotations?: Readonly<Record<string, string>> } = {},
): Denied {
  const shown = findings.slice(0, FINDINGS_SHOWN);
  const more = findings.length - shown.length;
  const lines = shown.map((finding) => `${finding.where}: ${finding.message} [${finding.code}]`);
  if (more > 0) lines.push(`and ${String(more)} more`);
  return {
    allowed: false,
    code: 403,
    reason: 'Forbidden',
    message: lines.join('; '),
    causes: shown.map((finding) => ({
      reason: finding.code,
      message: finding.message,
      field: finding.where,
    })),
    codes: [...new Set(findings.map((finding) => finding.code))],
    warnings: extra.warnings ?? [],
    auditAnnotations: extra.auditAnnotations ?? {},
  };
}
