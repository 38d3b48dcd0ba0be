import { describe, expect, test } from 'vitest';

import { Cel } from '../../../src/policies/cel/cel.ts';
import { typeString } from '../../../src/policies/cel/type-format.ts';
import { withCustomResources } from '../../../src/policies/vap/custom-types.ts';
import { pruneSchema, type OpenApiTypes } from '../../../src/policies/vap/openapi-schema.ts';
import { KindTypes } from '../../../src/policies/vap/openapi-types.ts';
import { readPolicy } from '../../../src/policies/vap/read.ts';
import { typeCheck } from '../../../src/policies/vap/typecheck.ts';
import { RULE, policy } from './written.ts';

const CEL = new Cel();
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Schemas as an API server publishes them. */
const PUBLISHED: Readonly<Record<string, unknown>> = {
  [META]: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      generateName: { type: 'string' },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      creationTimestamp: { type: 'string', format: 'date-time' },
    },
  },
  Deployment: {
    description: 'dropped',
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { default: {}, allOf: [{ $ref: `#/components/schemas/${META}` }] },
      spec: { $ref: '#/components/schemas/Spec' },
    },
  },
  Spec: {
    type: 'object',
    properties: {
      replicas: { type: 'integer', format: 'int32' },
      ratio: { type: 'number' },
      on: { type: 'boolean' },
      data: { type: 'string', format: 'byte' },
      after: { type: 'string', format: 'duration' },
      day: { type: 'string', format: 'date' },
      port: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
      cpu: { oneOf: [{ type: 'string' }, { type: 'number' }] },
      limits: { type: 'object', additionalProperties: { oneOf: [] } },
      inner: { $ref: '#/components/schemas/Spec' },
      missing: { $ref: '#/components/schemas/Nowhere' },
      containers: { type: 'array', items: { type: 'object', properties: { image: { type: 'string' } } } },
      untyped: { type: 'array' },
      namespace: { type: 'string' },
      'x-y': { type: 'string' },
      'a.b/c__d': { type: 'string' },
      '1st': { type: 'string' },
      ü: { type: 'string' },
    },
  },
};

const TYPES: OpenApiTypes = {
  resources: [
    { group: 'apps', version: 'v1', resource: 'deployments', singular: 'deployment', kind: 'Deployment' },
    { group: '', version: 'v1', resource: 'events', singular: 'event', kind: 'Event' },
    { group: 'events.k8s.io', version: 'v1', resource: 'events', singular: 'event', kind: 'Event' },
    { group: 'apps', version: 'v1', resource: 'unknowns', singular: '', kind: 'Unknown' },
  ],
  schemas: Object.fromEntries(Object.entries(PUBLISHED).map(([name, schema]) => [name, pruneSchema(schema)])),
  kinds: {
    'apps/v1, Kind=Deployment': 'Deployment',
    '/v1, Kind=Event': 'Deployment',
    'events.k8s.io/v1, Kind=Event': 'Deployment',
  },
};

const CUSTOM = {
  kind: 'CustomResourceDefinition',
  spec: {
    group: 'things.example.com',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  any: { 'x-kubernetes-int-or-string': true },
                  open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  pod: { type: 'object', 'x-kubernetes-embedded-resource': true },
                  ref: { $ref: `#/components/schemas/Spec` },
                },
              },
            },
          },
        },
      },
      { name: 'v2', served: false, schema: { openAPIV3Schema: { type: 'object' } } },
      { name: 'v3', served: true },
    ],
  },
};

const KINDS = new KindTypes(withCustomResources(TYPES, [CUSTOM, {}, null, { spec: { versions: 1 } }]));

function warnings(spec: object): readonly { readonly fieldRef: string; readonly warning: string }[] {
  const read = readPolicy(policy(spec));
  if (!read.ok) throw new Error(read.fault);
  return typeCheck(read.value, { cel: CEL, minor: 36, kinds: KINDS });
}

