/** Policies and bindings out of objects that somebody wrote, with the API server's defaults (vap.md V01). */
import { decode, type Shaped } from './api-shape.ts';
import { BINDING, POLICY } from './api-types.ts';
import type {
  Binding,
  LabelRequirement,
  LabelSelector,
  MatchResources,
  NamedRule,
  ParamKind,
  ParamRef,
  Policy,
  Validation,
} from './types.ts';

/** What the write-time rules look at in `metadata`. */
export interface Metadata {
  readonly name: string;
  readonly generateName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly ownerReferences: readonly OwnerReference[];
  readonly generation: number | bigint;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export type Read<T> =
  | {
      readonly ok: true;
      readonly value: T;
      readonly metadata: Metadata;
      /** Fields that the kind does not have, in the API server's words: `unknown field "spec.nonsense"`. */
      readonly warnings: readonly string[];
    }
  /** Something has a type that it may not have; in the API server's words. */
  | { readonly ok: false; readonly fault: string };

/** @param object of the kind ValidatingAdmissionPolicy: its kind and group are not looked at */
export function readPolicy(object: unknown): Read<Policy> {
  const decoded = decode(object, POLICY);
  if (!decoded.ok) return decoded;
  const metadata = metadataOf(decoded.value);
  const spec = shaped(decoded.value, 'spec') ?? {};
  const paramKind = shaped(spec, 'paramKind');
  const constraints = shaped(spec, 'matchConstraints');
  const value: Policy = {
    name: metadata.name,
    ...(paramKind === undefined ? {} : { paramKind: paramKindOf(paramKind) }),
    ...(constraints === undefined ? {} : { matchConstraints: matchResourcesOf(constraints) }),
    validations: structs(spec, 'validations').map(validationOf),
    failurePolicy: optionalText(spec, 'failurePolicy') ?? 'Fail',
    auditAnnotations: structs(spec, 'auditAnnotations').map((annotation) => ({
      key: textOf(annotation, 'key'),
      valueExpression: textOf(annotation, 'valueExpression'),
    })),
    matchConditions: structs(spec, 'matchConditions').map(namedExpressionOf),
    variables: structs(spec, 'variables').map(namedExpressionOf),
  };
  return { ok: true, value, metadata, warnings: decoded.warnings };
}

/** @param object of the kind ValidatingAdmissionPolicyBinding: its kind and group are not looked at */
export function readBinding(object: unknown): Read<Binding> {
  const decoded = decode(object, BINDING);
  if (!decoded.ok) return decoded;
  const metadata = metadataOf(decoded.value);
  const spec = shaped(decoded.value, 'spec') ?? {};
  const paramRef = shaped(spec, 'paramRef');
  const resources = shaped(spec, 'matchResources');
  const value: Binding = {
    name: metadata.name,
    policyName: textOf(spec, 'policyName'),
    ...(paramRef === undefined ? {} : { paramRef: paramRefOf(paramRef) }),
    ...(resources === undefined ? {} : { matchResources: matchResourcesOf(resources) }),
    validationActions: texts(spec, 'validationActions'),
  };
  return { ok: true, value, metadata, warnings: decoded.warnings };
}

function metadataOf(object: Shaped): Metadata {
  const metadata = shaped(object, 'metadata') ?? {};
  return {
    name: textOf(metadata, 'name'),
    generateName: textOf(metadata, 'generateName'),
    labels: textMap(metadata, 'labels'),
    annotations: textMap(metadata, 'annotations'),
    finalizers: texts(metadata, 'finalizers'),
    ownerReferences: structs(metadata, 'ownerReferences').map(ownerReferenceOf),
    generation: (own(metadata, 'generation') as number | bigint | undefined) ?? 0,
  };
}

function ownerReferenceOf(reference: Shaped): OwnerReference {
  const controller = own(reference, 'controller') as boolean | undefined;
  const blockOwnerDeletion = own(reference, 'blockOwnerDeletion') as boolean | undefined;
  return {
    apiVersion: textOf(reference, 'apiVersion'),
    kind: textOf(reference, 'kind'),
    name: textOf(reference, 'name'),
    uid: textOf(reference, 'uid'),
    ...(controller === undefined ? {} : { controller }),
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  };
}

function paramKindOf(paramKind: Shaped): ParamKind {
  return { apiVersion: textOf(paramKind, 'apiVersion'), kind: textOf(paramKind, 'kind') };
}

function validationOf(validation: Shaped): Validation {
  const message = textOf(validation, 'message');
  const messageExpression = textOf(validation, 'messageExpression');
  // Other than texts, a reason may be there and empty (vap.md V11).
  const reason = optionalText(validation, 'reason');
  return {
    expression: textOf(validation, 'expression'),
    ...(message === '' ? {} : { message }),
    ...(messageExpression === '' ? {} : { messageExpression }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function namedExpressionOf(value: Shaped): { readonly name: string; readonly expression: string } {
  return { name: textOf(value, 'name'), expression: textOf(value, 'expression') };
}

function matchResourcesOf(resources: Shaped): MatchResources {
  return {
    namespaceSelector: selectorOf(shaped(resources, 'namespaceSelector') ?? {}),
    objectSelector: selectorOf(shaped(resources, 'objectSelector') ?? {}),
    resourceRules: structs(resources, 'resourceRules').map(ruleOf),
    excludeResourceRules: structs(resources, 'excludeResourceRules').map(ruleOf),
    matchPolicy: optionalText(resources, 'matchPolicy') ?? 'Equivalent',
  };
}

function ruleOf(rule: Shaped): NamedRule {
  return {
    resourceNames: texts(rule, 'resourceNames'),
    operations: texts(rule, 'operations'),
    apiGroups: texts(rule, 'apiGroups'),
    apiVersions: texts(rule, 'apiVersions'),
    resources: texts(rule, 'resources'),
    scope: optionalText(rule, 'scope') ?? '*',
  };
}

function selectorOf(selector: Shaped): LabelSelector {
  return {
    matchLabels: textMap(selector, 'matchLabels'),
    matchExpressions: structs(selector, 'matchExpressions').map((requirement): LabelRequirement => ({
      key: textOf(requirement, 'key'),
      operator: textOf(requirement, 'operator'),
      values: texts(requirement, 'values'),
    })),
  };
}

function paramRefOf(paramRef: Shaped): ParamRef {
  const name = textOf(paramRef, 'name');
  const namespace = textOf(paramRef, 'namespace');
  const selector = shaped(paramRef, 'selector');
  const action = optionalText(paramRef, 'parameterNotFoundAction');
  return {
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    ...(selector === undefined ? {} : { selector: selectorOf(selector) }),
    ...(action === undefined ? {} : { parameterNotFoundAction: action }),
  };
}

/*
 * Members of what the decoder let through: it has made sure of their types, and left none that is null.
 */

function own(struct: Shaped, key: string): unknown {
  return Object.hasOwn(struct, key) ? struct[key] : undefined;
}

function shaped(struct: Shaped, key: string): Shaped | undefined {
  return own(struct, key) as Shaped | undefined;
}

function structs(struct: Shaped, key: string): readonly Shaped[] {
  return (own(struct, key) as readonly Shaped[] | undefined) ?? [];
}

function optionalText(struct: Shaped, key: string): string | undefined {
  return own(struct, key) as string | undefined;
}

function textOf(struct: Shaped, key: string): string {
  return optionalText(struct, key) ?? '';
}

function texts(struct: Shaped, key: string): readonly string[] {
  return (own(struct, key) as readonly string[] | undefined) ?? [];
}

function textMap(struct: Shaped, key: string): Readonly<Record<string, string>> {
  return (own(struct, key) as Readonly<Record<string, string>> | undefined) ?? {};
}
