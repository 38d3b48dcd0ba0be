import { describe, expect, it } from 'vitest';
import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import type { SchemaChecks } from '../../../src/policies/contract/schema-checks.ts';
import { observeConfigurations } from '../../../src/reconcile/observe/configurations.ts';
import type { ConfigBinding } from '../../../src/reconcile/target.ts';
import { Checker } from '../../../src/schema/checker.ts';
import { anObject } from '../../support/builders.ts';
import { gist, look, NAMESPACE, WINDOW_MS, type Scene } from './survey.ts';

const STREAK = 'configuration/app';
const SCHEMA = JSON.stringify({
  type: 'object',
  required: ['PORT'],
  properties: { PORT: { type: 'integer' }, D: { type: 'string' } },
});
const CONFORMS = { present: true, conformant: true };
const MISFIT = { present: true, conformant: false };
const ABSENT = { present: false, conformant: false };
const YAML: ConfigBinding = { kind: 'ConfigMap', name: 'cm', key: 'k', format: 'yaml' };
const JSON_TEXT: ConfigBinding = { ...YAML, format: 'json' };
const SECRET: ConfigBinding = { kind: 'Secret', name: 'cm' };

const checker = new Checker();
const schemas: SchemaChecks = {
  compile: (text) => Promise.resolve(checker.check(text, undefined, () => undefined)),
  validate: (text, instance) => Promise.resolve(checker.check(text, [instance], () => undefined)),
};

function configMap(content: unknown, more: object = {}, namespace = NAMESPACE): KubeObject {
  return anObject(kinds.CONFIG_MAP, { name: 'cm', namespace }, { data: { k: content }, ...more });
}

interface Options extends Scene {
  readonly binding?: ConfigBinding | undefined;
  readonly configuration?: object;
  readonly schema?: string;
}

function scene(
  objects: readonly KubeObject[],
  { binding = YAML, configuration, schema = SCHEMA, ...more }: Options = {},
): Scene {
  return {
    contract: {
      configurations: [{ name: 'app', required: true, schema: 'app.json', ...configuration }],
    },
    target: { configurations: new Map([['app', binding]]) },
    files: new Map([['app.json', Buffer.from(schema)]]),
    schemas,
    objects,
    ...more,
  };
}

const unbound: Scene['target'] = { configurations: new Map() };
const secret = anObject(kinds.SECRET, { name: 'cm', namespace: NAMESPACE }, {});
const good = configMap('PORT: 80\n');

