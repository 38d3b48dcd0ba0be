/** What an API server says to policies that are written, and what we have to add. */
import type { KubeObject } from '../cluster/objects.ts';
import { Cel } from '../policies/cel/cel.ts';
import { withCustomResources } from '../policies/vap/custom-types.ts';
import type { WriteStatus } from '../policies/vap/field-error.ts';
import { KindTypes } from '../policies/vap/openapi-types.ts';
import { minorOf, policyKindOf, type PolicyKind } from '../policies/vap/policy-objects.ts';
import { readBinding, readPolicy } from '../policies/vap/read.ts';
import { typeCheck, type ExpressionWarning } from '../policies/vap/typecheck.ts';
import type { Binding, Policy } from '../policies/vap/types.ts';
import type { InputDocument } from './manifests.ts';
import { writeAnswerOf } from './native-policies.ts';
import { loadOpenApiTypes } from './openapi.ts';

export interface Linted {
  readonly file: string;
  readonly document: number;
  readonly kind: PolicyKind;
  readonly name: string;
  /** Of the refusal; undefined: it would be taken. */
  readonly status?: WriteStatus;
  /** Of the API server, to whoever writes. */
  readonly warnings: readonly string[];
  /** As Kubernetes writes them into the status. */
  readonly typeWarnings: readonly ExpressionWarning[];
  /** Ours: what is allowed, and yet hardly meant. */
  readonly notes: readonly string[];
}

export interface LintOptions {
  /** Objects among which there may be CustomResourceDefinitions. */
  readonly definitions: readonly KubeObject[];
  readonly kubeVersion: string;
}

/** @returns what is said of each policy and binding; other objects are passed over. */
export async function lintDocuments(
  documents: readonly InputDocument[],
  { definitions, kubeVersion }: LintOptions,
): Promise<readonly Linted[]> {
  const cel = new Cel();
  const minor = minorOf(kubeVersion);
  const kinds = new KindTypes(
    withCustomResources(
      await loadOpenApiTypes(),
      definitions.filter(({ kind }) => kind === 'CustomResourceDefinition'),
    ),
  );
  const among = new Given(documents);
  return documents.flatMap(({ file, number, object }) => {
    const kind = policyKindOf(object);
    const answer = writeAnswerOf(object, cel, minor);
    if (kind === undefined || answer === undefined) return [];
    const { status, warnings } = answer;
    const read = kind === 'ValidatingAdmissionPolicy' ? readPolicy(object) : undefined;
    // Only what is stored is checked for its types.
    const isChecked = status === undefined && read?.ok === true;
    return [
      {
        file,
        document: number,
        kind,
        name: object.metadata.name ?? '',
        ...(status === undefined ? {} : { status }),
        warnings,
        typeWarnings: isChecked ? typeCheck(read.value, { cel, minor, kinds }) : [],
        notes: [
          ...among.notesOn(kind, object),
          ...(isChecked && among.mayDeny(read.value.name) ? reasonNotes(read.value) : []),
        ],
      },
    ];
  });
}

/** GitOps tools take some refusals for a change that needs the object deleted and made anew (design decision 23). */
function reasonNotes({ validations }: Policy): readonly string[] {
  return validations.flatMap(({ reason }, index) =>
    reason === 'Forbidden'
      ? []
      : [
          `spec.validations[${String(index)}] has no reason Forbidden, so it is answered with code ${reason === 'RequestEntityTooLarge' ? '413' : '422'}: a GitOps tool may take that for a field that cannot be changed, and delete the object to make it anew`,
        ],
  );
}

/** What the files say together. */
class Given {
  readonly #policies = new Set<string>();
  /** What the bindings of a policy do. */
  readonly #actions = new Map<string, string[]>();
  readonly #names = new Map<string, number>();

  constructor(documents: readonly InputDocument[]) {
    for (const { object } of documents) {
      const kind = policyKindOf(object);
      if (kind === undefined) continue;
      const { name = '' } = object.metadata;
      const key = `${kind} ${name}`;
      this.#names.set(key, (this.#names.get(key) ?? 0) + 1);
      if (kind === 'ValidatingAdmissionPolicy') this.#policies.add(name);
      const bound = bindingOf(kind, object);
      if (bound === undefined) continue;
      const actions = this.#actions.get(bound.policyName) ?? [];
      this.#actions.set(bound.policyName, [...actions, ...bound.validationActions]);
    }
  }

  /** Whether a binding of the policy denies, as one may that is not among the files. */
  mayDeny(policy: string): boolean {
    return this.#actions.get(policy)?.includes('Deny') ?? true;
  }

  notesOn(kind: PolicyKind, object: KubeObject): readonly string[] {
    const { name = '' } = object.metadata;
    const notes: string[] = [];
    if ((this.#names.get(`${kind} ${name}`) ?? 0) > 1)
      notes.push('there is another of this name in these files');
    if (kind === 'ValidatingAdmissionPolicy') {
      if (!this.#actions.has(name))
        notes.push('no binding in these files names it: without one it is never asked');
      return notes;
    }
    const policyName = bindingOf(kind, object)?.policyName;
    if (policyName !== undefined && !this.#policies.has(policyName)) {
      notes.push(`its policy ${JSON.stringify(policyName)} is not in these files`);
    }
    return notes;
  }
}

function bindingOf(kind: PolicyKind, object: KubeObject): Binding | undefined {
  if (kind !== 'ValidatingAdmissionPolicyBinding') return undefined;
  const read = readBinding(object);
  return read.ok ? read.value : undefined;
}
