/** What an expression may use: functions, macros, types and variables, by compatibility version and mode. */
import type { CelType } from './cel-type.ts';
import { DYN, INT, opaque } from './cel-type.ts';
import { NAMESPACE_TYPE, REQUEST_TYPE } from './admission-types.ts';
import type { FunctionDefinition, Gate, Library, Overload } from './library.ts';
import type { Syntax } from './macros.ts';
import { LIST_MACROS, OPTIONAL_MACROS, STANDARD_MACROS, TWO_VARIABLE_MACROS } from './macros.ts';
import type { Message } from './well-known-types.ts';
import {
  TYPE_NAMES,
  UNREGISTERED_TYPE_NAMES,
  WELL_KNOWN_CONSTANTS,
  WELL_KNOWN_MESSAGES,
} from './well-known-types.ts';

/** Minor that the stored mode of this code knows everything of; above it is preview. */
const STORED_MINOR = 36;

/** Minors of cel.md §4. */
export const OPTIONALS_SINCE = 28;
const CROSS_TYPE_COMPARISONS_SINCE = 28;
const VALIDATORS_SINCE = 29;
export const TWO_VARIABLES_SINCE = 32;
export const LISTS_SINCE = 34;

export interface EnvironmentOptions {
  /** Minor of the compatibility version: 26 to 37. */
  readonly minor: number;
  /** `new`: what `minor` has. `stored`: everything, whatever `minor` says. */
  readonly mode: 'new' | 'stored';
  /** Variables beside `object`, `oldObject`, `request` and `namespaceObject`, which are always declared. */
  readonly params: boolean;
  /** `authorizer` and `authorizer.requestResource`. */
  readonly authorizer: boolean;
  /** Further variables and their types, such as `variables` (see admission-types.ts). */
  readonly variables?: ReadonlyMap<string, CelType>;
}

export interface DeclaredOverload {
  readonly overload: Overload;
  readonly definition: FunctionDefinition;
  /** Whether its types name type parameters. */
  readonly generic: boolean;
  /** `1 < 1.0`: declared, and out of reach before 1.28 (see checker.ts). */
  readonly crossType: boolean;
  /** Minor of the first compatibility version that has it. */
  readonly since: number;
}

export interface DeclaredFunction {
  readonly name: string;
  /** In the order that cel-go tries them in. */
  readonly overloads: readonly DeclaredOverload[];
}

/** A name that is not a variable. */
export type NamedConstant =
  | { readonly kind: 'type'; readonly type: CelType; readonly registered: boolean }
  | { readonly kind: 'int'; readonly value: bigint };

export interface Environment {
  readonly minor: number;
  readonly syntax: Syntax;
  readonly functions: ReadonlyMap<string, DeclaredFunction>;
  readonly variables: ReadonlyMap<string, CelType>;
  /** Names of types and enumeration values. */
  readonly constants: ReadonlyMap<string, NamedConstant>;
  /** Structs by name, with their fields. */
  readonly messages: ReadonlyMap<string, Message>;
  /** First parts of the names above that have dots. */
  readonly qualifiers: ReadonlySet<string>;
  readonly crossTypeComparisons: boolean;
  /** Whether literals in calls are looked at after the check; those of lists and maps always are. */
  readonly literalValidators: boolean;
}

/** The functions and names of libraries at one version: shared by all environments of that version. */
export interface Catalogue {
  readonly minor: number;
  readonly syntax: Syntax;
  readonly functions: ReadonlyMap<string, DeclaredFunction>;
  /** Those of well-known messages among them. */
  readonly constants: ReadonlyMap<string, NamedConstant>;
  readonly qualifiers: ReadonlySet<string>;
}

/** @param libraries in the order in which the API server adds them, the standard library first. */
export function catalogue(
  libraries: readonly Library[],
  options: Pick<EnvironmentOptions, 'minor' | 'mode'>,
): Catalogue {
  const minor = options.mode === 'stored' ? Math.max(options.minor, STORED_MINOR) : options.minor;
  const functions = new Map<string, { name: string; overloads: DeclaredOverload[] }>();
  const constants = new Map<string, NamedConstant>();
  for (const [name, type] of UNREGISTERED_TYPE_NAMES)
    constants.set(name, { kind: 'type', type, registered: false });
  for (const [name, type] of TYPE_NAMES) constants.set(name, { kind: 'type', type, registered: true });
  for (const [name, value] of WELL_KNOWN_CONSTANTS) constants.set(name, { kind: 'int', value });
  for (const library of libraries) {
    if (!isOpen(library, minor)) continue;
    for (const [name, type] of Object.entries(library.typeNames ?? {})) {
      constants.set(name, { kind: 'type', type, registered: true });
    }
    for (const definition of library.functions) {
      if (isOpen(definition, minor)) declare(functions, definition, library.since, minor);
    }
  }
  nameMessages(WELL_KNOWN_MESSAGES, constants);
  const qualifiers = qualifiersOf([...functions.keys(), ...constants.keys()]);
  return { minor, syntax: syntaxOf(minor), functions, constants, qualifiers };
}