function warning(expression: string, rule: object = {}, spec: object = {}): string | undefined {
  const rules = [{ ...RULE, ...rule }];
  return warnings({ matchConstraints: { resourceRules: rules }, validations: [{ expression }], ...spec })[0]
    ?.warning;
}

const WIDGETS = { apiGroups: ['things.example.com'], resources: ['widgets'] };

describe('the type of a field', () => {
  test.each([
    ['replicas', 'int'],
    ['ratio', 'double'],
    ['on', 'bool'],
    ['data', 'bytes'],
    ['after', 'google.protobuf.Duration'],
    ['day', 'google.protobuf.Timestamp'],
    ['port', 'dyn'],
    ['namespace', 'string'],
    ['__namespace__', 'string'],
    ['x__dash__y', 'string'],
    ['a__dot__b__slash__c__underscores__d', 'string'],
    ['cpu', undefined],
    ['limits', undefined],
    ['missing', undefined],
    ['untyped', undefined],
    ['x-y', undefined],
    ['1st', undefined],
    ['ü', undefined],
  ])('%s is %s', (field, type) => {
    const object = KINDS.typeOf({ group: 'apps', version: 'v1', kind: 'Deployment' });
    const spec = object?.kind === 'struct' ? object.fields.get('spec') : undefined;
    const found = spec?.kind === 'struct' ? spec.fields.get(field) : undefined;
    expect(found === undefined ? undefined : typeString(found)).toBe(type);
  });

  test.each(['__proto__', 'constructor', 'toString'])('of a kind called %s is not known', (kind) => {
    expect(KINDS.typeOf({ group: 'apps', version: 'v1', kind })).toBeUndefined();
  });
});

describe('no warning is given', () => {
  test.each([
    ['for an object that is null', 'object == null || oldObject != null'],
    ['for what fits', "object.spec.containers.all(c, c.image.startsWith('x')) && object.spec.replicas > 1"],
    [
      'for metadata',
      "object.metadata.labels['a'] == 'b' && object.metadata.creationTimestamp < timestamp('2030-01-01T00:00:00Z')",
    ],
    ['for a number or a text', "object.spec.port == 1 || object.spec.port == 'a'"],
    ['for an expression that is no bool', 'object.spec.replicas'],
    ['for the authorizer', "authorizer.path('/x').check('get').allowed()"],
  ])('%s', (_, expression) => {
    expect(warning(expression)).toBeUndefined();
  });

  test.each<[string, object]>([
    ['of a wildcard group', { apiGroups: ['*'] }],
    ['of a wildcard version', { apiVersions: ['v*'] }],
    ['of a wildcard resource', { resources: ['*'] }],
    ['of a subresource', { resources: ['deployments/scale'] }],
    ['of a resource that is not served', { resources: ['nothings'] }],
    ['of a kind without a schema', { resources: ['unknowns'] }],
    ['of another version', { apiVersions: ['v2'] }],
  ])('for resources %s', (_, rule) => {
    expect(warning('object.nope == 1', rule)).toBeUndefined();
  });
});

