/**
 * The cases of the kubescape set (public library, read where it lies), made to stand side by side: all its policies are
 * in force at once, and each binding looks at the objects of its own cases alone.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../../../../src/cluster/objects.ts';
import { readJson } from '../../../../src/json.ts';
import { collectionOf, writable, type Prepared } from '../case-objects.ts';
import type { PolicyCase } from '../policy-cases.ts';
import type { ParityCase, Sending } from './parity-case.ts';

/** The label by which the set's bindings choose objects. */
const LABEL = 'admission-policy-test';

/** The kind of the set's parameters. */
export const KUBESCAPE_PARAMS = {
  kept: {
    apiVersion: 'kubescape.io/v1',
    kind: 'ControlConfiguration',
    path: '/apis/kubescape.io/v1/controlconfigurations',
  },
  configured: 'kubescape.io/v1/ControlConfiguration:Cluster',
} as const;

type Mutable = Record<string, unknown>;

export interface KubescapeSet {
  readonly definition: KubeObject;
  readonly sendings: readonly Sending[];
  readonly policies: readonly KubeObject[];
  readonly bindings: readonly KubeObject[];
  /** Namespaces, parameters and what is updated. */
  readonly prepared: readonly (readonly Prepared[])[];
}

/** @param directory with cases.json, derived.json and parameter-crd.yaml */
export function readKubescape(directory: string): KubescapeSet {
  const cases = ['cases.json', 'derived.json'].flatMap(
    (file) => readJson(readFileSync(join(directory, file))) as readonly PolicyCase[],
  );
  const variants = new Map<string, Variant>();
  const policies = new Map<string, KubeObject>();
  const placed: { readonly one: ParityCase; readonly old: KubeObject | undefined }[] = [];
  for (const one of cases) {
    const policy = one.policies[0] as KubeObject;
    policies.set(policy.metadata.name ?? '', policy);
    const variant = variantOf(one, variants);
    placed.push(place(one, variant));
  }
  return {
    definition: parse(readFileSync(join(directory, 'parameter-crd.yaml'), 'utf8')) as KubeObject,
    sendings: sendingsOf(placed.map(({ one }) => one)),
    policies: [...policies.values()],
    bindings: [...variants.values()].map(({ binding }) => binding),
    prepared: preparedFor(
      [...variants.values()],
      placed.flatMap(({ old }) => (old === undefined ? [] : [old])),
    ),
  };
}

/** A binding of the set with its parameters, under names and a label of its own. */
interface Variant {
  readonly label: string;
  readonly binding: KubeObject;
  readonly params: readonly KubeObject[];
}

function variantOf(one: PolicyCase, variants: Map<string, Variant>): Variant {
  const key = JSON.stringify([one.policies, one.bindings, one.params]);
  const known = variants.get(key);
  if (known !== undefined) return known;
  const label = `k${variants.size}`;
  const binding = structuredClone(one.bindings[0]) as KubeObject & {
    spec: { paramRef: { name: string }; matchResources: { objectSelector: { matchLabels: Mutable } } };
  };
  const { paramRef, matchResources } = binding.spec;
  const params = one.params.map((param) => {
    const body = writable(param);
    return { ...body, metadata: { ...body.metadata, name: `${String(body.metadata.name)}-${label}` } };
  });
  paramRef.name = `${paramRef.name}-${label}`;
  matchResources.objectSelector.matchLabels[LABEL] = label;
  const metadata = { ...binding.metadata, name: `${String(binding.metadata.name)}-${label}` };
  const variant = { label, binding: { ...binding, metadata }, params };
  variants.set(key, variant);
  return variant;
}

function place(
  one: PolicyCase,
  { label, binding }: Variant,
): { readonly one: ParityCase; readonly old: KubeObject | undefined } {
  const { request } = one.review;
  const isUpdate = request.operation === 'UPDATE';
  // Several updates of the set are about an object of the same name.
  const namespace = isUpdate ? `kubescape-${one.id.split('/').slice(1).join('-').toLowerCase()}` : undefined;
  const object = labelled(request.object as KubeObject, label, namespace);
  const old = isUpdate ? labelled(request.oldObject as KubeObject, label, namespace) : undefined;
  return {
    one: {
      ...one,
      family: 'kubescape',
      bindings: [binding],
      request: { method: isUpdate ? 'PUT' : 'POST', path: '', body: object, user: request.userInfo },
      allowed: one.answer.allowed,
    },
    old,
  };
}

/** The object as somebody would write it who means this binding. */
function labelled(object: KubeObject, label: string, namespace: string | undefined): KubeObject {
  const body = structuredClone(writable(object)) as KubeObject & { status?: unknown; spec?: Mutable };
  delete body.status;
  if (body.kind === 'Job') withoutGenerated(body);
  if (body.kind === 'Service') withoutAddresses(body.spec ?? {});
  return {
    ...body,
    metadata: {
      ...body.metadata,
      ...(namespace !== undefined && { namespace }),
      labels: { ...body.metadata.labels, [LABEL]: label },
    },
  };
}

/** A Job gets a selector by its uid from the API server, and may not bring one. */
function withoutGenerated(job: KubeObject & { spec?: Mutable }): void {
  const { spec = {} } = job;
  delete spec['selector'];
  const template = spec['template'] as { metadata: { labels?: Mutable } };
  for (const labels of [job.metadata.labels as Mutable | undefined, template.metadata.labels]) {
    for (const key of Object.keys(labels ?? {})) {
      if (/(?:^|\/)(?:controller-uid|job-name)$/.test(key)) delete labels?.[key];
    }
  }
}

function withoutAddresses(spec: Mutable): void {
  delete spec['clusterIP'];
  delete spec['clusterIPs'];
  for (const port of (spec['ports'] ?? []) as Mutable[]) delete port['nodePort'];
  delete spec['healthCheckNodePort'];
}

/** One kubectl for all cases of a policy that are created, and one for those that are replaced. */
function sendingsOf(cases: readonly ParityCase[]): readonly Sending[] {
  const sendings = new Map<string, ParityCase[]>();
  for (const one of cases) {
    const control = one.id.split('/')[1] ?? '';
    const verb = one.request.method === 'PUT' ? 'replace' : 'create';
    const id = `${verb}/${control.toLowerCase()}`;
    sendings.set(id, [...(sendings.get(id) ?? []), one]);
  }
  return [...sendings].map(([id, some]) => ({
    id: id.replace('/', '-'),
    cases: some,
    batch: id.startsWith('create') ? 'create' : 'replace',
  }));
}

function preparedFor(
  variants: readonly Variant[],
  olds: readonly KubeObject[],
): readonly (readonly Prepared[])[] {
  const namespaces = new Set(['test-namespace', ...olds.map(({ metadata }) => metadata.namespace ?? '')]);
  return [
    [...namespaces].map((name) => ({
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    })),
    [
      ...variants.flatMap(({ params }) => params.map((body) => ({ path: KUBESCAPE_PARAMS.kept.path, body }))),
      ...olds.map((body) => ({ path: collectionOf(body, pluralOf(body)), body })),
    ],
  ];
}

/** Plurals of the set's kinds are regular, but for Ingress. */
function pluralOf({ kind }: KubeObject): string {
  return `${kind.toLowerCase()}${kind.endsWith('s') ? 'es' : 's'}`;
}
