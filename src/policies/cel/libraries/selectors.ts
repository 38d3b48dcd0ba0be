/** Field and label selectors as Kubernetes reads them (apimachinery 0.36.3), with its error texts. */
import { compareStrings } from '../ordering.ts';
import type { AuthorizationSelector, SelectorTerm } from '../signals.ts';
import { goSortedIndexes } from './go-sort.ts';
import { goQuote } from './go-text.ts';
import { labelKeyFaults, labelValueFaults } from './kubernetes-names.ts';

class SelectorFault {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** `fields.ParseSelector`: terms `field=value`, `field==value`, `field!=value`. */
export function parseFieldSelector(text: string): AuthorizationSelector {
  const terms: SelectorTerm[] = [];
  for (const part of splitFieldTerms(text).sort(compareStrings)) {
    if (part === '') continue;
    const operator = /!=|==|=/.exec(part);
    if (operator === null)
      return { terms: [], error: `invalid selector: '${text}'; can't understand '${part}'` };
    const key = part.slice(0, operator.index);
    const value = unescapeFieldValue(part.slice(operator.index + operator[0].length));
    if (value instanceof SelectorFault) return { terms: [], error: value.message };
    if (key === '' && value === '') continue;
    const isNegative = operator[0] === '!=';
    terms.push({
      key,
      operator: isNegative ? 'NotIn' : 'In',
      values: [value],
      text: `${key} ${isNegative ? '!=' : '='} ${value}`,
    });
  }
  return { terms };
}

/** At commas, but for those behind a backslash. */
function splitFieldTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (character === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeFieldValue(text: string): string | SelectorFault {
  let value = '';
  let isEscaped = false;
  for (const character of text) {
    const isSpecial = character === '\\' || character === ',' || character === '=';
    if (isEscaped && !isSpecial) return escapeFault(`\\${character}`);
    if (!isEscaped && character === '\\') {
      isEscaped = true;
      continue;
    }
    if (!isEscaped && isSpecial) {
      const code = String(character.charCodeAt(0));
      return new SelectorFault(`invalid field selector: unescaped character in value: ${code}`);
    }
    value += character;
    isEscaped = false;
  }
  return isEscaped ? escapeFault('\\') : value;
}

function escapeFault(sequence: string): SelectorFault {
  return new SelectorFault(`invalid field selector: invalid escape sequence: ${sequence}`);
}

/** What stands between key and values, or alone: `exists` and `!`. */
type Operator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';

/** Operators by their tokens. */
const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);

/** How the authorization API spells them; it has none for the last two. */
const API_OPERATORS: Readonly<Record<Operator, string>> = {
  in: 'In',
  notin: 'NotIn',
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  gt: 'Gt',
  lt: 'Lt',
};

interface Token {
  readonly kind: 'end' | 'symbol' | 'word';
  readonly text: string;
}

const END: Token = { kind: 'end', text: '' };

/** Symbols, and words of everything else. A zero character behind one is passed over; elsewhere it ends the selector. */
function* tokens(text: string): Generator<Token> {
  // oxlint-disable-next-line no-control-regex -- as Go reads.
  const pattern = /[ \t\r\n]*(?:(==|!=|[=!(),><])|([^ \t\r\n=!(),><\u0000]+))\u0000?/y;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [, symbol, word = ''] = match;
    yield symbol === undefined ? { kind: 'word', text: word } : { kind: 'symbol', text: symbol };
  }
}

/** `labels.ParseToRequirements`: `key`, `!key`, `key=value`, `key in (a,b)`, …, sorted by key. */
export function parseLabelSelector(text: string): AuthorizationSelector {
  const requirements = new LabelParser(text).parse();
  if (requirements instanceof SelectorFault) return { terms: [], error: requirements.message };
  const order = goSortedIndexes(
    requirements.length,
    (a, b) => compareStrings(requirements[a]?.key ?? '', requirements[b]?.key ?? '') < 0,
  );
  return { terms: order.flatMap((index) => requirements[index] ?? []) };
}

