/** Validators of names in Kubernetes (apimachinery 0.36.3), with their texts. Lengths are bytes of UTF-8. */
import { utf8Length } from '../sizes.ts';
import { bytesOfText, textOfBytes } from './go-text.ts';

/** @returns what is wrong; empty: nothing */
export type NameValidator = (name: string) => readonly string[];

/** As Kubernetes prints the expression beside the explanation. */
const LABEL_1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = String.raw`${LABEL_1123}(\.${LABEL_1123})*`;
const LABEL_KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${LABEL_KEY})?`;

const MAX_LABEL = 63;
const MAX_SUBDOMAIN = 253;

function expressionFault(rule: string, expression: string, examples: readonly string[]): string {
  // Each example is followed by a comma and a space, also before "or".
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${rule} (e.g. ${shown}regex used for validation is '${expression}')`;
}

/** Names and labels say the same limit in two words. */
type Unit = 'characters' | 'bytes';

function lengthFaults(name: string, limit: number, unit: Unit): string[] {
  return utf8Length(name) > limit ? [`must be no more than ${String(limit)} ${unit}`] : [];
}

/*
 * The expressions are tested piece by piece: a label begins and ends with a letter or digit and has hyphens only
 * inside. So no pattern can run for long on a hostile name.
 */

function isLabel1123(name: string): boolean {
  return /^[a-z0-9-]+$/.test(name) && !name.startsWith('-') && !name.endsWith('-');
}

function isSubdomain(name: string): boolean {
  return name.split('.').every(isLabel1123);
}

function isLabelKeyName(name: string): boolean {
  return /^[A-Za-z0-9_.-]+$/.test(name) && /^[A-Za-z0-9]/.test(name) && /[A-Za-z0-9]$/.test(name);
}

/** A label of RFC 1123: also the name of a namespace. */
export function label1123Faults(name: string): readonly string[] {
  const faults = lengthFaults(name, MAX_LABEL, 'characters');
  if (isLabel1123(name)) return faults;
  if (isSubdomain(name)) return [...faults, 'must not contain dots'];
  const rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [...faults, expressionFault(rule, LABEL_1123, ['my-name', '123-abc'])];
}

/** A subdomain of RFC 1123: also the name of a service account. */
export function subdomainFaults(name: string, unit: Unit = 'characters'): readonly string[] {
  const faults = lengthFaults(name, MAX_SUBDOMAIN, unit);
  if (isSubdomain(name)) return faults;
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [...faults, expressionFault(rule, SUBDOMAIN, ['example.com'])];
}

export function label1035Faults(name: string): readonly string[] {
  const faults = lengthFaults(name, MAX_LABEL, 'characters');
  if (isLabel1123(name) && /^[a-z]/.test(name)) return faults;
  const rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  return [...faults, expressionFault(rule, LABEL_1035, ['my-name', 'abc-123'])];
}

/** The key of a label: a name, with a subdomain and a slash before it or without. */
export function labelKeyFaults(key: string): readonly string[] {
  const rule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  const nameRule = expressionFault(rule, LABEL_KEY, ['MyName', 'my.name', '123-abc']);
  const parts = key.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${nameRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const faults = parts.length === 2 ? prefixFaults(parts[0] ?? '') : [];
  if (name === '') faults.push('name part must be non-empty');
  else faults.push(...lengthFaults(name, MAX_LABEL, 'bytes').map((fault) => `name part ${fault}`));
  if (!isLabelKeyName(name)) faults.push(`name part ${nameRule}`);
  return faults;
}

function prefixFaults(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  return subdomainFaults(prefix, 'bytes').map((fault) => `prefix part ${fault}`);
}

export function labelValueFaults(value: string): readonly string[] {
  const faults = lengthFaults(value, MAX_LABEL, 'bytes');
  if (value === '' || isLabelKeyName(value)) return faults;
  const rule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  return [...faults, expressionFault(rule, LABEL_VALUE, ['MyValue', 'my_value', '12345'])];
}

/**
 * For the beginning of a name: it may end in a hyphen. Kubernetes puts a letter in place of the last *two* bytes then,
 * so that the one before the hyphen is not looked at.
 */
export function asPrefix(faults: NameValidator): NameValidator {
  return (name) => {
    const bytes = bytesOfText(name);
    return faults(bytes.length > 1 && name.endsWith('-') ? textOfBytes(`${bytes.slice(0, -2)}a`) : name);
  };
}
