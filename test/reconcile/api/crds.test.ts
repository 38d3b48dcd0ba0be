/** The CustomResourceDefinitions of Pacto's own kinds (operator.md §1). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { crdFiles } from '../../../scripts/crds.ts';
import { NODE_RUNTIME_OBSERVATION_CRD } from '../../../src/reconcile/api/node-runtime-observation-crd.ts';
import { PACTO_CRD } from '../../../src/reconcile/api/pacto-crd.ts';
import { PACTO_REVISION_CRD } from '../../../src/reconcile/api/pacto-revision-crd.ts';
import { CONTRACT_STATUSES } from '../../../src/policies/contract/status-ladder.ts';
import { WORKLOAD_KINDS } from '../../../src/reconcile/target.ts';
import { recordedStatuses } from '../../gitops/recorded-statuses.ts';
import { taker, type Structural } from './structural-schema.ts';

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: Readonly<Record<string, string>>;
    readonly versions: readonly [
      {
        readonly name: string;
        readonly served: boolean;
        readonly storage: boolean;
        readonly subresources: object;
        readonly additionalPrinterColumns: readonly {
          readonly name: string;
          readonly type: string;
          readonly jsonPath: string;
        }[];
        readonly schema: { readonly openAPIV3Schema: Structural };
      },
    ];
  };
}

interface Vector {
  readonly id: string;
  readonly op: 'create' | 'status';
  readonly input: {
    readonly object: Readonly<Record<string, unknown>> & { readonly kind: string; readonly spec?: unknown };
    readonly fieldValidation: string;
  };
  readonly answer: {
    readonly accepted: boolean;
    readonly code: number;
    readonly spec?: unknown;
    readonly status?: unknown;
  };
}

const CRDS = [PACTO_CRD, PACTO_REVISION_CRD, NODE_RUNTIME_OBSERVATION_CRD] as readonly Definition[];
const schemaOf = (crd: object): Structural => (crd as Definition).spec.versions[0].schema.openAPIV3Schema;

/** Every schema within, with where it is. */
function* within(schema: Structural, path: string): Iterable<readonly [string, Structural]> {
  yield [path, schema];
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    yield* within(field, `${path}.${name}`);
  if (schema.items !== undefined) yield* within(schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) yield* within(schema.additionalProperties, `${path}{}`);
}

describe('definitions', () => {
  it('are in the repository as they are made: npm run crds', async () => {
    const files = await crdFiles();
    expect(files.size).toBe(7);
    for (const [file, text] of files) expect([file, readFileSync(file, 'utf8')]).toEqual([file, text]);
  });

  it('are served and stored as v1alpha1 of upstream’s group, with a status of their own', () => {
    expect(CRDS.map(({ metadata }) => metadata.name)).toEqual([
      'pactos.pacto.trianalab.io',
      'pactorevisions.pacto.trianalab.io',
      'noderuntimeobservations.pacto.trianalab.io',
    ]);
    for (const { spec } of CRDS) {
      expect(spec).toMatchObject({ group: 'pacto.trianalab.io', scope: 'Namespaced' });
      expect(spec.versions).toMatchObject([
        { name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } },
      ]);
    }
    expect(CRDS.map(({ spec }) => spec.names)).toEqual(
      ['Pacto', 'PactoRevision', 'NodeRuntimeObservation'].map((kind) => ({
        kind,
        listKind: `${kind}List`,
        plural: `${kind.toLowerCase()}s`,
        singular: kind.toLowerCase(),
      })),
    );
  });

  it('are structural: each field has a type and what is required is there, named in the order of the alphabet', () => {
    const all = CRDS.flatMap((crd) => [...within(schemaOf(crd), crd.metadata.name)]);
    const untyped = all.filter(
      ([, schema]) => schema.type === undefined && schema['x-kubernetes-int-or-string'] !== true,
    );
    const disordered = all.filter(([, { required = [], properties = {} }]) => {
      const known = Object.keys(properties).sort((a, b) => (a < b ? -1 : 1));
      return required.join() !== known.filter((name) => required.includes(name)).join();
    });
    expect(all.length).toBeGreaterThan(150);
    expect([...untyped, ...disordered].map(([path]) => path)).toEqual([]);
  });

  it.each<readonly [string, Definition, readonly string[]]>([
    [
      'Pacto',
      CRDS[0]!,
      [
        'Status string .status.contractStatus',
        'Service string .spec.target.serviceName',
        'Version string .status.contractVersion',
        'Errors integer .status.summary.errorCount',
        'Warnings integer .status.summary.warningCount',
        'Last Reconciled date .status.lastReconciledAt',
        'Age date .metadata.creationTimestamp',
      ],
    ],
    [
      'PactoRevision',
      CRDS[1]!,
      [
        'Version string .spec.version',
        'Pacto string .spec.pactoRef',
        'Resolved boolean .status.resolved',
        'Age date .metadata.creationTimestamp',
      ],
    ],
  ])('show of a %s what upstream shows', (_kind, { spec }, columns) => {
    expect(
      spec.versions[0].additionalPrinterColumns.map(
        ({ name, type, jsonPath }) => `${name} ${type} ${jsonPath}`,
      ),
    ).toEqual(columns);
  });

  it('know the verdicts and the kinds of workloads that the program knows', () => {
    const words = new Map(
      [...within(schemaOf(PACTO_CRD), '$')].map(([path, schema]) => [
        path,
        (schema as { readonly enum?: readonly string[] }).enum,
      ]),
    );
    expect(new Set(words.get('$.status.contractStatus'))).toEqual(new Set(CONTRACT_STATUSES));
    expect(words.get('$.spec.target.workloadRef.kind')).toEqual(WORKLOAD_KINDS.map(({ kind }) => kind));
  });
});