class LabelParser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = [...tokens(text)];
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  #next(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }

  parse(): SelectorTerm[] | SelectorFault {
    const requirements: SelectorTerm[] = [];
    for (let token = this.#peek(); token.kind !== 'end'; token = this.#peek()) {
      if (!startsRequirement(token)) {
        return new SelectorFault(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      }
      const requirement = this.#requirement();
      if (requirement instanceof SelectorFault) {
        return new SelectorFault(`unable to parse requirement: ${requirement.message}`);
      }
      requirements.push(requirement);
      const separator = this.#next();
      if (separator.kind === 'end') break;
      if (separator.text !== ',') {
        return new SelectorFault(`found '${separator.text}', expected: ',' or 'end of string'`);
      }
      if (!startsRequirement(this.#peek())) {
        return new SelectorFault(`found '${this.#peek().text}', expected: identifier after ','`);
      }
    }
    return requirements;
  }

  #requirement(): SelectorTerm | SelectorFault {
    const isNegated = this.#peek().text === '!';
    if (isNegated) this.#next();
    const { kind, text: key } = this.#next();
    if (kind !== 'word') return new SelectorFault(`found '${key}', expected: identifier`);
    const faults = labelKeyFaults(key);
    if (faults.length > 0) return new SelectorFault(invalid('<nil>', key, faults.join('; ')));
    if (isNegated) return requirement(key, '!', []);
    const following = this.#peek();
    if (following.kind === 'end' || following.text === ',') return requirement(key, 'exists', []);
    const token = this.#next();
    const operator = OPERATORS.get(token.text);
    if (operator === undefined) {
      return new SelectorFault(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
    const values = operator === 'in' || operator === 'notin' ? this.#values() : this.#value();
    return values instanceof SelectorFault ? values : requirement(key, operator, values);
  }

  /** One value; none is the empty one. */
  #value(): string[] | SelectorFault {
    const following = this.#peek();
    if (following.kind === 'end' || following.text === ',') return [''];
    const { kind, text } = this.#next();
    return kind === 'word' ? [text] : new SelectorFault(`found '${text}', expected: identifier`);
  }

  /** Values in parentheses. */
  #values(): string[] | SelectorFault {
    const open = this.#next();
    if (open.text !== '(') return new SelectorFault(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.text === ')') {
      this.#next();
      return [''];
    }
    if (first.kind !== 'word' && first.text !== ',') {
      return new SelectorFault(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = new Set<string>();
    for (;;) {
      const token = this.#next();
      const following = this.#peek().text;
      if (token.kind === 'word') {
        values.add(token.text);
        if (following !== ')' && following !== ',') {
          return new SelectorFault(`found '${following}', expected: ',' or ')'`);
        }
      } else if (token.text === ',') {
        // Between two commas, and between a comma and a parenthesis, stands an empty value.
        if (values.size === 0 || following === ',' || following === ')') values.add('');
      } else return new SelectorFault(`found '${token.text}', expected: ',', or identifier`);
      if (following === ')') {
        this.#next();
        return [...values].sort(compareStrings);
      }
    }
  }
}

function startsRequirement(token: Token): boolean {
  return token.kind === 'word' || token.text === '!';
}

function invalid(path: string, value: string, reason: string): string {
  return `${path}: Invalid value: ${goQuote(value)}: ${reason}`;
}

function requirement(
  key: string,
  operator: Operator,
  values: readonly string[],
): SelectorTerm | SelectorFault {
  const faults: string[] = [];
  for (const [i, value] of values.entries()) {
    if ((operator === 'gt' || operator === 'lt') && !isInt64(value)) {
      const reason = "for 'Gt', 'Lt' operators, the value must be an integer";
      faults.push(invalid(`values[${String(i)}]`, value, reason));
    }
  }
  for (const [i, value] of values.entries()) {
    const reasons = labelValueFaults(value);
    if (reasons.length > 0) faults.push(invalid(`values[${String(i)}][${key}]`, value, reasons.join('; ')));
  }
  const [only] = faults;
  if (only !== undefined) return new SelectorFault(faults.length === 1 ? only : `[${faults.join(', ')}]`);
  return { key, operator: API_OPERATORS[operator], values, text: requirementText(key, operator, values) };
}

function isInt64(text: string): boolean {
  const [, sign, digits] = /^([+-]?)0*([0-9]{1,19})$/.exec(text) ?? [];
  if (digits === undefined) return false;
  return BigInt(digits) <= 2n ** 63n - (sign === '-' ? 0n : 1n);
}

function requirementText(key: string, operator: Operator, values: readonly string[]): string {
  const value = values.join(',');
  switch (operator) {
    case '!':
      return `!${key}`;
    case 'exists':
      return key;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${value})`;
    case 'gt':
      return `${key}>${value}`;
    case 'lt':
      return `${key}<${value}`;
    default:
      return key + operator + value;
  }
}
