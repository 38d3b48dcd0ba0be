/**
 * What lint says of recorded policies, judged by evaluation: whatever it says may be absent is taken out of the recorded
 * objects, and the expression must have no result then; and no other field that may be absent has that effect.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AdmissionRequest, KubeObject } from '../../../../src/cluster/objects.ts';
import { withVariables } from '../../../../src/policies/cel/cel.ts';
import { Budget } from '../../../../src/policies/cel/program.ts';
import { PolicyCompiler, type CompiledPolicy } from '../../../../src/policies/vap/compile.ts';
import { readPolicy } from '../../../../src/policies/vap/read.ts';
import { ObjectPresence, type Place } from '../../../../src/policies/vap/traps/presence.ts';
import { unguardedTraps } from '../../../../src/policies/vap/traps/unguarded.ts';
import type { Policy } from '../../../../src/policies/vap/types.ts';
import { CEL, LISTS, PODS, DEPLOYMENTS, policyOf, subject, TYPES } from './support.ts';

interface Case {
  readonly id: string;
  readonly policies: readonly KubeObject[];
  readonly params?: readonly KubeObject[];
  readonly namespaces?: readonly KubeObject[];
  readonly review?: { readonly request: AdmissionRequest };
}

type Path = readonly (string | number)[];

const PRESENCE = new ObjectPresence(TYPES);

/** Of every field that may be absent. */
function* optionalPaths(value: unknown, place: Place, path: Path = []): Generator<Path> {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries())
      yield* optionalPaths(one, PRESENCE.element(place), [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) {
      const field = PRESENCE.field(place, name);
      if (field.presence === 'optional') yield [...path, name];
      yield* optionalPaths(one, field.place, [...path, name]);
    }
  }
}

function without(object: unknown, path: Path): unknown {
  const copy = structuredClone(object);
  let parent = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) parent = parent[step] as typeof parent;
  delete parent[path.at(-1) ?? ''];
  return copy;
}

/** `spec.validations[0].expression name` of each that has no result because of it. */
function absent(compiled: CompiledPolicy, one: Case, request: AdmissionRequest, object: unknown): string[] {
  const activation = withVariables(
    {
      object,
      oldObject: request.oldObject ?? null,
      request: { ...request, object: undefined, oldObject: undefined },
      params: one.params?.[0] ?? null,
      namespaceObject: one.namespaces?.[0] ?? null,
    } as never,
    compiled.variables,
  );
  const result = (program: CompiledPolicy['validations'][number]['program']): object =>
    program.ok ? program.evaluate(activation, new Budget(10_000_000)) : {};
  if (compiled.conditions.some(({ program }) => !('value' in result(program)))) return [];
  return compiled.validations.flatMap(({ program }, index) => {
    const evaluated = result(program);
    const [, name] = 'error' in evaluated ? (/no such key: (.*)$/.exec(String(evaluated.error)) ?? []) : [];
    return name === undefined ? [] : [`spec.validations[${String(index)}].expression ${name}`];
  });
}

function isAsked(policy: Policy, { operation, resource, subResource }: AdmissionRequest): boolean {
  return (policy.matchConstraints?.resourceRules ?? []).some(
    ({ operations, resources }) =>
      subResource === undefined &&
      resources.includes(resource.resource) &&
      operations.some((one) => one === '*' || one === operation),
  );
}

describe('what may be absent in recorded policies', () => {
  const found = new Set<string>();
  const happened = new Set<string>();
  const { cases } = JSON.parse(readFileSync('test/golden/vap/realworld.json', 'utf8')) as {
    readonly cases: readonly Case[];
  };
  for (const one of cases) {
    const request = one.review?.request;
    if (request?.object === undefined || request.object === null) continue;
    for (const written of one.policies) {
      const read = readPolicy(written);
      if (!read.ok || !isAsked(read.value, request)) continue;
      const policy = read.value;
      for (const { code, field, message } of unguardedTraps(subject(policy), TYPES)) {
        const [, text = ''] = /^reads (\S*), (?:which|a key)/.exec(message) ?? [];
        if (/^spec\.validations.*\.expression$/.test(field) && !code.includes('NULL'))
          found.add(`${policy.name} ${field} ${text.split('.').at(-1) ?? ''}`);
      }
      const compiled = new PolicyCompiler(CEL, 36).compile(policy);
      for (const path of optionalPaths(request.object, PRESENCE.root(request.kind))) {
        for (const text of absent(compiled, one, request, without(request.object, path)))
          happened.add(`${policy.name} ${text}`);
      }
    }
  }

  it('is something', () => {
    expect(found.size).toBeGreaterThan(5);
    expect(happened.size).toBeGreaterThan(5);
  });

  it('leaves the expression without a result, each of it', () => {
    expect([...found].filter((text) => !happened.has(text))).toEqual([]);
  });

  it('is all that does', () => {
    // Of what stands in several validations, the first is named.
    const named = new Set([...found].map((text) => text.replace(/\[\d+\]/, '')));
    expect([...happened].filter((text) => !named.has(text.replace(/\[\d+\]/, '')))).toEqual([]);
  });
});

describe('elements of lists that were put together', () => {
  const containers = [
    { name: 'a', image: 'i', args: ['x'] },
    { name: 'b', image: 'i', env: [{ name: 'E' }] },
    { name: 'c', image: 'i', args: ['x'], env: [{ name: 'E' }] },
  ];
  const objects = [
    { kind: 'Pod', spec: { containers, ephemeralContainers: containers } },
    { kind: 'Deployment', spec: { template: { spec: { containers } } } },
  ];
  const outcome = (expression: string, object: object): object => {
    const compiled = new PolicyCompiler(CEL, 36).compile(policyOf([expression], {}, [PODS, DEPLOYMENTS]));
    const [validation] = compiled.validations;
    if (validation?.program.ok !== true) throw new Error(`${expression} does not compile`);
    const activation = withVariables({ object } as never, compiled.variables);
    return validation.program.evaluate(activation, new Budget(10_000_000));
  };

  it.each(LISTS)('have a result or none, as lint says: %s', (_what, list, good, bad) => {
    for (const object of objects) {
      expect(outcome(`(${list}).all(c, ${good})`, object)).toHaveProperty('value');
      expect(String((outcome(`(${list}).all(c, ${bad})`, object) as { error?: unknown }).error)).toContain(
        'no such key: ',
      );
    }
  });
});