function declare(
  functions: Map<string, { name: string; overloads: DeclaredOverload[] }>,
  definition: FunctionDefinition,
  librarySince: number,
  minor: number,
): void {
  let declared = functions.get(definition.name);
  if (declared === undefined) {
    declared = { name: definition.name, overloads: [] };
    functions.set(definition.name, declared);
  }
  for (const overload of definition.overloads) {
    const crossType = CROSS_TYPE_COMPARISON.test(overload.id);
    if (!crossType && !isOpen(overload, minor)) continue;
    const generic = [overload.result, ...overload.params].some(isGeneric);
    const since = crossType
      ? CROSS_TYPE_COMPARISONS_SINCE
      : Math.max(librarySince, definition.since ?? 0, overload.since ?? 0);
    declared.overloads.push({ overload, definition, generic, crossType, since });
  }
}

const CROSS_TYPE_COMPARISON =
  /^(?:less|greater)(?:_equals)?_(?:int64|uint64|double)_(?:int64|uint64|double)$/;

function isOpen(gate: Partial<Gate>, minor: number): boolean {
  return (gate.since ?? 0) <= minor && (gate.until === undefined || minor < gate.until);
}

function isGeneric(type: CelType): boolean {
  switch (type.kind) {
    case 'param':
      return true;
    case 'list':
      return isGeneric(type.element);
    case 'map':
      return isGeneric(type.key) || isGeneric(type.value);
    case 'optional':
      return isGeneric(type.value);
    case 'type':
      return type.of !== undefined && isGeneric(type.of);
    default:
      return false;
  }
}

function syntaxOf(minor: number): Syntax {
  const macros = new Set(STANDARD_MACROS);
  if (minor >= OPTIONALS_SINCE) for (const macro of OPTIONAL_MACROS) macros.add(macro);
  if (minor >= TWO_VARIABLES_SINCE) for (const macro of TWO_VARIABLE_MACROS) macros.add(macro);
  if (minor >= LISTS_SINCE) for (const macro of LIST_MACROS) macros.add(macro);
  return { optionals: minor >= OPTIONALS_SINCE, macros };
}

export function environment(known: Catalogue, options: EnvironmentOptions): Environment {
  const variables = new Map<string, CelType>([
    ['object', DYN],
    ['oldObject', DYN],
    ['namespaceObject', NAMESPACE_TYPE],
    ['request', REQUEST_TYPE],
  ]);
  if (options.params) variables.set('params', DYN);
  if (options.authorizer) {
    variables.set('authorizer', opaque('kubernetes.authorization.Authorizer'));
    variables.set('authorizer.requestResource', opaque('kubernetes.authorization.ResourceCheck'));
  }
  for (const [name, type] of options.variables ?? []) variables.set(name, type);
  const messages = new Map<string, Message>();
  for (const type of variables.values()) registerStructs(type, messages);
  const constants = new Map(known.constants);
  nameMessages(messages, constants);
  const qualifiers = new Set(known.qualifiers);
  for (const name of qualifiersOf([...variables.keys(), ...messages.keys()])) qualifiers.add(name);
  return {
    minor: known.minor,
    syntax: known.syntax,
    functions: known.functions,
    variables,
    constants,
    messages: new Map([...messages, ...WELL_KNOWN_MESSAGES]),
    qualifiers,
    crossTypeComparisons: known.minor >= CROSS_TYPE_COMPARISONS_SINCE,
    literalValidators: known.minor >= VALIDATORS_SINCE,
  };
}

/** A message is a name of its type too; those that stand for another type are not registered as values. */
function nameMessages(messages: ReadonlyMap<string, Message>, constants: Map<string, NamedConstant>): void {
  for (const [name, { type }] of messages) {
    const registered = type.kind === 'struct' && WELL_KNOWN_MESSAGES.has(name);
    if (!constants.has(name)) constants.set(name, { kind: 'type', type, registered });
  }
}

function qualifiersOf(names: readonly string[]): ReadonlySet<string> {
  const qualifiers = new Set<string>();
  for (const name of names) {
    const dot = name.indexOf('.');
    if (dot > 0) qualifiers.add(name.slice(0, dot));
  }
  return qualifiers;
}

function registerStructs(type: CelType, messages: Map<string, Message>): void {
  if (type.kind === 'list') registerStructs(type.element, messages);
  if (type.kind !== 'struct' || messages.has(type.name)) return;
  messages.set(type.name, { type, fields: type.fields });
  for (const field of type.fields.values()) registerStructs(field, messages);
}

/** Type of an enumeration value. */
export function constantType(constant: NamedConstant): CelType {
  return constant.kind === 'int' ? INT : { kind: 'type', of: constant.type };
}
