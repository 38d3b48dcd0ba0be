/** What of a status comes from the contract alone (operator.md §1.1.2). Lists have an end: the API server has one as well. */
import type { BundleFiles } from '../policies/contract/bundle-files.ts';
import type { Configuration, Contract, Owner, PolicyReference } from '../policies/contract/contract.ts';
import type { JsonValue } from '../policies/contract/json-value.ts';
import type { ContractProjection } from './api/pacto.ts';
import { goText } from './go-text.ts';
import {
  fieldsOf,
  Room,
  schemaProperties,
  shown,
  ShownSchemas,
  valueProperties,
  type Fields,
} from './projected-properties.ts';

/** Of anything that a contract lists. */
const ENTRIES = 200;
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
  const bounds = { room: new Room(), schemas: new ShownSchemas(files) };
  return {
    contractVersion: shown(service.version),
    contract: {
      serviceName: shown(service.name),
      version: shown(service.version),
      ...(resolvedRef !== '' && { resolvedRef }),
      ...(owner !== undefined && { owner }),
      ...(display !== undefined && display !== '' && { ownerDisplay: shown(display) }),
    },
    ...listed('interfaces', interfaces, ({ name, type, ref, visibility }) => ({
      name: shown(name),
      type,
      ...given('ref', ref),
      ...given('visibility', visibility),
    })),
    ...listed('capabilities', capabilities, ({ type, ref }) => ({ type, ...given('ref', ref) })),
    ...listed('configurations', configurations, (one, index) =>
      configurationOf(one, bounds, {
        overridden: overridden.get(one.name) ?? [],
        values: fieldsOf(fieldsOf(written[index])?.['values']),
      }),
    ),
    ...listed('dependencies', dependencies, ({ name, ref, required, compatibility }) => ({
      name: shown(name),
      ref: shown(ref),
      required,
      ...given('compatibility', compatibility),
    })),
    ...listed('policies', policies, (one) => policyOf(one, bounds)),
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
  return (value === undefined || value === '' ? {} : { [key]: shown(value) }) as {
    readonly [P in K]?: string;
  };
}

function ownerOf({ team, dri, contacts }: Owner): NonNullable<ContractProjection['contract']>['owner'] {
  const owner = {
    ...given('team', team),
    ...given('dri', dri),
    ...listed('contacts', contacts, ({ type, value, purpose }) => ({
      type,
      value: shown(value),
      ...given('purpose', purpose),
    })),
  };
  return Object.keys(owner).length === 0 ? undefined : owner;
}

interface Bounds {
  readonly room: Room;
  readonly schemas: ShownSchemas;
}

type ProjectedConfiguration = NonNullable<ContractProjection['configurations']>[number];

function configurationOf(
  { name, schema, ref, values = {} }: Configuration,
  { room, schemas }: Bounds,
  {
    overridden,
    values: written,
  }: { readonly overridden: readonly string[]; readonly values: Fields | undefined },
): ProjectedConfiguration {
  const keys = Object.keys(values).sort();
  const secrets = keys.filter((key) => {
    const value = values[key];
    return typeof value === 'string' && value.startsWith(SECRET);
  });
  const properties = room.properties(
    keys.length > 0 ? valueProperties(keys, values, written) : schemaProperties(schemas.at(schema)),
  );
  const named = (all: readonly string[]): readonly string[] =>
    room.keys(all.slice(0, ENTRIES).map((key) => shown(key)));
  return {
    name: shown(name),
    hasSchema: schema !== undefined,
    ...given('ref', ref),
    ...listed('valueKeys', named(keys), (key) => key),
    ...listed('secretKeys', named(secrets), (key) => key),
    ...listed('overriddenKeys', named([...overridden].sort()), (key) => key),
    ...(properties.length > 0 && { properties }),
  };
}

type ProjectedPolicy = NonNullable<ContractProjection['policies']>[number];

function policyOf({ name, schema, ref }: PolicyReference, { room, schemas }: Bounds): ProjectedPolicy {
  const root = schemas.at(schema);
  const { title, description } = root ?? {};
  const properties = room.properties(schemaProperties(root));
  return {
    name: shown(name),
    hasSchema: schema !== undefined,
    ...given('schema', schema),
    ...given('ref', ref),
    ...given('title', typeof title === 'string' ? title : undefined),
    ...given('description', typeof description === 'string' ? description : undefined),
    ...(properties.length > 0 && { properties }),
  };
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
  return Object.fromEntries(
    keys.map((key) => [shown(key), shown(goText(metadata[key] ?? null, others[key]))]),
  );
}
