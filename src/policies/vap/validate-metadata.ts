/** Write-time rules about `metadata` (apimachinery: objectmeta.go), for objects without a namespace. */
import { labelKeyFaults, labelValueFaults, type NameValidator } from '../cel/libraries/kubernetes-names.ts';
import { asPrefix, subdomainFaults } from '../cel/libraries/kubernetes-names.ts';
import { utf8Length } from '../cel/sizes.ts';
import { invalid, required, shownJson, shownText, tooLong, type FieldError } from './field-error.ts';
import type { Metadata, OwnerReference } from './read.ts';

/** Bytes of all annotations, keys included. */
const MAX_ANNOTATION_BYTES = 256 * 1024;

/** Bytes of `generateName` that are kept, so that name and suffix are no longer than a label. */
const MAX_GENERATED_BASE_BYTES = 58;
/** Stands for the suffix that the API server draws. */
const SUFFIX = 'xxxxx';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** The name that the object will have; empty where nothing says one. */
export function nameOf({ name, generateName }: Metadata): string {
  if (name !== '' || generateName === '') return name;
  return generateName.slice(0, MAX_GENERATED_BASE_BYTES) + SUFFIX;
}

/** `NameIsDNSSubdomain`: the names of policies and bindings. */
export const nameFaults: NameValidator = (name) => subdomainFaults(name);

/** `IsPathSegmentName`: what every name must be. */
export const segmentFaults: NameValidator = (name) => {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
};

/** @param faults what the name may not be; asPrefix of kubernetes-names.ts makes the rule for generateName of it */
export function metadataErrors(metadata: Metadata, faults: NameValidator): FieldError[] {
  const { generateName } = metadata;
  const name = nameOf(metadata);
  const errors: FieldError[] = [];
  if (generateName !== '') {
    errors.push(...each(asPrefix(faults)(generateName), 'metadata.generateName', generateName));
  }
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...each(faults(name), 'metadata.name', name));
  return [...errors, ...mapErrors(metadata), ...finalizerErrors(metadata.finalizers)];
}

/** What an update looks at once more, before the rules of the kind. */
export function metadataUpdateErrors(metadata: Metadata, old: Metadata): FieldError[] {
  const errors: FieldError[] = [];
  if (metadata.name !== old.name) {
    errors.push(invalid('metadata.name', shownText(metadata.name), 'field is immutable'));
  }
  return [...errors, ...mapErrors(metadata)];
}

function mapErrors({ labels, annotations, ownerReferences }: Metadata): FieldError[] {
  return [
    ...labelErrors(labels, 'metadata.labels'),
    ...annotationErrors(annotations),
    ...ownerErrors(ownerReferences),
  ];
}

/** Also of the matchLabels of a selector. */
export function labelErrors(labels: Readonly<Record<string, string>>, field: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) =>
    each(labelKeyFaults(key), field, key).concat(each(labelValueFaults(value), field, value)),
  );
}

/** One finding for each thing that is wrong with a text. */
export function each(faults: readonly string[], field: string, value: string): FieldError[] {
  return faults.map((fault) => invalid(field, shownText(value), fault));
}

function annotationErrors(annotations: Readonly<Record<string, string>>): FieldError[] {
  const field = 'metadata.annotations';
  let size = 0;
  const errors = Object.entries(annotations).flatMap(([key, value]) => {
    size += utf8Length(key) + utf8Length(value);
    return each(labelKeyFaults(key.toLowerCase()), field, key);
  });
  if (size > MAX_ANNOTATION_BYTES) errors.push(tooLong(field, MAX_ANNOTATION_BYTES));
  return errors;
}

function ownerErrors(references: readonly OwnerReference[]): FieldError[] {
  const field = 'metadata.ownerReferences';
  const errors: FieldError[] = [];
  let controller: string | undefined;
  for (const reference of references) {
    errors.push(...ownerError(reference, field));
    if (reference.controller !== true) continue;
    const name = `${reference.kind}/${reference.name}`;
    if (controller === undefined) controller = name;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalid(field, shownJson(references), detail));
    }
  }
  return errors;
}

function ownerError(reference: OwnerReference, field: string): FieldError[] {
  const { apiVersion, kind, name, uid } = reference;
  const errors: FieldError[] = [];
  if (versionOf(apiVersion) === '') {
    errors.push(invalid(`${field}.apiVersion`, shownText(apiVersion), 'version must not be empty'));
  }
  if (kind === '') errors.push(invalid(`${field}.kind`, shownText(kind), 'must not be empty'));
  if (name === '') errors.push(invalid(`${field}.name`, shownText(name), 'must not be empty'));
  if (uid === '') errors.push(invalid(`${field}.uid`, shownJson(uid), 'must not be empty'));
  if (apiVersion === 'v1' && kind === 'Event') {
    const detail = '/v1, Kind=Event is disallowed from being an owner';
    errors.push(invalid(field, shownJson(reference), detail));
  }
  return errors;
}

function versionOf(apiVersion: string): string {
  const parts = apiVersion.split('/');
  return parts.length > 2 ? '' : (parts.at(-1) ?? '');
}

function finalizerErrors(finalizers: readonly string[]): FieldError[] {
  const field = 'metadata.finalizers';
  const errors = finalizers.flatMap((finalizer) => each(labelKeyFaults(finalizer), field, finalizer));
  if (finalizers.includes(ORPHAN) && finalizers.includes(FOREGROUND)) {
    const detail = `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`;
    errors.push(invalid(field, shownJson(finalizers), detail));
  }
  return errors;
}
