/** Whether the static types of arguments that are written as a list fit a constant format. */
import type { Expr } from '../ast.ts';
import type { CelType } from '../cel-type.ts';
import { typeString } from '../type-format.ts';
import { FormatFault, misfit, walkFormat } from './format-string.ts';

type Kind = CelType['kind'];

const TEXT_KINDS: ReadonlySet<Kind> = new Set([
  'list',
  'map',
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'timestamp',
  'bytes',
  'duration',
  'type',
  'null',
] satisfies Kind[]);
const INTEGER_KINDS: ReadonlySet<Kind> = new Set(['int', 'uint'] satisfies Kind[]);
/** Strings may stand for what is not finite. */
const DOUBLE_KINDS: ReadonlySet<Kind> = new Set(['double', 'string'] satisfies Kind[]);
const BINARY_KINDS: ReadonlySet<Kind> = new Set(['int', 'uint', 'bool'] satisfies Kind[]);
const HEXADECIMAL_KINDS: ReadonlySet<Kind> = new Set(['int', 'uint', 'string', 'bytes'] satisfies Kind[]);

/** What fits a clause, by its verb. */
const KINDS: Readonly<Record<string, ReadonlySet<Kind>>> = {
  s: TEXT_KINDS,
  d: INTEGER_KINDS,
  o: INTEGER_KINDS,
  f: DOUBLE_KINDS,
  e: DOUBLE_KINDS,
  b: BINARY_KINDS,
  x: HEXADECIMAL_KINDS,
  X: HEXADECIMAL_KINDS,
};

type TypeOf = (node: number) => CelType;

/**
 * The check of a call whose format is a literal and whose arguments are written as a list.
 *
 * @param typeOf static type of a node, by its id
 * @returns what is wrong, and at which node (undefined: at the call); undefined if nothing is
 */
export function checkFormat(format: string, args: readonly Expr[], typeOf: TypeOf): FormatFault | undefined {
  const walked = walkFormat(format, { asked: Infinity, given: args.length }, ({ verb }, index) => {
    const argument = args[index];
    return argument === undefined ? '' : (findMisfit(verb, argument, typeOf) ?? '');
  });
  if (walked instanceof FormatFault) return walked;
  if (args.length <= walked.used) return undefined;
  const counts = `expected ${String(walked.used)}, got ${String(args.length)}`;
  return new FormatFault(`too many arguments supplied to string.format (${counts})`);
}

function findMisfit(verb: string, node: Expr, typeOf: TypeOf): FormatFault | undefined {
  const type = unwrapped(typeOf(node.id));
  if (type.kind !== 'dyn' && KINDS[verb]?.has(type.kind) !== true)
    return misfit(verb, typeName(type), node.id);
  if (verb !== 's') return undefined;
  for (const child of parts(node)) {
    const fault = findMisfit(verb, child, typeOf);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** What is written within a literal list or map. */
function parts(node: Expr): readonly Expr[] {
  if (node.kind === 'list') return node.elements.map(({ value }) => value);
  if (node.kind === 'map') return node.entries.flatMap(({ key, value }) => [key, value]);
  return [];
}

function unwrapped(type: CelType): CelType {
  return type.kind === 'wrapper' ? unwrapped(type.of) : type;
}

/** Without parameters, as a value of it calls its type. */
function typeName(type: CelType): string {
  switch (type.kind) {
    case 'list':
    case 'map':
    case 'type':
      return type.kind;
    case 'optional':
      return 'optional_type';
    default:
      return typeString(type);
  }
}
