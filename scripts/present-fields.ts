/**
 * Which optional fields are there all the same, seen from the least objects that an API server takes
 * (least-objects.yaml): what it fills in, and what it refuses to do without.
 */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { kindText, type OpenApiSchema, type OpenApiTypes } from '../src/policies/vap/openapi-schema.ts';

const FILE = 'scripts/least-objects.yaml';

type Tree = Readonly<Record<string, unknown>>;

/**
 * Sends one object to a server, which makes nothing of it, and gives it back with what the server adds; undefined and
 * the reason where it is refused.
 */
export type Complete = (object: Tree) => Promise<Tree | { readonly refusal: string }>;

/** What was seen under one name: a schema, or a path in a kind. */
class Seen {
  readonly added = new Set<string>();
  readonly missing = new Set<string>();

  look(given: Tree, completed: Tree, known: Iterable<string>, isDemanded: (name: string) => boolean): void {
    for (const name of known) {
      const isThere = Object.hasOwn(given, name) ? isDemanded(name) : Object.hasOwn(completed, name);
      (isThere ? this.added : this.missing).add(name);
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
    const completed = await complete(given);
    if (isRefusal(completed)) throw new Error(`${JSON.stringify(given)}: ${completed.refusal}`);
    const demanded = new Set<string>();
    for (const path of pathsIn(given)) {
      if (path[0] === 'apiVersion' || path[0] === 'kind' || path[0] === 'metadata') continue;
      const less = await complete(without(given, path));
      if (isRefusal(less) || has(less, path)) demanded.add(path.join('.'));
    }
    watcher.look(given, completed, demanded);
  }
  return watcher.result();
}

function isRefusal(answer: Tree | { readonly refusal: string }): answer is { readonly refusal: string } {
  return Object.hasOwn(answer, 'refusal');
}

/** Of every field, at any depth. */
function* pathsIn(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [...path, name];
    yield* pathsIn(inner, [...path, name]);
  }
}

function has(object: Tree, path: readonly string[]): boolean {
  let value: unknown = object;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
    value = (value as Tree)[name];
  }
  return true;
}

function without(object: Tree, path: readonly string[]): Tree {
  const copy = structuredClone(object);
  const [last = '', ...before] = path.toReversed();
  let parent: unknown = copy;
  for (const name of before.toReversed()) parent = (parent as Tree)[name];
  delete (parent as Record<string, unknown>)[last];
  return copy;
}

/** Where the watcher is in an object. */
interface At {
  readonly demanded: ReadonlySet<string>;
  /** With a dot at the end. */
  readonly path: string;
  /** Of the kind; left out below lists. */
  readonly paths?: Map<string, Seen>;
}

class Watcher {
  readonly #types: OpenApiTypes;
  readonly #schemas = new Map<string, Seen>();
  /** By kind, and below it by path. */
  readonly #kinds = new Map<string, Map<string, Seen>>();

  constructor(types: OpenApiTypes) {
    this.#types = types;
  }

  /** @param demanded paths in what is given that cannot be left out, or are filled in then */
  look(given: Tree, completed: Tree, demanded: ReadonlySet<string>): void {
    const [group, version] = splitVersion(String(given['apiVersion']));
    const kind = kindText({ group, version, kind: String(given['kind']) });
    const name = this.#types.kinds[kind];
    if (name === undefined) throw new Error(`${FILE}: no schema of ${kind}`);
    const paths = this.#kinds.get(kind) ?? new Map<string, Seen>();
    this.#kinds.set(kind, paths);
    this.#walk({ ref: name }, given, completed, { demanded, path: '', paths });
  }

  #walk(schema: OpenApiSchema, given: unknown, completed: unknown, at: At): void {
    if (schema.ref !== undefined) {
      const referred = this.#types.schemas[schema.ref];
      if (referred === undefined) return;
      if (isTree(completed) && referred.properties !== undefined) {
        seenIn(this.#schemas, schema.ref).look(
          isTree(given) ? given : {},
          completed,
          Object.keys(referred.properties),
          (field) => at.demanded.has(at.path + field),
        );
      }
      this.#walk(referred, given, completed, at);
    } else if (Array.isArray(completed)) {
      const before: readonly unknown[] = Array.isArray(given) ? given : [];
      for (const [index, one] of completed.entries())
        this.#walk(schema.items ?? {}, before[index], one, {
          demanded: at.demanded,
          path: `${at.path}${String(index)}.`,
        });
    } else if (isTree(completed)) this.#fields(schema, isTree(given) ? given : {}, completed, at);
  }

  #fields({ properties = {} }: OpenApiSchema, given: Tree, completed: Tree, at: At): void {
    if (at.paths !== undefined) {
      seenIn(at.paths, at.path).look(given, completed, Object.keys(properties), (field) =>
        at.demanded.has(at.path + field),
      );
    }
    for (const [name, schema] of Object.entries(properties)) {
      if (!Object.hasOwn(completed, name)) continue;
      this.#walk(schema, given[name], completed[name], { ...at, path: `${at.path}${name}.` });
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
