/** `format` of the strings library: the first of cel-go's formatters, which Kubernetes has kept (cel.md, trap 3). */
import { formatFixed } from '../go-float.ts';
import { compareStrings } from '../ordering.ts';
import { typeNameOf } from '../type-name.ts';
import { CelError, CelMap, type JsonMap, TypeValue, Uint, type Value } from '../values.ts';
import { printFixed, printScientific } from './format-printer.ts';
import { bytesOfText, goQuote } from './go-text.ts';
import { stringOf } from './standard-conversions.ts';
import { numberError } from './standard-time.ts';

const MAX_INT = 2n ** 63n - 1n;

/** A clause, without its `%`. */
interface Clause {
  readonly verb: string;
  readonly precision: bigint | undefined;
}

/** Why a format cannot be carried out. */
export class FormatFault {
  readonly message: string;
  /** Of the argument that does not fit, or of an element within: its node. Undefined: the call itself. */
  readonly node: number | undefined;
  constructor(message: string, node?: number) {
    this.message = message;
    this.node = node;
  }
}

/** What becomes of one argument: text, or why it does not fit the clause. */
type Formatter = (clause: Clause, index: number) => string | FormatFault;

/** Texts for arguments that do not fit, by the verb. */
const MISFITS: Readonly<Record<string, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
  o: 'octal clause can only be used on integers',
};

export function misfit(verb: string, type: string, node?: number): FormatFault {
  return new FormatFault(`${MISFITS[verb] ?? ''}, was given ${type}`, node);
}

/** `'…'.format([…])`. */
export function formatString(format: string, args: readonly Value[]): Value {
  const counts = { asked: args.length, given: args.length };
  const result = walkFormat(format, counts, (clause, index) => formatArgument(clause, args[index] ?? null));
  return result instanceof FormatFault ? new CelError(result.message) : result.text;
}

interface Walked {
  readonly text: string;
  /** How many arguments the clauses took. */
  readonly used: number;
}

/** Arguments that there are when a clause asks for one, and when the clause has been seen to have more characters. */
interface Counts {
  readonly asked: number;
  readonly given: number;
}

/** Reads a format from left to right, and stops at the first fault. */
export function walkFormat(format: string, counts: Counts, formatter: Formatter): Walked | FormatFault {
  let text = '';
  let used = 0;
  let at = 0;
  for (let next = format.indexOf('%'); next >= 0; next = format.indexOf('%', at)) {
    text += format.slice(at, next);
    if (format[next + 1] === '%') {
      text += '%';
      at = next + 2;
      continue;
    }
    if (used >= counts.asked) return outOfRange(used);
    if (next + 1 >= format.length) return new FormatFault('unexpected end of string');
    if (used >= counts.given) return outOfRange(used);
    const clause = readClause(format, next + 1);
    if (clause instanceof FormatFault) {
      return new FormatFault(`could not parse formatting clause: ${clause.message}`);
    }
    const formatted = formatter(clause, used);
    if (formatted instanceof FormatFault) {
      return new FormatFault(`error during formatting: ${formatted.message}`, formatted.node);
    }
    text += formatted;
    used++;
    at = clause.end;
  }
  return { text: text + format.slice(at), used };
}

function outOfRange(index: number): FormatFault {
  return new FormatFault(`index ${String(index)} out of range`);
}

