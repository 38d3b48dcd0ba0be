/** What of a status comes from the contract alone (operator.md §1.1.2). Lists have an end: the API server has one as well. */
import { bundleFile, type BundleFiles } from '../policies/contract/bundle-files.ts';
import type { Configuration, Contract, Owner, PolicyReference } from '../policies/contract/contract.ts';
import type { JsonValue } from '../policies/contract/json-value.ts';
import type { ContractProjection, Property } from './api/pacto.ts';
import { goText } from './go-text.ts';
import { shortText } from './short-text.ts';

/** Of anything that a contract lists. */
const ENTRIES = 200;
const PROPERTIES = 100;
const DEPTH = 8;
const TEXT_LENGTH = 1_024;
/** What a value is said to be where nothing says what it is. */
const ANY = '(any)';
const SECRET = 'secret://';

export interface Projected {
  readonly contract: Contract;
  readonly files: BundleFiles | undefined;
  readonly resolvedRef: string;
  /** Keys that the Pacto sets, by configuration. */
  readonly overridden: ReadonlyMap<string, readonly string[]>;
  readonly metadataAsWritten: JsonValue | undefined;
  readonly configurationsAsWritten: JsonValue | undefined;
}

export function projectionOf(projected: Projected): ContractProjection {
  const { contract, files, resolvedRef, overridden, metadataAsWritten, configurationsAsWritten } = projected;
  const written = Array.isArray(configurationsAsWritten)
    ? (configurationsAsWritten as readonly JsonValue[])
    : [];
  const { service, interfaces, capabilities, configurations, dependencies, policies } = contract;
  const owner = service.owner && ownerOf(service.owner);
  const display = service.owner?.team ?? service.owner?.dri;
  const metadata = metadataOf(contract, metadataAsWritten);
  return {
    contractVersion: cut(service.version),
    contract: {
      serviceName: cut(service.name),
      version: cut(service.version),
      ...(resolvedRef !== '' && { resolvedRef }),
      ...(owner !== undefined && { owner }),
      ...(display !== undefined && display !== '' && { ownerDisplay: cut(display) }),
    },
    ...listed('interfaces', interfaces, ({ name, type, ref, visibility }) => ({
      name: cut(name),
      type,
      ...given('ref', ref),
      ...given('visibility', visibility),
    })),
    ...listed('capabilities', capabilities, ({ type, ref }) => ({ type, ...given('ref', ref) })),
    ...listed('configurations', configurations, (one, index) =>
      configurationOf(one, { files, overridden: overridden.get(one.name), written: written[index] }),
    ),
    ...listed('dependencies', dependencies, ({ name, ref, required, compatibility }) => ({
      name: cut(name),
      ref: cut(ref),
      required,
      ...given('compatibility', compatibility),
    })),
    ...listed('policies', policies, (one) => policyOf(one, files)),
    ...(metadata !== undefined && { metadata }),
  };
}

/** An empty list is not there (operator.md §1.1.2). */
function listed<K extends string, T, R>(
  key: K,
  list: readonly T[],
  each: (one: T, index: number) => R,
): { readonly [P in K]?: readonly R[] } {
  const filled: unknown =
    list.length === 0 ? {} : { [key]: list.slice(0, ENTRIES).map((one, index) => each(one, index)) };
  return filled as {
    readonly [P in K]?: readonly R[];
  };
}

function given<K extends string>(key: K, value: string | undefined): { readonly [P in K]?: string } {
  return (value === undefined || value === '' ? {} : { [key]: cut(value) }) as { readonly [P in K]?: string };
}

function ownerOf({ team, dri, contacts }: Owner): NonNullable<ContractProjection['contract']>['owner'] {
  const owner = {
    ...given('team', team),
    ...given('dri', dri),
    ...listed('contacts', contacts, ({ type, value, purpose }) => ({
      type,
      value: cut(value),
      ...given('purpose', purpose),
    })),
  };
  return Object.keys(owner).length === 0 ? undefined : owner;
}

type ProjectedConfiguration = NonNullable<ContractProjection['configurations']>[number];

