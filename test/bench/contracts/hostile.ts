/** Schemas that are made to hang, to overflow or to eat all memory (platform.md §5), one after the other. */
import type { Json } from '../../../src/schema/answer.ts';
import { SchemaPool } from '../../../src/schema/schema-pool.ts';
import type { HostileSchemas } from '../result.ts';

/** The probe of the event loop writes once a second; what it saw of loading is not counted. */
const PROBE_MS = 1_100;

interface Attack {
  readonly name: string;
  readonly schema: string;
  readonly instance: Json;
}

const GOOD = JSON.stringify({ type: 'object', required: ['name'] });

export async function run(): Promise<HostileSchemas> {
  // Made before the loop is watched: their making is long too.
  const prepared = attacks();
  const schemas = new SchemaPool();
  const outcomes: Record<string, string> = {};
  try {
    await proveAlive(schemas);
    await pause(PROBE_MS);
    const fromMs = performance.timeOrigin + performance.now();
    for (const { name, schema, instance } of prepared) {
      const { outcome } = await schemas.validate(schema, instance);
      outcomes[name] = outcome;
      await proveAlive(schemas);
    }
    const seconds = (performance.timeOrigin + performance.now() - fromMs) / 1000;
    await pause(PROBE_MS);
    return { fromMs, seconds, outcomes };
  } finally {
    await schemas.close();
  }
}

async function proveAlive(schemas: SchemaPool): Promise<void> {
  const { outcome } = await schemas.validate(GOOD, { name: 'cart' });
  if (outcome !== 'valid') throw new Error(`a good schema is answered ${outcome} beside hostile ones`);
}

function attacks(): readonly Attack[] {
  const attack = (name: string, schema: object, instance: Json): Attack => ({
    name,
    schema: JSON.stringify(schema),
    instance,
  });
  const long = `${'a'.repeat(50_000)}!`;
  return [
    attack('nested repetition', { pattern: '^(a+)+$' }, long),
    attack('nested repetition of keys', { patternProperties: { '^(a+)+$': false } }, { [long]: 1 }),
    attack('many repetitions', { pattern: '(.*a){12}b' }, long),
    attack('lookahead', { pattern: '^(?=a)' }, long),
    attack('backreference', { pattern: String.raw`^(a+)\1$` }, long),
    attack('chain of references', chain(24), 'x'),
    attack('tree of combinators', tree(9), { a: 'x' }),
    { name: 'deep schema', schema: `${'{"not":'.repeat(20_000)}true${'}'.repeat(20_000)}`, instance: 1 },
    attack('deep instance', { $ref: '#' }, deep(5_000)),
    attack('reference to itself', { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, 1),
    attack('recursion through data', { items: { $ref: '#' } }, deep(120)),
    attack('unique objects', { uniqueItems: true }, numbered(20_000)),
    attack('a few unique objects', { uniqueItems: true }, numbered(5_000)),
    attack('many properties', { properties: propertiesOf(19_000) }, {}),
    attack('long list of choices', { enum: numbered(4_000) }, { n: -1 }),
    attack('most of a schema', { anyOf: Array.from({ length: 1_000 }, (_, n) => ({ const: n })) }, 'x'),
    attack('reference to a host', { $ref: 'http://169.254.169.254/latest' }, 1),
    attack('reference to a file', { $ref: 'file:///etc/passwd' }, 1),
    attack('code in a name', { properties: { '"]);process.exit(1);//': { type: 'string' } } }, { a: 1 }),
  ];
}

/** Each doubles the work of the one after it. */
function chain(length: number): object {
  const defs = Object.fromEntries(
    Array.from({ length }, (_, n) => [
      `d${n}`,
      { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  );
  return { $defs: { ...defs, [`d${length}`]: false }, $ref: '#/$defs/d0' };
}

function tree(depth: number): object {
  if (depth === 0) return { type: 'number' };
  return { anyOf: [{ properties: { a: tree(depth - 1) } }, { properties: { a: tree(depth - 1) } }] };
}

function deep(depth: number): Json {
  let value: Json = [];
  for (let n = 0; n < depth; n += 1) value = [value];
  return value;
}

function numbered(count: number): Json {
  return Array.from({ length: count }, (_, n) => ({ n }));
}

function propertiesOf(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, true]));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
