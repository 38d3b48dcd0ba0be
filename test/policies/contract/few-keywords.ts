/** A stand-in for the schema worker that knows `type`, `required`, `properties` and `not`: enough to see who is asked what. */
import type { JsonObject, JsonValue } from '../../../src/policies/contract/json-value.ts';
import type { SchemaAnswer, SchemaChecks, SchemaLeaf } from '../../../src/policies/contract/schema-checks.ts';

export class FewKeywords implements SchemaChecks {
  /** In the order that they came; a text is there as often as it was asked. */
  readonly asked: { readonly text: string; readonly instance?: JsonValue }[] = [];
  readonly #answers: Readonly<Record<string, SchemaAnswer>>;

  /** @param answers to texts that are not interpreted */
  constructor(answers: Readonly<Record<string, SchemaAnswer>> = {}) {
    this.#answers = answers;
  }

  async compile(schemaText: string): Promise<SchemaAnswer> {
    this.asked.push({ text: schemaText });
    return this.#read(schemaText).answer;
  }

  async validate(schemaText: string, instance: JsonValue): Promise<SchemaAnswer> {
    this.asked.push({ text: schemaText, instance });
    const { answer, schema } = this.#read(schemaText);
    if (schema === undefined) return answer;
    const leaves = failures(schema, instance, '');
    return leaves.length === 0 ? answer : { outcome: 'invalid', leaves };
  }

  #read(text: string): { answer: SchemaAnswer; schema?: JsonValue } {
    const set = this.#answers[text];
    if (set !== undefined) return { answer: set };
    try {
      return { answer: { outcome: 'valid' }, schema: JSON.parse(text) as JsonValue };
    } catch {
      return { answer: { outcome: 'not-json', reason: 'it is not' } };
    }
  }
}

function failures(schema: JsonValue, value: JsonValue | undefined, path: string): readonly SchemaLeaf[] {
  if (schema === false) return [{ instancePath: path, message: 'is not allowed' }];
  if (!isObject(schema) || value === undefined) return [];
  const leaves: SchemaLeaf[] = [];
  if (schema['type'] === 'integer' && !Number.isInteger(value)) {
    leaves.push({ instancePath: path, message: 'must be an integer' });
  }
  if (schema['not'] !== undefined && failures(schema['not'], value, path).length === 0) {
    leaves.push({ instancePath: path, message: 'must not be that' });
  }
  if (!isObject(value)) return leaves;
  for (const name of (schema['required'] ?? []) as readonly string[]) {
    if (!Object.hasOwn(value, name)) leaves.push({ instancePath: path, message: `misses ${name}` });
  }
  for (const [name, property] of Object.entries((schema['properties'] ?? {}) as JsonObject)) {
    leaves.push(...failures(property, value[name], `${path}/${name}`));
  }
  return leaves;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