function readClause(format: string, start: number): (Clause & { readonly end: number }) | FormatFault {
  let at = start;
  let precision: bigint | undefined;
  if (format[at] === '.') {
    at++;
    while (isDigit(format.charCodeAt(at))) at++;
    const digits = format.slice(start + 1, at);
    const fault = 'error while parsing precision: ';
    if (at >= format.length) return new FormatFault(`${fault}could not find end of precision specifier`);
    const reason =
      digits === '' ? 'invalid syntax' : BigInt(digits) > MAX_INT ? 'value out of range' : undefined;
    if (reason !== undefined) {
      const { message } = numberError(digits, reason);
      return new FormatFault(`${fault}error while converting precision to integer: ${message}`);
    }
    precision = BigInt(digits);
  }
  const verb = format[at] ?? '';
  if (Object.hasOwn(MISFITS, verb)) return { verb, precision, end: at + 1 };
  // Go looks at one byte, and prints that as if it were a character.
  const [byte = ''] = bytesOfText(String.fromCodePoint(format.codePointAt(at) ?? 0));
  return new FormatFault(`unrecognized formatting clause "${byte}"`);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function formatArgument({ verb, precision }: Clause, value: Value): string | FormatFault {
  const type = typeNameOf(value);
  switch (verb) {
    case 's':
      return formatText(value, type);
    case 'd':
      return formatInteger(verb, value, type, 10);
    case 'o':
      return formatInteger(verb, value, type, 8);
    case 'b':
      return type === 'bool' ? (value === true ? '1' : '0') : formatInteger(verb, value, type, 2);
    case 'x':
    case 'X': {
      const digits = formatHexadecimal(verb, value, type);
      return verb === 'X' && typeof digits === 'string' ? digits.toUpperCase() : digits;
    }
    default: {
      const double = doubleToPrint(value, type);
      if (double === undefined) return misfit(verb, type);
      return verb === 'f' ? printFixed(double, precision) : printScientific(double, precision);
    }
  }
}

/** Doubles, and the three texts that stand for doubles JSON cannot write. */
function doubleToPrint(value: Value, type: string): number | undefined {
  if (type === 'double') return Number(value);
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity' ? Number(value) : undefined;
}

function formatInteger(verb: string, value: Value, type: string, radix: number): string | FormatFault {
  if (type === 'int') return (value as number | bigint).toString(radix);
  return value instanceof Uint ? value.value.toString(radix) : misfit(verb, type);
}

function formatHexadecimal(verb: string, value: Value, type: string): string | FormatFault {
  if (typeof value !== 'string' && !(value instanceof Uint8Array))
    return formatInteger(verb, value, type, 16);
  const bytes =
    typeof value === 'string' ? Array.from(bytesOfText(value), (byte) => byte.charCodeAt(0)) : value;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function formatText(value: Value, type: string): string | FormatFault {
  if (type === 'list') return formatList(value as readonly Value[]);
  if (type === 'map') return formatMap(value as CelMap | JsonMap);
  if (value === null) return 'null';
  if (value instanceof TypeValue) return value.name;
  const text = stringOf(value, type);
  if (text === undefined) return misfit('s', type);
  if (text instanceof CelError) {
    return new FormatFault(`could not convert argument ${goQuote(text.message)} to string`);
  }
  return text as string;
}

/** A value within a list or map: strings are quoted, and times written as CEL writes them. */
function formatElement(value: Value): string | FormatFault {
  const type = typeNameOf(value);
  if (type === 'double') return formatDouble(Number(value));
  const text = formatText(value, type);
  if (text instanceof FormatFault) {
    return stringOf(value, type) === undefined && text.message.endsWith(`, was given ${type}`)
      ? new FormatFault(`no formatting function for ${type}`)
      : text;
  }
  switch (type) {
    case 'string':
      return goQuote(text);
    case 'bytes':
      return `b${goQuote(text)}`;
    case 'google.protobuf.Timestamp':
      return `timestamp(${goQuote(text)})`;
    case 'google.protobuf.Duration':
      return `duration(${goQuote(text)})`;
    default:
      return text;
  }
}

function formatDouble(value: number): string {
  if (Number.isNaN(value)) return '"NaN"';
  if (!Number.isFinite(value)) return value > 0 ? '"+Inf"' : '"-Inf"';
  return `${value < 0 || Object.is(value, -0) ? '-' : ''}${formatFixed(Math.abs(value), 6)}`;
}

function formatList(list: readonly Value[]): string | FormatFault {
  const elements: string[] = [];
  for (const element of list) {
    const text = formatElement(element);
    if (text instanceof FormatFault) return text;
    elements.push(text);
  }
  return `[${elements.join(', ')}]`;
}

function formatMap(map: CelMap | JsonMap): string | FormatFault {
  const pairs: (readonly [key: string, value: string])[] = [];
  for (const [key, value] of map instanceof CelMap ? map.entries() : Object.entries(map)) {
    const type = typeNameOf(key);
    if (!['string', 'bool', 'int', 'uint'].includes(type)) {
      return new FormatFault(`no formatting function for map key of type ${type}`);
    }
    const [keyText, valueText] = [formatElement(key), formatElement(value)];
    if (keyText instanceof FormatFault) return keyText;
    if (valueText instanceof FormatFault) return valueText;
    pairs.push([keyText, valueText]);
  }
  pairs.sort(([left], [right]) => compareStrings(left, right));
  return `{${pairs.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}
