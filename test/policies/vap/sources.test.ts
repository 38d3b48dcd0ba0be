import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import type { Read } from '../../../src/policies/vap/read.ts';
import { collectPolicies, sourceText, type PolicySource } from '../../../src/policies/vap/sources.ts';
import type { Binding, Policy } from '../../../src/policies/vap/types.ts';

const FILE: PolicySource = { source: 'file', path: 'policies/a.yaml' };
const RESOURCE: PolicySource = { source: 'customResource' };
const map = (name: string, key = 'a.yaml', namespace = 'pacto-system'): PolicySource => ({
  source: 'configMap',
  namespace,
  name,
  key,
});

const policy = (name: string, expression = 'true', more: object = {}): KubeObject => ({
  apiVersion: 'gate.pacto.trianalab.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: { validations: [{ expression }], ...more },
});
const binding = (name: string, policyName = name): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName, validationActions: ['Deny'] },
});

type Given = readonly (readonly [PolicySource, KubeObject])[];

function collect(given: Given, options?: Parameters<typeof collectPolicies>[1]) {
  const { policies, bindings, problems } = collectPolicies(
    given.map(([source, object]) => ({ source, object })),
    options,
  );
  return {
    policies: policies.map(({ policy: { name, validations }, source }) => [
      name,
      validations[0]?.expression,
      source,
    ]),
    bindings: bindings.map(({ binding: { name }, source }) => [name, source]),
    problems: problems.map(({ kind, name, cause, message }) => [
      `${kind.endsWith('Binding') ? 'binding' : 'policy'} ${name}`,
      cause,
      message,
    ]),
  };
}

it('leaves out what is called like the canary of the installer, of every source', () => {
  for (const source of [FILE, RESOURCE, map('m')])
    expect(
      collect([
        [source, policy('pacto-gate-canary')],
        [source, binding('pacto-gate-canary', 'a')],
        [source, policy('a')],
        [source, binding('a')],
      ]),
    ).toEqual({
      policies: [['a', 'true', source]],
      bindings: [['a', source]],
      problems: ['policy', 'binding'].map((kind) => [
        `${kind} pacto-gate-canary`,
        'reserved',
        expect.stringContaining('choose another'),
      ]),
    });
});

describe('one name', () => {
  it.each<[string, Given, PolicySource]>([
    [
      'a file, before a custom resource',
      [
        [RESOURCE, policy('a', 'second')],
        [FILE, policy('a', 'first')],
      ],
      FILE,
    ],
    [
      'a custom resource, before a ConfigMap',
      [
        [map('m'), policy('a', 'second')],
        [RESOURCE, policy('a', 'first')],
      ],
      RESOURCE,
    ],
    [
      'the ConfigMap of the namespace that sorts first',
      [
        [map('a', 'a.yaml', 'two'), policy('a', 'second')],
        [map('z', 'z.yaml', 'one'), policy('a', 'first')],
      ],
      map('z', 'z.yaml', 'one'),
    ],
    [
      'the ConfigMap whose name sorts first',
      [
        [map('b'), policy('a', 'second')],
        [map('a'), policy('a', 'first')],
      ],
      map('a'),
    ],
    [
      'the key that sorts first',
      [
        [map('m', 'b.yaml'), policy('a', 'second')],
        [map('m', 'a.yaml'), policy('a', 'first')],
      ],
      map('m', 'a.yaml'),
    ],
    [
      'the file that was read first',
      [
        [FILE, policy('a', 'first')],
        [{ ...FILE, path: 'a/a.yaml' }, policy('a', 'second')],
      ],
      FILE,
    ],
  ])('is that of %s', (_title, given, source) => {
    const found = collect(given);
    expect(found.policies).toEqual([['a', 'first', source]]);
    expect(found.problems).toContainEqual([
      'policy a',
      'duplicate',
      `left out: there is another of this name, of ${sourceText(source)}`,
    ]);
  });

  it('may be that of a policy and of a binding', () => {
    const found = collect([
      [RESOURCE, policy('a')],
      [RESOURCE, binding('a')],
    ]);
    expect(found.problems).toEqual([]);
  });

  it('counts once for bindings too', () => {
    const found = collect([
      [RESOURCE, policy('a')],
      [map('m'), binding('a')],
      [FILE, binding('a')],
    ]);
    expect(found.bindings).toEqual([['a', FILE]]);
    expect(found.problems.map(([name, cause]) => [name, cause])).toEqual([['binding a', 'duplicate']]);
  });

  it('is free where the object that comes first cannot be read', () => {
    const broken = policy('a', 'first', { validations: 'none' });
    const found = collect([
      [FILE, broken],
      [RESOURCE, policy('a', 'second')],
    ]);
    expect(found.policies).toEqual([['a', 'second', RESOURCE]]);
    expect(found.problems[0]).toEqual(['policy a', 'unreadable', expect.stringContaining('left out: json:')]);
  });
});

describe('problems', () => {
  it.each<[string, Given, readonly unknown[]]>([
    ['a policy without a binding', [[FILE, policy('a')]], ['policy a', 'unbound', 'has no binding']],
    [
      'a binding without a policy',
      [[FILE, binding('a', 'b')]],
      ['binding a', 'no-policy', 'there is no policy "b"'],
    ],
    [
      'a paramKind that is not allowed',
      [
        [FILE, policy('a', 'true', { paramKind: { apiVersion: 'v1', kind: 'Secret' } })],
        [FILE, binding('a')],
      ],
      ['policy a', 'param-kind', 'its paramKind "v1/Secret" is not in policies.paramKinds'],
    ],
  ])('are told of %s', (_title, given, problem) => {
    expect(collect(given, { allowsParamKind: ({ kind }) => kind === 'ConfigMap' }).problems).toEqual([
      problem,
    ]);
  });

  it('are none where a binding is of another source than its policy, in either order', () => {
    const given: Given = [
      [map('m'), policy('a', 'true', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } })],
      [FILE, binding('a')],
    ];
    for (const order of [given, given.toReversed()]) {
      const found = collect(order, { allowsParamKind: ({ kind }) => kind === 'ConfigMap' });
      expect(found).toMatchObject({ problems: [], bindings: [['a', FILE]] });
    }
  });

  it('are none of objects that are neither, or of a kind of the name in another group', () => {
    const found = collect([
      [FILE, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }],
      [FILE, { ...policy('a'), apiVersion: 'example.com/v1' }],
    ]);
    expect(found).toEqual({ policies: [], bindings: [], problems: [] });
  });
});

it('reads an object once as long as it is the same', () => {
  const known = new WeakMap<KubeObject, Read<Policy> | Read<Binding>>();
  const object = policy('a');
  const read = () => collectPolicies([{ object, source: FILE }], { known }).policies[0]?.policy;
  const first = read();
  expect(first).toBeDefined();
  expect(read()).toBe(first);
});

it('collects by name, and the same from every order of the same objects', () => {
  const given: Given = [
    [RESOURCE, policy('b', '1')],
    [map('m', 'b.yaml'), policy('b', '2')],
    [map('m', 'a.yaml'), policy('a', '3')],
    [map('l'), binding('a')],
    [RESOURCE, binding('a')],
  ];
  const { policies, bindings } = collect(given);
  expect(policies.map(([name]) => name)).toEqual(['a', 'b']);
  const reversed = collect(given.toReversed());
  expect(reversed.policies).toEqual(policies);
  expect(reversed.bindings).toEqual(bindings);
});
