/** What an API server says to policies that are written, and what we have to add. */
import type { KubeObject } from '../cluster/objects.ts';
import { Cel } from '../policies/cel/cel.ts';
import type { CostReport } from '../policies/vap/cost-report.ts';
import { withCustomResources } from '../policies/vap/custom-types.ts';
import type { WriteStatus } from '../policies/vap/field-error.ts';
import { lintBinding, lintPolicy, type LintContext } from '../policies/vap/lint.ts';
import { finding, type LintCode, type LintFinding } from '../policies/vap/lint-finding.ts';
import { KindTypes } from '../policies/vap/openapi-types.ts';
import { minorOf, policyKindOf, type PolicyKind } from '../policies/vap/policy-objects.ts';
import type { ExpressionVersions } from '../policies/vap/portability.ts';
import { readBinding, readPolicy } from '../policies/vap/read.ts';
import { typeCheck, type ExpressionWarning } from '../policies/vap/typecheck.ts';
import type { Binding, Policy } from '../policies/vap/types.ts';
import type { InputDocument } from './manifests.ts';
import { writeAnswerOf } from './native-policies.ts';
import { loadOpenApiTypes } from './openapi.ts';

export interface TypeWarning extends ExpressionWarning {
  readonly code: 'LINT_TYPE_CHECK';
}

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
  readonly typeWarnings: readonly TypeWarning[];
  /** Ours. */
  readonly findings: readonly LintFinding[];
  /** Of a policy that can be read: which API servers take each expression. */
  readonly versions?: readonly ExpressionVersions[];
  readonly cost?: CostReport;
}

export interface LintOptions {
  /** Objects among which there may be CustomResourceDefinitions. */
  readonly definitions: readonly KubeObject[];
  readonly kubeVersion: string;
  /** The oldest API server that shall take the policies. */
  readonly from?: string | undefined;
  /** Objects as they are stored: what has one of its name among them is an update. */
  readonly stored: readonly KubeObject[];
  /** What nobody wants to hear of. */
  readonly ignore: readonly LintCode[];
}

/** @returns what is said of each policy and binding; other objects are passed over. */
export async function lintDocuments(
  documents: readonly InputDocument[],
  { definitions, kubeVersion, from, stored, ignore }: LintOptions,
): Promise<readonly Linted[]> {
  const crds = definitions.filter(({ kind }) => kind === 'CustomResourceDefinition');
  const types = withCustomResources(await loadOpenApiTypes(), crds);
  const linter = new Linter(documents, stored, {
    cel: new Cel(),
    types,
    minor: minorOf(kubeVersion),
    ...(from === undefined ? {} : { from: minorOf(from) }),
    policies: readable(documents, 'ValidatingAdmissionPolicy', readPolicy),
    bindings: readable(documents, 'ValidatingAdmissionPolicyBinding', readBinding),
  });
  return documents.flatMap((document) => {
    const linted = linter.lint(document);
    if (linted === undefined) return [];
    const isWanted = ({ code }: { readonly code: LintCode }): boolean => !ignore.includes(code);
    const { typeWarnings, findings } = linted;
    return [{ ...linted, typeWarnings: typeWarnings.filter(isWanted), findings: findings.filter(isWanted) }];
  });
}

function readable<T extends Policy | Binding>(
  documents: readonly InputDocument[],
  kind: PolicyKind,
  read: (object: KubeObject) => { readonly ok: true; readonly value: T } | { readonly ok: false },
): readonly T[] {
  return documents.flatMap(({ object }) => {
    if (policyKindOf(object) !== kind) return [];
    const result = read(object);
    return result.ok ? [result.value] : [];
  });
}

class Linter {
  readonly #context: LintContext;
  readonly #kinds: KindTypes;
  readonly #stored = new Map<string, KubeObject>();
  readonly #names = new Map<string, number>();

  constructor(documents: readonly InputDocument[], stored: readonly KubeObject[], context: LintContext) {
    this.#context = context;
    this.#kinds = new KindTypes(context.types);
    for (const object of stored) this.#stored.set(nameOf(object), object);
    for (const { object } of documents) {
      this.#names.set(nameOf(object), (this.#names.get(nameOf(object)) ?? 0) + 1);
    }
  }

  lint({ file, number, object }: InputDocument): Linted | undefined {
    const { cel, minor } = this.#context;
    const kind = policyKindOf(object);
    const old = this.#stored.get(nameOf(object));
    const answer = writeAnswerOf(object, cel, minor, old);
    if (kind === undefined || answer === undefined) return undefined;
    const { status, warnings } = answer;
    const said = {
      file,
      document: number,
      kind,
      name: object.metadata.name ?? '',
      ...(status === undefined ? {} : { status }),
      warnings,
    };
    const twice = (this.#names.get(nameOf(object)) ?? 0) > 1 ? [nameTwice()] : [];
    if (kind === 'ValidatingAdmissionPolicyBinding') {
      const read = readBinding(object);
      const findings = read.ok ? lintBinding(read.value, this.#context) : [];
      return { ...said, typeWarnings: [], findings: [...findings, ...twice] };
    }
    const read = readPolicy(object);
    if (!read.ok) return { ...said, typeWarnings: [], findings: twice };
    // Only what is stored is checked for its types.
    const typeWarnings =
      status === undefined ? typeCheck(read.value, { cel, minor, kinds: this.#kinds }).map(coded) : [];
    const linted = lintPolicy(read.value, this.#context, old && storedPolicy(old));
    return { ...said, typeWarnings, ...linted, findings: [...linted.findings, ...twice] };
  }
}

function coded(warning: ExpressionWarning): TypeWarning {
  return { code: 'LINT_TYPE_CHECK', ...warning };
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name ?? ''}`;
}

function nameTwice(): LintFinding {
  return finding('LINT_NAME_TWICE', 'metadata.name', 'there is another of this name in these files');
}

function storedPolicy(object: KubeObject): Policy | undefined {
  const read = readPolicy(object);
  return read.ok ? read.value : undefined;
}
