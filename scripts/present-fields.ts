/** Which optional fields an API server fills in, seen from the least objects that it takes (least-objects.yaml). */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { kindText, type OpenApiSchema, type OpenApiTypes } from '../src/policies/vap/openapi-schema.ts';

const FILE = 'scripts/least-objects.yaml';

type Tree = Readonly<Record<string, unknown>>;

/** Sends one object to a server, which makes nothing of it, and gives it back with what the server adds. */
export type Complete = (object: Tree) => Promise<Tree>;

/** What was seen under one name: a schema, or a path in a kind. */
class Seen {
  readonly added = new Set<string>();
  readonly missing = new Set<string>();

  look(given: Tree, completed: Tree, known: Iterable<string>): void {
    for (const name of known) {
      if (Object.hasOwn(given, name)) continue;
      (Object.hasOwn(completed, name) ? this.added : this.missing).add(name);
    }
  }

  get always(): readonly string[] {
    return [...this.added].filter((name) => !this.missing.has(name)).sort();
  }
}

/** @returns the types, with the fields that the server fills in among those that are present */
export async function withFilledIn(types: OpenApiTypes, complete: Complete): Promise<OpenApiTypes> {
  const watcher = new Watcher(types);
  for (const document of parseAllDocuments(readFileSync(FILE, 'utf8'))) {
    const given = document.toJS() as Tree;
    watcher.look(given, await complete(given));
  }
  return watcher.result();
}

class Watcher {
  readonly #types: OpenApiTypes;
  readonly #schemas = new Map<string, Seen>();
  /** By kind, and below it by path. */
  readonly #kinds = new Map<string, Map<string, Seen>>();

  constructor(types: OpenApiTypes) {
    this.#types = types;
  }

  look(given: Tree, completed: Tree): void {
    const [group, version] = splitVersion(String(given['apiVersion']));
    const kind = kindText({ group, version, kind: String(given['kind']) });
    const name = this.#types.kinds[kind];
    if (name === undefined) throw new Error(`${FILE}: no schema of ${kind}`);
    const paths = this.#kinds.get(kind) ?? new Map<string, Seen>();
    this.#kinds.set(kind, paths);
    this.#walk({ ref: name }, given, completed, { paths, path: '' });
  }

  #walk(
    schema: OpenApiSchema,
    given: unknown,
    completed: unknown,
    kind: { readonly paths: Map<string, Seen>; readonly path: string } | undefined,
  ): void {
    if (schema.ref !== undefined) {
      const referred = this.#types.schemas[schema.ref];
      if (referred === undefined) return;
      if (isTree(completed) && referred.properties !== undefined) {
        seenIn(this.#schemas, schema.ref).look(
          isTree(given) ? given : {},
          completed,
          Object.keys(referred.properties),
        );
      }
      this.#walk(referred, given, completed, kind);
    } else if (Array.isArray(completed)) {
      const before: readonly unknown[] = Array.isArray(given) ? given : [];
      for (const [index, one] of completed.entries())
        this.#walk(schema.items ?? {}, before[index], one, undefined);
    } else if (isTree(completed)) this.#fields(schema, isTree(given) ? given : {}, completed, kind);
  }

  #fields(
    { properties = {} }: OpenApiSchema,
    given: Tree,
    completed: Tree,
    kind: { readonly paths: Map<string, Seen>; readonly path: string } | undefined,
  ): void {
    if (kind !== undefined) seenIn(kind.paths, kind.path).look(given, completed, Object.keys(properties));
    for (const [name, schema] of Object.entries(properties)) {
      const below = kind && { paths: kind.paths, path: `${kind.path}${name}.` };
      if (Object.hasOwn(completed, name)) this.#walk(schema, given[name], completed[name], below);
    }
  }

  result(): OpenApiTypes {
    const schemas = Object.fromEntries(
      Object.entries(this.#types.schemas).map(([name, schema]) => {
        const present = new Set([...(schema.present ?? []), ...(this.#schemas.get(name)?.always ?? [])]);
        return [name, present.size === 0 ? schema : { ...schema, present: [...present].sort() }];
      }),
    );
    const filledIn: Record<string, readonly string[]> = {};
    for (const [kind, paths] of this.#kinds) {
      const all = [...paths].flatMap(([path, seen]) => seen.always.map((name) => path + name));
      filledIn[kind] = all.filter((path) => !isPresent(path, this.#types.kinds[kind], schemas)).sort();
    }
    return { ...this.#types, schemas, filledIn };
  }
}

/** Whether the schemas say so already. */
function isPresent(
  path: string,
  root: string | undefined,
  schemas: Readonly<Record<string, OpenApiSchema>>,
): boolean {
  let schema: OpenApiSchema | undefined = root === undefined ? {} : { ref: root };
  let present = false;
  for (const name of path.split('.')) {
    if (schema?.ref !== undefined) schema = schemas[schema.ref];
    present = schema?.present?.includes(name) === true;
    schema = schema?.properties?.[name];
  }
  return present;
}

function seenIn(all: Map<string, Seen>, name: string): Seen {
  let seen = all.get(name);
  if (seen === undefined) all.set(name, (seen = new Seen()));
  return seen;
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function splitVersion(apiVersion: string): readonly [group: string, version: string] {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}
