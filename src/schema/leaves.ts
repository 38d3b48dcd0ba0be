/**
 * The leaves of what is wrong, as Go's library forms them (contract.md §3.4.3): one for all missing properties of an
 * object and one for all that are too many, those of every branch of `anyOf` and `oneOf`, and one for a value whose
 * type, constant, list or format does not fit, whatever else would be wrong with it.
 */
import type { ErrorObject } from 'ajv';
import type { Leaf } from './answer.ts';
import { leafMessage } from './messages.ts';

/** Leaves in one answer. */
const MOST_LEAVES = 100;
/** Of a path in an answer: keys of an instance may be as long as it is. */
const PATH_LENGTH = 512;
/** Errors looked at: sorting them out takes time. */
const MOST_ERRORS = 2000;

/** In the order in which Go looks, which stops at the first of these that fails. */
const DECISIVE: readonly string[] = ['type', 'const', 'enum', 'format'];

/** Errors of these only say that others, which are there too, count. */
const ECHOES: ReadonlySet<string> = new Set(['if', 'propertyNames']);

/** One error, or those for several properties of one object. */
export interface Fault {
  readonly error: ErrorObject;
  readonly instancePath: string;
  /** Properties that are missing or too many. */
  readonly properties: readonly string[];
}

/** @param errors of a validation that failed, in ajv's order. */
export function leavesOf(errors: readonly ErrorObject[]): readonly Leaf[] {
  const faults = withoutOverruled(faultsOf(errors.slice(0, MOST_ERRORS)));
  const leaves = faults.slice(0, MOST_LEAVES).map(toLeaf);
  const left = errors.length > MOST_ERRORS || faults.length > MOST_LEAVES;
  return left ? [...leaves, { instancePath: '', message: 'there is more than is listed here' }] : leaves;
}

function toLeaf(fault: Fault): Leaf {
  const { instancePath } = fault;
  const isLong = instancePath.length > PATH_LENGTH;
  return {
    instancePath: isLong ? `${instancePath.slice(0, PATH_LENGTH)}…` : instancePath,
    message: leafMessage(fault),
  };
}

/** A run of errors, and the leaves they come down to. */
interface Group {
  readonly errors: number;
  readonly faults: readonly Fault[];
}

/** ajv lists errors of schemas below right before those of the keyword that they are below. */
function faultsOf(errors: readonly ErrorObject[]): readonly Fault[] {
  const groups: Group[] = [];
  for (const error of errors) {
    if (ECHOES.has(error.keyword)) {
      groups.push({ errors: 1, faults: [] });
      continue;
    }
    const children: Fault[] = [];
    const wanted = (error.params as { readonly children?: number }).children ?? 0;
    let taken = 0;
    while (taken < wanted) {
      const group = groups.pop();
      if (group === undefined) break;
      taken += group.errors;
      children.unshift(...group.faults);
    }
    const hasOwn = children.length === 0 || isOwnFault(error, children);
    groups.push({ errors: taken + 1, faults: hasOwn ? ownFaults(error) : children });
  }
  return merged(groups.flatMap(({ faults }) => faults));
}

/** Whether a keyword with schemas below it failed on its own account: too many of them fit. */
function isOwnFault(error: ErrorObject, children: readonly Fault[]): boolean {
  const params = error.params as { readonly passingSchemas?: unknown; readonly maxContains?: number };
  if (error.keyword === 'oneOf') return Array.isArray(params.passingSchemas);
  if (error.keyword !== 'contains' || params.maxContains === undefined) return false;
  const depth = error.instancePath.length + 1;
  const failed = new Set(children.map(({ instancePath }) => instancePath.slice(depth).split('/', 1)[0]));
  return (error.data as readonly unknown[]).length - failed.size > params.maxContains;
}

/** Mostly one; one for each item or property where the schema for all that are left is `false`. */
function ownFaults(error: ErrorObject): readonly Fault[] {
  const { instancePath, keyword } = error;
  const params = error.params as Readonly<Record<string, unknown>>;
  const at = (step: string | number): Fault => ({
    error,
    instancePath: `${instancePath}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`,
    properties: [],
  });
  if (keyword === 'unevaluatedProperties') return [at(String(params['unevaluatedProperty']))];
  if (keyword === 'unevaluatedItems' || keyword === 'items') {
    const first = Number(params['limit'] ?? params['len'] ?? 0);
    const count = Math.min((error.data as readonly unknown[]).length - first, MOST_LEAVES + 1);
    return Array.from({ length: count }, (_none, index) => at(first + index));
  }
  const property = params['missingProperty'] ?? params['additionalProperty'];
  return [{ error, instancePath, properties: typeof property === 'string' ? [property] : [] }];
}

/** Errors of one keyword of one schema for one object, each with one property, become one. */
function merged(faults: readonly Fault[]): readonly Fault[] {
  const result: Fault[] = [];
  for (const fault of faults) {
    const last = result.at(-1);
    const isMore =
      last !== undefined &&
      last.properties.length > 0 &&
      fault.properties.length > 0 &&
      last.instancePath === fault.instancePath &&
      last.error.schemaPath === fault.error.schemaPath &&
      last.error.params['property'] === fault.error.params['property'];
    if (isMore)
      result[result.length - 1] = { ...last, properties: [...last.properties, ...fault.properties] };
    else result.push(fault);
  }
  return result;
}

/** Leaves out what stands below a schema of which something decisive failed first. */
function withoutOverruled(faults: readonly Fault[]): readonly Fault[] {
  const decisive = faults.filter(({ error }) => DECISIVE.includes(error.keyword));
  if (decisive.length === 0) return faults;
  return faults.filter((fault) => !decisive.some((other) => overrules(other, fault)));
}

function overrules(decisive: Fault, fault: Fault): boolean {
  const schema = decisive.error.schemaPath.slice(0, -decisive.error.keyword.length);
  if (!fault.error.schemaPath.startsWith(schema)) return false;
  if (
    fault.instancePath !== decisive.instancePath &&
    !fault.instancePath.startsWith(`${decisive.instancePath}/`)
  )
    return false;
  const keyword = fault.error.schemaPath.slice(schema.length);
  const rank = DECISIVE.indexOf(keyword);
  return rank === -1 || rank > DECISIVE.indexOf(decisive.error.keyword);
}
