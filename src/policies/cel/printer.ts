/** A tree as source: parsing what is printed gives the same tree. */
import type { CallNode, Expr, Literal, MacroNode, SelectNode } from './ast.ts';

/** How strong an expression holds together; an operand that is weaker than its place needs parentheses. */
const TERNARY = 0;
const OR = 1;
const AND = 2;
const RELATION = 3;
const SUM = 4;
const PRODUCT = 5;
const UNARY = 6;
const PRIMARY = 7;

interface Operator {
  readonly text: string;
  readonly strength: number;
  /** Whether operators of the same strength may stand on its left without parentheses. */
  readonly chains: boolean;
}

const OPERATORS: ReadonlyMap<string, Operator> = new Map(
  (
    [
      ['_||_', '||', OR, false],
      ['_&&_', '&&', AND, false],
      ['_<_', '<', RELATION, true],
      ['_<=_', '<=', RELATION, true],
      ['_>=_', '>=', RELATION, true],
      ['_>_', '>', RELATION, true],
      ['_==_', '==', RELATION, true],
      ['_!=_', '!=', RELATION, true],
      ['@in', 'in', RELATION, true],
      ['_+_', '+', SUM, true],
      ['_-_', '-', SUM, true],
      ['_*_', '*', PRODUCT, true],
      ['_/_', '/', PRODUCT, true],
      ['_%_', '%', PRODUCT, true],
    ] as const
  ).map(([name, text, strength, chains]) => [name, { text, strength, chains }]),
);

/** @returns source on one line, with no more parentheses than it needs. */
export function print(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return printLiteral(expr.literal);
    case 'ident':
      return expr.name;
    case 'select':
      return printSelect(expr);
    case 'call':
      return printCall(expr);
    case 'list':
      return `[${expr.elements.map(({ value, optional }) => mark(optional) + print(value)).join(', ')}]`;
    case 'map': {
      const entries = expr.entries.map(
        ({ key, value, optional }) => `${mark(optional)}${print(key)}: ${print(value)}`,
      );
      return `{${entries.join(', ')}}`;
    }
    case 'struct': {
      const fields = expr.fields.map(
        ({ name, value, optional }) => `${mark(optional)}${name}: ${print(value)}`,
      );
      return `${expr.typeName}{${fields.join(', ')}}`;
    }
    default:
      return printMacro(expr);
  }
}

function mark(optional: boolean): string {
  return optional ? '?' : '';
}

function strengthOf(expr: Expr): number {
  if (expr.kind !== 'call' || expr.target !== undefined) return PRIMARY;
  if (expr.function === '_?_:_') return TERNARY;
  if (expr.function === '!_' || expr.function === '-_') return UNARY;
  return OPERATORS.get(expr.function)?.strength ?? PRIMARY;
}

function operand(expr: Expr, least: number): string {
  return strengthOf(expr) < least ? `(${print(expr)})` : print(expr);
}

function printSelect({ operand: from, field, test, optional }: SelectNode): string {
  const selection = `${operand(from, PRIMARY)}.${mark(optional)}${field}`;
  return test ? `has(${selection})` : selection;
}

function printCall(call: CallNode): string {
  const [first, second, third] = call.args;
  const args = (): string => call.args.map(print).join(', ');
  if (call.target !== undefined) return `${operand(call.target, PRIMARY)}.${call.function}(${args()})`;
  const operator = OPERATORS.get(call.function);
  if (first !== undefined && second !== undefined) {
    if (operator !== undefined) {
      const { text, strength, chains } = operator;
      return `${operand(first, chains ? strength : strength + 1)} ${text} ${operand(second, strength + 1)}`;
    }
    if (call.function === '_[_]') return `${operand(first, PRIMARY)}[${print(second)}]`;
    if (call.function === '_[?_]') return `${operand(first, PRIMARY)}[?${print(second)}]`;
    if (call.function === '_?_:_' && third !== undefined) {
      return `${operand(first, OR)} ? ${operand(second, OR)} : ${print(third)}`;
    }
  }
  if (first !== undefined && (call.function === '!_' || call.function === '-_')) {
    return printSign(call.function.charAt(0), first);
  }
  return `${call.function}(${args()})`;
}

/** A minus before a number would belong to the number. */
function printSign(sign: string, of: Expr): string {
  const text = operand(of, PRIMARY);
  return sign === '-' && /^[-.\d]/.test(text) ? `-(${text})` : sign + text;
}

function printMacro({ macro, range, variables, filter, body }: MacroNode): string {
  const args = [...variables, ...(filter === undefined ? [] : [print(filter)]), print(body)];
  return `${operand(range, PRIMARY)}.${macro}(${args.join(', ')})`;
}

function printLiteral(literal: Literal): string {
  switch (literal.type) {
    case 'null':
      return 'null';
    case 'bool':
    case 'int':
      return String(literal.value);
    case 'uint':
      return `${literal.value}u`;
    case 'double':
      return printDouble(literal.value);
    case 'string':
      return printString(literal.value);
    default:
      return `b"${[...literal.value].map((byte) => `\\x${hex(byte, 2)}`).join('')}"`;
  }
}

function printDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function printString(value: string): string {
  let escaped = '';
  for (const char of value) {
    if (char === '"' || char === '\\') escaped += `\\${char}`;
    else escaped += char < ' ' || char === '\u007f' ? `\\u${hex(char.charCodeAt(0), 4)}` : char;
  }
  return `"${escaped}"`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
