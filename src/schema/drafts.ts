/**
 * The drafts of JSON Schema as Go's `jsonschema` v6 reads them (contract.md §3.4.3), each as an ajv of its own: 2020-12
 * where a schema names none; formats asserted up to draft 7; siblings of `$ref` ignored up to draft 7; nothing fetched.
 */
import { Ajv, type Format, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft6 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import draft7 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' };
import Ajv4 from 'ajv-draft-04';
import { fullFormats, type FormatName } from 'ajv-formats/dist/formats.js';
import { adaptKeywords } from './ajv-keywords.ts';
import { isPattern, schemaPatterns } from './patterns.ts';
import type { ReferenceRules } from './references.ts';

export type DraftName = '2020-12' | '2019-09' | 'draft-07' | 'draft-06' | 'draft-04';

interface Draft {
  readonly metaschema: string;
  /** The class of ajv, and what its vocabulary has beyond the draft. */
  readonly make: (options: Options) => Ajv;
  readonly foreignKeywords: readonly string[];
  readonly isOld: boolean;
}

const DRAFTS: Readonly<Record<DraftName, Draft>> = {
  '2020-12': {
    metaschema: 'https://json-schema.org/draft/2020-12/schema',
    make: (options) => new Ajv2020(options),
    foreignKeywords: ['id'],
    isOld: false,
  },
  '2019-09': {
    metaschema: 'https://json-schema.org/draft/2019-09/schema',
    make: (options) => new Ajv2019(options),
    foreignKeywords: ['id'],
    isOld: false,
  },
  'draft-07': {
    metaschema: 'http://json-schema.org/draft-07/schema',
    make: (options) => new Ajv(options),
    foreignKeywords: ['id'],
    isOld: true,
  },
  'draft-06': {
    metaschema: 'http://json-schema.org/draft-06/schema',
    make: (options) => (options.meta === false ? new Ajv(options) : new Ajv(options).addMetaSchema(draft6)),
    foreignKeywords: ['id', 'if', 'then', 'else'],
    isOld: true,
  },
  'draft-04': {
    metaschema: 'http://json-schema.org/draft-04/schema',
    make: (options) => new Ajv4.default(options),
    foreignKeywords: ['$id', 'if', 'then', 'else', 'const', 'contains', 'propertyNames'],
    isOld: true,
  },
};

/** Formats of the Go library that ajv-formats has too; any other is an annotation. */
const FORMATS: readonly FormatName[] = [
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'json-pointer',
  'relative-json-pointer',
  'time',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
];

const OPTIONS: Options = {
  allErrors: true,
  // Without it `toString` and `constructor` count as present for `required` (platform.md §5).
  ownProperties: true,
  strict: false,
  // Messages are ours: they need the schema beside the keyword, and the kind of a value.
  verbose: true,
  messages: false,
  logger: false,
  // Else a schema that is referenced a hundred times is a hundred times in the code.
  inlineRefs: false,
  code: { regExp: schemaPatterns },
};

/** How a draft writes names and references. */
export function rulesOf(name: DraftName): Pick<ReferenceRules, 'idKeyword' | 'isOld' | 'dynamic'> {
  const { isOld } = DRAFTS[name];
  return {
    idKeyword: name === 'draft-04' ? 'id' : '$id',
    isOld,
    dynamic: isOld ? undefined : name === '2019-09' ? '$recursiveRef' : '$dynamicRef',
  };
}

/** Whether a name, without a fragment, is that of a metaschema. */
export function isMetaschema(name: string): boolean {
  return draftOf(name) !== undefined;
}

/** The draft that `$schema` names; undefined where nobody knows it. */
export function draftOf(dialect: string): DraftName | undefined {
  const wanted = dialect.replace(/^http:/, 'https:').replace(/#\/?$/, '');
  if (wanted === 'https://json-schema.org/schema') return '2020-12';
  const names = Object.keys(DRAFTS) as DraftName[];
  return names.find((name) => DRAFTS[name].metaschema.replace(/^http:/, 'https:') === wanted);
}

/**
 * An ajv for one schema: what a schema leaves behind (its `$id`s, its compiled parts) goes with it.
 *
 * @param withMetaschemas whether the schema refers to those of json-schema.org, which are at hand without a network.
 */
export function compilerOf(name: DraftName, withMetaschemas: boolean): Ajv {
  const draft = DRAFTS[name];
  const ajv = draft.make({
    ...OPTIONS,
    meta: withMetaschemas,
    validateSchema: false,
    validateFormats: draft.isOld,
    ignoreKeywordsWithRef: draft.isOld,
    formats: formatsOf(FORMATS),
  });
  for (const keyword of draft.foreignKeywords) ajv.removeKeyword(keyword);
  if (withMetaschemas && name !== 'draft-04')
    for (const metaschema of [draft6, draft7])
      if (ajv.getSchema(metaschema.$id) === undefined) ajv.addMetaSchema(metaschema);
  adaptKeywords(ajv);
  return ajv;
}

/** What a schema of a draft must be. Like Go's, it looks at the format `regex` whatever the draft. */
export function metaschemaOf(name: DraftName): ValidateFunction {
  const { make, metaschema } = DRAFTS[name];
  const options = { ...OPTIONS, allErrors: false, ignoreKeywordsWithRef: DRAFTS[name].isOld };
  const ajv = make({
    ...options,
    meta: false,
    validateSchema: false,
    formats: formatsOf([]),
  });
  adaptKeywords(ajv);
  // As schemas like others: ajv never looks at formats in what it knows to be a metaschema.
  for (const known of Object.values(make(options).schemas))
    if (known !== undefined) ajv.addSchema(known.schema);
  const validate = ajv.getSchema(metaschema);
  if (validate === undefined) throw new Error(`the metaschema ${metaschema} is not there`);
  return validate as ValidateFunction;
}

function formatsOf(names: readonly FormatName[]): Record<string, Format> {
  return { ...Object.fromEntries(names.map((name) => [name, fullFormats[name]])), regex: isPattern };
}
