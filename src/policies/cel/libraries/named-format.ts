/** The library of named formats: `format.named`, `format.<name>()` and `validate`. */
import { STRING, listOf, opaque, optionalOf } from '../cel-type.ts';
import type { CallFacts, Library } from '../library.ts';
import { REGEX_LENGTH, STRING_TRAVERSAL, actualSize } from '../sizes.ts';
import { Opaque, Optional, type Value } from '../values.ts';
import { define, global, member, unitCost } from './declare.ts';
import { UrlFault, parseRequestUri } from './go-url.ts';
import {
  asPrefix,
  label1035Faults,
  label1123Faults,
  labelKeyFaults,
  labelValueFaults,
  subdomainFaults,
  type NameValidator,
} from './kubernetes-names.ts';

const FORMAT = opaque('kubernetes.NamedFormat');

export class NamedFormatValue extends Opaque {
  override readonly typeName = 'kubernetes.NamedFormat';
  readonly name: string;
  readonly faults: NameValidator;
  /** Code points of the expression that Kubernetes takes the format for, when it counts costs. */
  readonly expressionLength: number;

  constructor(name: string, expressionLength: number, faults: NameValidator) {
    super();
    this.name = name;
    this.expressionLength = expressionLength;
    this.faults = faults;
  }

  override equals(other: Value): boolean | undefined {
    return other instanceof NamedFormatValue ? this.name === other.name : undefined;
  }

  override toString(): string {
    return this.name;
  }
}

const UUID = '^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$';
/** Go's mark of an expression without regard to case is a part of its length. */
const UUID_LENGTH = '(?i)'.length + UUID.length;

const TIME = '^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$';
/** The same, with a point that is any character but a line feed, as in Go. */
const TIME_EXPRESSION = /^([0-9]{2}):([0-9]{2}):([0-9]{2})([^\n][0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/u;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const match = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text);
  if (match === null) return false;
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = (DAYS[month - 1] ?? 0) + (isLeap && month === 2 ? 1 : 0);
  return day >= 1 && day <= days;
}

/** Date and time of day; what follows a second `t` is not looked at, and a zone is not either. */
function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t');
  if (!isDate(date)) return false;
  const [, hour = '', minute = '', second = ''] = TIME_EXPRESSION.exec(time) ?? [];
  return hour !== '' && hour <= '23' && minute <= '59' && second <= '59';
}

/** A format that says one thing only. */
function saying(fault: string, holds: (text: string) => boolean): NameValidator {
  return (text) => (holds(text) ? [] : [fault]);
}

function uriFaults(text: string): readonly string[] {
  const url = parseRequestUri(text);
  return url instanceof UrlFault ? [url.message] : [];
}

/** By the name of the function; lengths of expressions as Kubernetes states or estimates them (format.go). */
const FORMATS: ReadonlyMap<string, NamedFormatValue> = new Map([
  ['dns1123Label', new NamedFormatValue('DNS1123Label', 30, label1123Faults)],
  ['dns1123Subdomain', new NamedFormatValue('DNS1123Subdomain', 60, (name) => subdomainFaults(name))],
  ['dns1035Label', new NamedFormatValue('DNS1035Label', 30, label1035Faults)],
  ['qualifiedName', new NamedFormatValue('QualifiedName', 60, labelKeyFaults)],
  ['dns1123LabelPrefix', new NamedFormatValue('DNS1123LabelPrefix', 30, asPrefix(label1123Faults))],
  [
    'dns1123SubdomainPrefix',
    new NamedFormatValue(
      'DNS1123SubdomainPrefix',
      60,
      asPrefix((name) => subdomainFaults(name)),
    ),
  ],
  ['dns1035LabelPrefix', new NamedFormatValue('DNS1035LabelPrefix', 30, asPrefix(label1035Faults))],
  ['labelValue', new NamedFormatValue('LabelValue', 40, labelValueFaults)],
  ['uri', new NamedFormatValue('URI', 1103, uriFaults)],
  [
    'uuid',
    new NamedFormatValue(
      'uuid',
      UUID_LENGTH,
      saying('does not match the UUID format', (text) => new RegExp(UUID, 'i').test(text)),
    ),
  ],
  [
    'byte',
    new NamedFormatValue(
      'byte',
      84,
      saying('invalid base64', (text) => BASE64.test(text)),
    ),
  ],
  ['date', new NamedFormatValue('date', TIME.length, saying('invalid date', isDate))],
  ['datetime', new NamedFormatValue('datetime', TIME.length, saying('invalid datetime', isDateTime))],
]);

/** @returns none where nothing is wrong */
function validate(format: NamedFormatValue, text: string): Value {
  const faults = format.faults(text);
  return new Optional(faults.length === 0 ? undefined : faults);
}

/** As for a regular expression: the text times the expression. */
function validateCost({ args: [format, text = null] }: CallFacts): number | undefined {
  if (!(format instanceof NamedFormatValue)) return undefined;
  const reading = Math.ceil((1 + actualSize(text)) * STRING_TRAVERSAL);
  return reading * Math.ceil(format.expressionLength * REGEX_LENGTH);
}

export const namedFormatLibrary: Library = {
  name: 'kubernetes.format',
  since: 31,
  functions: [
    define('validate', validateCost, [
      member('format-validate', [FORMAT, STRING], optionalOf(listOf(STRING)), validate),
    ]),
    define('format.named', unitCost, [
      global('format-named', [STRING], optionalOf(FORMAT), (name: string) => new Optional(FORMATS.get(name))),
    ]),
    ...[...FORMATS].map(([name, format]) =>
      define(`format.${name}`, undefined, [global(`format.${name}`, [], FORMAT, () => format)]),
    ),
  ],
};
