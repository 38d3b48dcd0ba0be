/** The kinds of configuration keys, and the names that each is given by; the table itself is config-keys.ts. */
import * as z from 'zod';

export type KeyKind = 'boolean' | 'number' | 'text' | 'choice' | 'list';

type Fallback = boolean | number | string | readonly string[] | undefined;

export interface Key<S extends z.ZodType = z.ZodType> {
  readonly schema: S;
  readonly kind: KeyKind;
  /** Undefined where the default is nothing, or worked out as `text` says. */
  readonly fallback: Fallback;
  /** What a value must be, for messages and the documentation. */
  readonly need: string;
  readonly text: string;
}

export const flag = (fallback: boolean, text: string): Key<z.ZodBoolean> => ({
  schema: z.boolean(),
  kind: 'boolean',
  fallback,
  need: 'true or false',
  text,
});

export const count = (fallback: number, min: number, max: number, text: string): Key<z.ZodNumber> => ({
  schema: z.int().min(min).max(max),
  kind: 'number',
  fallback,
  need: `a whole number from ${String(min)} to ${String(max)}`,
  text,
});

export const port = (fallback: number, text: string): Key<z.ZodNumber> =>
  count(fallback, 0, 65_535, `${text} 0 takes any free port.`);

export const choice = <const C extends readonly [string, ...string[]]>(
  choices: C,
  fallback: C[number],
  text: string,
): Key<z.ZodType<C[number]>> => ({
  schema: z.enum(choices),
  kind: 'choice',
  fallback,
  need: choices.join(', ').replace(/, ([^,]*)$/, ' or $1'),
  text,
});

export const optional = <S extends z.ZodType<string>>(
  schema: S,
  need: string,
  text: string,
): Key<z.ZodOptional<S>> => ({ schema: schema.optional(), kind: 'text', fallback: undefined, need, text });

export const optionalText = (need: string, text: string): Key<z.ZodOptional<z.ZodString>> =>
  optional(z.string().min(1), need, text);

/** A text that has a default. */
export const textWith = <S extends z.ZodType<string>>(
  schema: S,
  fallback: string,
  need: string,
  text: string,
): Key<S> => ({ schema, kind: 'text', fallback, need, text });

export const list = <S extends z.ZodType<string>>(
  item: S,
  fallback: readonly z.output<S>[],
  need: string,
  text: string,
): Key<z.ZodArray<S>> => ({ schema: z.array(item), kind: 'list', fallback, need: `a list of ${need}`, text });

export interface KeyRow {
  /** `webhooks.port`. */
  readonly path: string;
  /** First part of the path; empty for a key without section. */
  readonly section: string;
  /** `--webhooks-port`. */
  readonly flag: string;
  /** `PACTO_GATE_WEBHOOKS_PORT`. */
  readonly variable: string;
  readonly kind: KeyKind;
  readonly fallback: Fallback;
  readonly need: string;
  readonly text: string;
}

export const VARIABLE_PREFIX = 'PACTO_GATE_';

/** `clientCAFile` → `client-ca-file`. */
function kebab(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3-$2$4').toLowerCase();
}

export const isKey = (node: object): node is Key => 'schema' in node && 'need' in node;

function* walk(node: object, path: readonly string[]): Generator<{ path: string; key: Key }> {
  for (const [name, child] of Object.entries(node) as [string, object][]) {
    const here = [...path, name];
    if (isKey(child)) yield { path: here.join('.'), key: child };
    else yield* walk(child, here);
  }
}

/** @param keys a tree of keys. @returns one row for each, in the order of the tree. */
export function rowsOf(keys: object): readonly KeyRow[] {
  return [...walk(keys, [])].map(({ path, key }) => {
    const words = path.split('.').map(kebab).join('-');
    return {
      path,
      section: path.includes('.') ? (path.split('.')[0] ?? '') : '',
      flag: `--${words}`,
      variable: VARIABLE_PREFIX + words.replaceAll('-', '_').toUpperCase(),
      kind: key.kind,
      fallback: key.fallback,
      need: key.need,
      text: key.text,
    };
  });
}