describe('what is recorded of upstream’s definitions', () => {
  const take = {
    Pacto: taker(schemaOf(PACTO_CRD)),
    PactoRevision: taker(schemaOf(PACTO_REVISION_CRD)),
  };
  const takes = ({ kind, ...object }: Vector['input']['object']): ReturnType<typeof take.Pacto> =>
    take[kind as keyof typeof take]({ kind, ...object });

  it.each(['crd-pacto', 'crd-pacto-status', 'crd-revision'])('is so here: %s', (family) => {
    const vectors = JSON.parse(
      readFileSync(`test/golden/operator/${family}.json`, 'utf8'),
    ) as readonly Vector[];
    expect(vectors.length).toBeGreaterThan(20);
    const wrong = vectors.filter(({ op, input, answer }) => {
      const { status, ...made } = input.object;
      const taken = takes(op === 'create' ? made : { ...made, status });
      // Strict refuses what would be dropped, whatever the schema says.
      if (answer.code === 400) return false;
      if (taken.ok !== answer.accepted) return true;
      if (!taken.ok) return false;
      const { spec, status: kept } = taken.value as Record<string, unknown>;
      const same = (a: unknown, b: unknown): boolean =>
        JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
      return !same(spec, answer.spec) || (op === 'status' && !same(kept, answer.status));
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  it('fits as a status, and nothing of it is dropped', () => {
    for (const { id, status } of recordedStatuses()) {
      // Times are relative in the recordings.
      const absolute: unknown = JSON.parse(
        JSON.stringify(status).replaceAll(/"T[+-]\d+(\.\d+)?"/g, '"2026-05-01T10:00:00Z"'),
      );
      const object = { spec: { contractRef: {}, checkIntervalSeconds: 30 }, status: absolute };
      expect([id, take.Pacto(object)]).toEqual([id, { ok: true, value: object }]);
    }
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  );
}

describe('NodeRuntimeObservation', () => {
  const take = taker(schemaOf(NODE_RUNTIME_OBSERVATION_CRD));
  const withPod = (pod: object): object => ({ status: { state: 'Ready', pods: [pod] } });
  const POD = { uid: 'u', namespace: 'n', name: 'p' };

  it('takes what the example cluster holds, whole', () => {
    const objects = parseAllDocuments(readFileSync('examples/cluster/observations.yaml', 'utf8')).map(
      (document) => document.toJS() as object,
    );
    expect(objects.length).toBeGreaterThan(1);
    for (const object of objects) expect(take(object)).toEqual({ ok: true, value: object });
  });

  it('is in the example cluster as it is shipped', () => {
    const example = parse(
      readFileSync('examples/cluster/noderuntimeobservations.crd.yaml', 'utf8'),
    ) as Definition;
    expect(example.spec).toEqual(CRDS[2]?.spec);
  });

  it.each<readonly [string, object]>([
    ['a Failed one with its reason', { status: { state: 'Failed', reason: 'no BTF' } }],
    ['one that says nothing yet', {}],
    [
      'a Pod on the network of its node',
      withPod({ ...POD, hostNetwork: true, listeners: [], connections: [] }),
    ],
    [
      'a connection that failed and once came about',
      withPod({
        ...POD,
        connections: [
          {
            destIP: 'fd00::1',
            destPort: 65_535,
            lastSuccess: '2026-05-01T10:00:00Z',
            lastFailure: '2026-05-01T10:01:00.5Z',
          },
        ],
      }),
    ],
  ])('takes %s', (_title, object) => {
    expect(take(object)).toEqual({ ok: true, value: object });
  });

  it.each<readonly [string, object]>([
    ['a state that is none', { status: { state: 'Unknown' } }],
    ['a Pod without uid', withPod({ namespace: 'n', name: 'p' })],
    ['a port of 0', withPod({ ...POD, listeners: [{ port: 0, protocol: 'TCP' }] })],
    ['a port beyond 65535', withPod({ ...POD, connections: [{ destIP: '::1', destPort: 65_536 }] })],
    [
      'a time that is none',
      withPod({ ...POD, connections: [{ destIP: '::1', destPort: 1, lastFailure: 'now' }] }),
    ],
  ])('refuses %s', (_title, object) => {
    expect(take(object)).toEqual({ ok: false });
  });
});