describe('a configuration (operator.md §5.6)', () => {
  it.each<[string, Scene, readonly unknown[]]>([
    ['unbound and required: Unsupported', scene([good], { target: unbound }), ['Unsupported']],
    [
      'unbound and optional: nothing',
      scene([good], { target: unbound, configuration: { required: false } }),
      [],
    ],
    [
      'a Secret that cannot be read: Failed',
      scene([secret], { binding: SECRET, forbidden: [kinds.SECRET] }),
      ['Failed'],
    ],
    ['a Secret that is there: Insufficient', scene([secret], { binding: SECRET }), ['Insufficient']],
    ['a ConfigMap that cannot be read: Failed', scene([good], { forbidden: [kinds.CONFIG_MAP] }), ['Failed']],
    ['a binding that names nothing: Failed', scene([good], { binding: { ...YAML, name: '' } }), ['Failed']],
    [
      'no key: Insufficient',
      scene([good], { binding: { kind: 'ConfigMap', name: 'cm', format: 'yaml' } }),
      ['Insufficient'],
    ],
    [
      'no format: Insufficient',
      scene([good], { binding: { kind: 'ConfigMap', name: 'cm', key: 'k' } }),
      ['Insufficient'],
    ],
    [
      'another format: Insufficient',
      scene([good], { binding: { ...YAML, format: 'toml' } }),
      ['Insufficient'],
    ],
    ['no such key: Insufficient', scene([good], { binding: { ...YAML, key: 'x' } }), ['Insufficient']],
    [
      'a key that objects inherit: Insufficient',
      scene([good], { binding: { ...YAML, key: 'toString' } }),
      ['Insufficient'],
    ],
    [
      'a key of binary data: Insufficient',
      scene([configMap(undefined, { data: {}, binaryData: { k: 'UE9SVDogODA=' } })]),
      ['Insufficient'],
    ],
    ['content of nonsense: Insufficient', scene([configMap(7)]), ['Insufficient']],
    ['data of nonsense: Insufficient', scene([configMap('', { data: 'x' })]), ['Insufficient']],
    [
      'a schema elsewhere: Insufficient',
      scene([good], { configuration: { schema: undefined, ref: 'oci://r.test/a:1' } }),
      ['Insufficient'],
    ],
    ['no schema: Insufficient', scene([good], { configuration: { schema: undefined } }), ['Insufficient']],
    ['no bundle: Insufficient', { ...scene([good]), files: undefined as never }, ['Insufficient']],
    [
      'no such file: Insufficient',
      scene([good], { configuration: { schema: 'other.json' } }),
      ['Insufficient'],
    ],
    [
      'a file outside: Insufficient',
      scene([good], { configuration: { schema: '../app.json' } }),
      ['Insufficient'],
    ],
    ['a schema that is no JSON: Insufficient', scene([good], { schema: 'type: object' }), ['Insufficient']],
    [
      'a schema that does not compile: Insufficient',
      scene([good], { schema: '{"type":"thing"}' }),
      ['Insufficient'],
    ],
    [
      'a key that is no text, and a schema that does not compile: Insufficient',
      scene([configMap('1: a')], { schema: '{"type":"thing"}' }),
      ['Insufficient'],
    ],
  ])('%s', async (_what, given, wanted) => {
    expect(gist((await look(observeConfigurations, given)).observations)).toEqual(wanted);
  });

  it.each<[string, ConfigBinding, string, unknown]>([
    ['YAML that conforms', YAML, 'PORT: 80\n', CONFORMS],
    ['YAML that does not', YAML, 'PORT: x\n', MISFIT],
    ['YAML that lacks something', YAML, 'OTHER: 80\n', MISFIT],
    ['a whole number with a point', YAML, 'PORT: 80.0\n', CONFORMS],
    ['a number in quotes', YAML, 'PORT: "80"\n', MISFIT],
    ['a date, which is a text', YAML, 'PORT: 80\nD: 2027-01-02\n', CONFORMS],
    ['the first of two documents', YAML, 'PORT: 80\n---\nPORT: x\n', CONFORMS],
    ['an alias', YAML, 'a: &a 80\nPORT: *a\n', CONFORMS],
    ['a merge', YAML, 'a: &a {PORT: 80}\n<<: *a\n', CONFORMS],
    ['a key that is no text', YAML, 'PORT: 80\n1: a\n', MISFIT],
    ['such a key further down', YAML, 'PORT: 80\nx: {true: a}\n', MISFIT],
    ['nothing, which is null', YAML, '', MISFIT],
    ['a comment alone', YAML, '# PORT: 80\n', MISFIT],
    ['what is no YAML', YAML, 'PORT: [80\n', 'Insufficient'],
    ['a key twice', YAML, 'PORT: 80\nPORT: 81\n', 'Insufficient'],
    [
      'a nest that explodes',
      YAML,
      `${Array.from({ length: 12 }, (_, n) => `n${String(n)}: &n${String(n)} [${(n === 0 ? 'x' : `*n${String(n - 1)}`).concat(',').repeat(9)}]`).join('\n')}\n`,
      'Insufficient',
    ],
    ['JSON that conforms', JSON_TEXT, '{"PORT":80}', CONFORMS],
    ['JSON that does not', JSON_TEXT, '{"PORT":"80"}', MISFIT],
    ['what is no JSON', JSON_TEXT, 'PORT: 80', 'Insufficient'],
    ['nothing, which is no JSON', JSON_TEXT, '', 'Insufficient'],
    ['two texts of JSON', JSON_TEXT, '{"PORT":80}{}', 'Insufficient'],
    ['a number that no double holds', JSON_TEXT, '{"PORT":1e999}', 'Insufficient'],
    [
      'more than an object of Kubernetes holds',
      JSON_TEXT,
      `{"PORT":80}${' '.repeat(1024 * 1024)}`,
      'Insufficient',
    ],
  ])('holds %s', async (_what, binding, content, wanted) => {
    const given = scene([configMap(content)], { binding, streaks: { [STREAK]: WINDOW_MS } });
    const { observations, streaks } = await look(observeConfigurations, given);
    expect(gist(observations)).toEqual([wanted]);
    // It is there: that alone ends a streak.
    expect(streaks).toEqual({});
  });

  it.each([
    ['ConfigMap', YAML],
    ['Secret', SECRET],
  ])('that is no %s here is absent once that has lasted', async (_kind, binding) => {
    const elsewhere = [configMap('PORT: 80\n', {}, 'other')];
    const steps: readonly [Readonly<Record<string, number>>, unknown][] = [
      [{}, 'Insufficient'],
      [{ [STREAK]: WINDOW_MS - 1_000 }, 'Insufficient'],
      [{ [STREAK]: WINDOW_MS }, ABSENT],
    ];
    for (const [streaks, wanted] of steps) {
      const seen = await look(observeConfigurations, scene(elsewhere, { binding, streaks }));
      expect(gist(seen.observations)).toEqual([wanted]);
      expect(seen.streaks).toEqual({ [STREAK]: 0, ...streaks });
    }
  });

  it('leaves a streak alone where nobody can tell', async () => {
    const streaks = { [STREAK]: 5_000 };
    const seen = await look(observeConfigurations, scene([], { forbidden: [kinds.CONFIG_MAP], streaks }));
    expect(seen.streaks).toEqual(streaks);
  });

  it('shows nothing of what it holds', async () => {
    for (const content of ['PORT: hunter2\n', 'PORT: [hunter2\n', '{"PORT":"hunter2"']) {
      const { observations } = await look(observeConfigurations, scene([configMap(content)]));
      expect(JSON.stringify(observations)).not.toContain('hunter2');
    }
  });
});