function configurationOf(
  { name, schema, ref, values = {} }: Configuration,
  {
    files,
    overridden = [],
    written,
  }: {
    readonly files: BundleFiles | undefined;
    readonly overridden: readonly string[] | undefined;
    readonly written: JsonValue | undefined;
  },
): ProjectedConfiguration {
  const valuesAsWritten = fieldsOf(fieldsOf(written)?.['values']) as
    Readonly<Record<string, JsonValue>> | undefined;
  const keys = Object.keys(values).sort();
  const secrets = keys.filter((key) => {
    const value = values[key];
    return typeof value === 'string' && value.startsWith(SECRET);
  });
  const properties =
    keys.length > 0
      ? keys
          .slice(0, PROPERTIES)
          .map((key) => literal(key, values[key] ?? null, valuesAsWritten?.[key] ?? undefined))
      : propertiesOf(schemaOf(files, schema));
  return {
    name: cut(name),
    hasSchema: schema !== undefined,
    ...given('ref', ref),
    ...listed('valueKeys', keys, (key) => cut(key)),
    ...listed('secretKeys', secrets, (key) => cut(key)),
    ...listed('overriddenKeys', [...overridden].sort(), (key) => cut(key)),
    ...(properties.length > 0 && { properties: properties.slice(0, PROPERTIES) }),
  };
}

/** What is no number, text or truth value is an `object`, lists and dates among them (recorded). */
function literal(key: string, value: JsonValue, written: JsonValue | undefined): Property {
  const at = { key: cut(key) };
  if (value === null) return { ...at, type: 'any', value: ANY };
  const text = goText(value, written);
  const type =
    typeof value === 'bigint'
      ? 'number'
      : typeof value === 'string' && text !== value
        ? 'object'
        : typeof value;
  return { ...at, type, value: cut(text) };
}

type ProjectedPolicy = NonNullable<ContractProjection['policies']>[number];

function policyOf({ name, schema, ref }: PolicyReference, files: BundleFiles | undefined): ProjectedPolicy {
  const root = schemaOf(files, schema);
  const { title, description } = root ?? {};
  const properties = propertiesOf(root);
  return {
    name: cut(name),
    hasSchema: schema !== undefined,
    ...given('schema', schema),
    ...given('ref', ref),
    ...given('title', typeof title === 'string' ? title : undefined),
    ...given('description', typeof description === 'string' ? description : undefined),
    ...(properties.length > 0 && { properties: properties.slice(0, PROPERTIES) }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function schemaOf(files: BundleFiles | undefined, path: string | undefined): Fields | undefined {
  const file = files === undefined || path === undefined ? undefined : bundleFile(files, path);
  if (file === undefined) return undefined;
  try {
    return fieldsOf(JSON.parse(Buffer.from(file).toString('utf8')));
  } catch {
    // Whether it is a schema is for validation to say.
    return undefined;
  }
}

/** In dot notation, in the order of the keys: what is nested names only its leaves. */
function propertiesOf(schema: Fields | undefined, prefix = '', depth = 0): readonly Property[] {
  const properties = fieldsOf(schema?.['properties']);
  if (properties === undefined || depth >= DEPTH) return [];
  return Object.keys(properties)
    .sort()
    .slice(0, PROPERTIES)
    .flatMap((name) => {
      const property = fieldsOf(properties[name]) ?? {};
      const key = `${prefix}${name}`;
      const nested = propertiesOf(property, `${key}.`, depth + 1);
      if (nested.length > 0) return nested;
      const { type, default: fallback } = property;
      return [
        {
          key: cut(key),
          ...(typeof type === 'string' && { type: cut(type) }),
          value: fallback === undefined ? ANY : cut(goText(fallback as JsonValue)),
        },
      ];
    });
}

function metadataOf(
  { metadata }: Contract,
  written: JsonValue | undefined,
): Readonly<Record<string, string>> | undefined {
  const keys = Object.keys(metadata ?? {})
    .sort()
    .slice(0, ENTRIES);
  if (metadata === undefined || keys.length === 0) return undefined;
  const others = (fieldsOf(written) ?? {}) as Readonly<Record<string, JsonValue>>;
  return Object.fromEntries(keys.map((key) => [cut(key), cut(goText(metadata[key] ?? null, others[key]))]));
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function cut(text: string): string {
  return shortText(text, TEXT_LENGTH);
}