describe('a warning is given', () => {
  test('in the words of the status controller', () => {
    expect(
      warnings({
        validations: [
          { expression: 'object.spec.nope == 1', messageExpression: "object.spec.replicas + 'x'" },
        ],
      }),
    ).toStrictEqual([
      {
        fieldRef: 'spec.validations[0].expression',
        warning:
          "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'nope'\n | object.spec.nope == 1\n | ...........^\n",
      },
      {
        fieldRef: 'spec.validations[0].messageExpression',
        warning:
          "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_+_' applied to '(int, string)'\n | object.spec.replicas + 'x'\n | .....................^\n",
      },
    ]);
  });

  test.each([
    [
      'for a schema within itself, whose inside nobody sees',
      'object.spec.inner.replicas == 1',
      "undefined field 'replicas'",
    ],
    ['for variables where there are none', 'variables.x == 1', "undefined field 'x'"],
    ['for params where there is no paramKind', 'params.x == 1', "undeclared reference to 'params'"],
    [
      'for the prepared check of the request',
      "authorizer.requestResource.check('get').allowed()",
      'kubernetes.authorization.Authorizer',
    ],
    ['for what is no expression', 'object.', 'Syntax error'],
  ])('%s', (_, expression, text) => {
    expect(warning(expression)).toContain(text);
  });

  test('for each kind that does not fit, by group, version and kind', () => {
    const kinds = warning('object.nope == 1', {
      apiGroups: ['apps', ''],
      resources: ['deployments', 'event'],
    })
      ?.split('\n')
      .filter((line) => line.includes('Kind='))
      .map((line) => line.slice(0, line.indexOf(':')));
    expect(kinds).toStrictEqual([
      '/v1, Kind=Event',
      'apps/v1, Kind=Deployment',
      'events.k8s.io/v1, Kind=Event',
    ]);
  });

  test('for the type that a variable has', () => {
    const variables = [
      { name: 'r', expression: 'object.spec.replicas' },
      { name: 's', expression: 'object.spec' },
      { name: 'broken', expression: 'object.nope' },
    ];
    expect(warning("variables.r == 'x'", {}, { variables })).toContain("'(int, string)'");
    expect(warning('variables.s.nope == variables.broken.nope', {}, { variables })).toBeUndefined();
  });

  test('for at most ten kinds of a rule, and for none of the rules after it', () => {
    const versions = Array.from({ length: 12 }, (_, index) => `v${String(index + 10)}`);
    const many = {
      spec: {
        group: 'many.example.com',
        names: { kind: 'Many', plural: 'manies' },
        versions: versions.map((name) => ({ name, served: true })),
      },
    };
    const kinds = new KindTypes(withCustomResources(TYPES, [many]));
    const rule = { ...RULE, apiGroups: ['many.example.com'], apiVersions: versions, resources: ['manies'] };
    const spec = {
      matchConstraints: { resourceRules: [rule, RULE] },
      validations: [{ expression: 'object.nope == 1' }],
    };
    const read = readPolicy(policy(spec));
    const found = read.ok ? typeCheck(read.value, { cel: CEL, minor: 36, kinds }) : [];
    expect(found[0]?.warning.match(/Kind=Many/g)).toHaveLength(10);
    expect(found[0]?.warning).not.toContain('Kind=Deployment');
  });
});

describe('custom resources', () => {
  test.each([
    ['spec.size == 1', true],
    ["spec.size == 'x'", false],
    ["spec.any == 'x'", true],
    ['spec.open.anything == 1', false],
    ["metadata.labels['a'] == kind", true],
    ["spec.pod.metadata.labels['a'] == spec.pod.apiVersion", true],
    ['spec.pod.spec == 1', false],
    ['spec.ref == null', false],
    ['nope == 1', false],
  ])('know of object.%s: %s', (rest, fits) => {
    const expression = rest.replaceAll(/(?<![.'\w])(spec|metadata|kind|nope)\b/g, 'object.$1');
    expect(warning(expression, WIDGETS) === undefined).toBe(fits);
  });

  test('are known by the versions that are served', () => {
    expect(warning('object.nope == 1', { ...WIDGETS, apiVersions: ['v2'] })).toBeUndefined();
    expect(warning('object.spec.nope == 1', { ...WIDGETS, apiVersions: ['v3'] })).toContain("'spec'");
  });

  test('give params their type, and what is not known of them is dyn', () => {
    const widget = { paramKind: { apiVersion: 'things.example.com/v1', kind: 'Widget' } };
    expect(warning('params.spec.nope == 1', {}, widget)).toContain("undefined field 'nope'");
    expect(warning('params.spec.size == 1 && params != null', {}, widget)).toBeUndefined();
    const nothing = { paramKind: { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' } };
    expect(warning('params.spec.nope == 1', {}, nothing)).toBeUndefined();
  });
});
