/** Reads a Pacto as it lies in the cluster: what others wrote, upstream among them, with nothing taken for granted. */
import * as z from 'zod';
import type { KubeObject } from '../../cluster/objects.ts';
import { CONTRACT_STATUSES } from '../../policies/contract/status-ladder.ts';
import type { Pacto, PactoSpec, PactoStatus } from './pacto.ts';

/** operator.md §1.1.1, and §3.2 step 20 for a senseless one. */
const DEFAULT_INTERVAL_SECONDS = 300;
/** An int32; not every API server refuses what is none (1.29 takes it). */
const LONGEST_INTERVAL_SECONDS = 2 ** 31 - 1;
/** Of each list; the CRD has no bound. */
const ENTRIES = 1_000;

const text = z.string().optional().catch(undefined);

/** Entries that make no sense are passed over. */
function listOf<S extends z.ZodType>(entry: S): z.ZodType<readonly z.output<S>[]> {
  return z
    .array(z.unknown())
    .catch([])
    .transform((all) =>
      all.slice(0, ENTRIES).flatMap((one) => {
        const read = entry.safeParse(one);
        return read.success ? [read.data] : [];
      }),
    );
}

const target = z
  .object({
    serviceName: text,
    workloadRef: z.object({ name: z.string(), kind: text }).optional().catch(undefined),
    interfaceBindings: listOf(
      z.object({ interface: z.string(), servicePort: z.union([z.int(), z.string()]) }),
    ),
    configBindings: listOf(
      z.object({
        configuration: z.string(),
        kind: z.enum(['ConfigMap', 'Secret']),
        name: z.string(),
        key: text,
        format: text,
      }),
    ),
  })
  .optional()
  .catch(undefined);

const spec = z.object({
  contractRef: z
    .object({ oci: z.string().catch(''), inline: text, pullSecretRef: text })
    .catch({ oci: '', inline: undefined, pullSecretRef: undefined }),
  target,
  overrides: z
    .object({
      configurations: listOf(z.object({ name: z.string(), values: z.record(z.string(), z.string()) })),
    })
    .catch({ configurations: [] }),
  checkIntervalSeconds: z.int().min(1).max(LONGEST_INTERVAL_SECONDS).catch(DEFAULT_INTERVAL_SECONDS),
});

const condition = z.object({
  type: z.enum(['ContractValid', 'RuntimeObserved', 'ReadinessSatisfied']),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string(),
  message: z.string().catch(''),
  observedGeneration: z.int().catch(0),
  lastTransitionTime: z.string(),
});

const window = z.object({
  kind: z.enum(['interface', 'dependency', 'configuration', 'capability']),
  subject: z.string(),
  firstObservedNegativeAt: z.string(),
});

/** What decides how the next look goes on from this status; the rest of it is only compared. */
const status = z.object({
  contractStatus: z.enum(CONTRACT_STATUSES).optional().catch(undefined),
  currentRevision: text,
  observedGeneration: z.int().optional().catch(undefined),
  lastReconciledAt: text,
  observationWindows: listOf(window),
  conditions: listOf(condition),
});

/** Never throws: what makes no sense is not there. An empty secret reference is none. */
export function readPacto(object: KubeObject): Pacto {
  const { namespace = '', name = '', uid = '', generation = 0, resourceVersion = '' } = object.metadata;
  return {
    namespace,
    name,
    uid,
    generation,
    resourceVersion,
    spec: specOf(object['spec']),
    status: statusOf(object['status']),
  };
}

function specOf(value: unknown): PactoSpec {
  const read = spec.parse(isFields(value) ? { target: undefined, overrides: {}, ...value } : {});
  const { oci, inline, pullSecretRef } = read.contractRef;
  return {
    contractRef: { oci, inline, pullSecretRef: pullSecretRef === '' ? undefined : pullSecretRef },
    target: read.target && {
      ...read.target,
      configBindings: read.target.configBindings.map(withoutEmpty),
    },
    overrides: read.overrides.configurations,
    checkIntervalSeconds: read.checkIntervalSeconds,
  };
}

type Binding = NonNullable<PactoSpec['target']>['configBindings'][number];

function withoutEmpty(binding: {
  readonly configuration: string;
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly key?: string | undefined;
  readonly format?: string | undefined;
}): Binding {
  const { configuration, kind, name, key, format } = binding;
  return {
    configuration,
    kind,
    name,
    ...(key !== undefined && key !== '' && { key }),
    ...(format !== undefined && format !== '' && { format }),
  };
}

function statusOf(value: unknown): PactoStatus {
  if (!isFields(value)) return {};
  const read = status.parse(value);
  const defined = Object.entries(read).filter(
    ([, field]) => field !== undefined && !(Array.isArray(field) && field.length === 0),
  );
  const rest = Object.entries(value).filter(([key]) => !Object.hasOwn(status.shape, key));
  return Object.fromEntries([...rest, ...defined]) as PactoStatus;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
