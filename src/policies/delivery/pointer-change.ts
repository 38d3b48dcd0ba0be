/** What a change does to the pointer of a Stage, row by row of delivery.md §2.3. */
import type { AdmissionRequest } from '../../cluster/objects.ts';
import { at, canonicalJson, isRecord, sameJson } from '../identity/foreign.ts';
import type { PointerChange } from './change.ts';
import { FORCE_ANNOTATION, stageOf } from './classify.ts';
import { DELIVERY_GROUP } from './names.ts';
import { pinOf } from './pin.ts';
import type { PointerField, StagePointer } from './stage.ts';

/** How a chart is verified is a part of it that stands deeper. */
const VERIFY_CHART = 'chart.spec.verify';

interface Fields {
  /** Row 6: what the pin is looked up in, and how it is verified. */
  readonly identity: readonly string[];
  /** Rows 11 and 14: another release of the same source. */
  readonly release: readonly string[];
  /** Rows 12 and 15. */
  readonly config: readonly string[];
}

/** Members of `spec` by what they mean; what is not named here is of no weight. */
const SOURCE: Fields = {
  identity: ['url', 'provider', 'insecure', 'verify', 'layerSelector', 'certSecretRef'],
  // They make other content of the same digest or commit.
  release: ['ignore', 'include', 'recurseSubmodules', 'sparseCheckout'],
  config: [],
};
const FIELDS: Readonly<Record<PointerField, Fields>> = {
  ociDigest: SOURCE,
  gitCommit: SOURCE,
  chartVersion: {
    identity: [VERIFY_CHART],
    release: ['chart', 'chartRef'],
    config: ['values', 'valuesFrom', 'postRenderers'],
  },
  kustomizeImageDigest: {
    identity: [],
    release: ['path', 'sourceRef'],
    config: [
      'images',
      'patches',
      'patchesStrategicMerge',
      'patchesJson6902',
      'components',
      'postBuild',
      'namePrefix',
      'nameSuffix',
      'commonMetadata',
    ],
  },
  configKey: { identity: [], release: [], config: [] },
};

/** Never throws; objects may have any shape. */
export function pointerChangeOf(request: AdmissionRequest, pointer: StagePointer): PointerChange {
  const { object, oldObject, operation, namespace = '' } = request;
  const isCreate = operation === 'CREATE';
  const from = isCreate ? undefined : pinOf(oldObject, pointer);
  const to = operation === 'DELETE' ? undefined : pinOf(object, pointer);
  const oldStage = stageOf(oldObject, namespace);
  const fields = FIELDS[pointer.field];
  const changed = isCreate || to === undefined ? [] : changedMembers(oldObject, object, pointer);
  const of = (names: readonly string[]): readonly string[] =>
    changed.filter((name) => names.includes(name)).map((name) => `spec.${name}`);
  return {
    from,
    to,
    isCreate,
    moves: to !== undefined && (from?.value !== to.value || from.isPinned !== to.isPinned),
    resumes: !isCreate && at(oldObject, 'spec', 'suspend') === true && at(object, 'spec', 'suspend') !== true,
    identity: of(fields.identity),
    release: of(fields.release),
    config: [...of(fields.config), ...dataBeside(request, pointer)],
    weakened: isCreate || to === undefined ? [] : weakenedOf(oldObject, object),
    forceOn: !isForced(oldObject) && isForced(object),
    leaves: oldStage !== undefined && !sameJson(oldStage, stageOf(object, namespace)),
    rest: changed.filter((name) => !isNamed(name, fields)).map((name) => `spec.${name}`),
  };
}

function isNamed(name: string, { identity, release, config }: Fields): boolean {
  return [identity, release, config].some((names) => names.includes(name)) || name === 'suspend';
}

/** Members of `spec` that differ, without the pin itself. */
function changedMembers(before: unknown, after: unknown, pointer: StagePointer): readonly string[] {
  const old = withoutPin(at(before, 'spec'), pointer);
  const next = withoutPin(at(after, 'spec'), pointer);
  const names = new Set([...Object.keys(old), ...Object.keys(next)]);
  return [...names].filter((name) => !sameJson(old[name] ?? null, next[name] ?? null)).toSorted();
}

function withoutPin(spec: unknown, { field, key }: StagePointer): Readonly<Record<string, unknown>> {
  if (!isRecord(spec)) return {};
  switch (field) {
    case 'ociDigest':
    case 'gitCommit': {
      const { ref: _, ...rest } = spec;
      return rest;
    }
    case 'chartVersion': {
      const { chart, ...rest } = spec;
      if (!isRecord(chart)) return spec;
      // How often it is looked for is of no weight.
      const { version: _, interval: __, verify, ...template } = isRecord(chart['spec']) ? chart['spec'] : {};
      return { ...rest, chart: template, [VERIFY_CHART]: verify };
    }
    case 'kustomizeImageDigest': {
      const { images, ...rest } = spec;
      return {
        ...rest,
        images: Array.isArray(images) ? images.map((image) => unpinnedImage(image, key)) : images,
      };
    }
    case 'configKey':
      return spec;
  }
}

/** The image of the pin with whatever else it says; `newTag` beside a digest is of no effect. */
function unpinnedImage(image: unknown, key: string): unknown {
  if (!isRecord(image) || image['name'] !== key) return image;
  const { digest: _, newTag: __, ...rest } = image;
  return rest;
}

/** Row 16: other keys of a ConfigMap that is a pointer. */
function dataBeside(
  { object, oldObject, operation }: AdmissionRequest,
  pointer: StagePointer,
): readonly string[] {
  if (pointer.field !== 'configKey' || operation !== 'UPDATE') return [];
  return ['data', 'binaryData'].filter((member) => {
    const without = (value: unknown): unknown => {
      const found = at(value, member);
      if (!isRecord(found)) return {};
      return Object.fromEntries(
        Object.entries(found).filter(([key]) => member !== 'data' || key !== pointer.key),
      );
    };
    return !sameJson(without(oldObject), without(object));
  });
}

/**
 * Row 13: health checks of a Stage, and whatever the object waited for (a gate is a Kustomization like another there).
 */
function weakenedOf(before: unknown, after: unknown): readonly string[] {
  const lost = (name: string, carriesGate: (entry: unknown) => boolean): readonly string[] => {
    const left = new Set(entriesAt(after, name).map(canonicalJson));
    const gone = entriesAt(before, name).filter((entry) => !left.has(canonicalJson(entry)));
    return gone.some(carriesGate) ? [`spec.${name}`] : [];
  };
  return [
    ...lost('healthChecks', isStage),
    ...lost('healthCheckExprs', isStage),
    ...lost('dependsOn', () => true),
  ];
}

function isStage(entry: unknown): boolean {
  const apiVersion = at(entry, 'apiVersion');
  return (
    at(entry, 'kind') === 'Stage' &&
    typeof apiVersion === 'string' &&
    apiVersion.startsWith(`${DELIVERY_GROUP}/`)
  );
}

function entriesAt(object: unknown, name: string): readonly unknown[] {
  const list = at(object, 'spec', name);
  return Array.isArray(list) ? list : [];
}

function isForced(object: unknown): boolean {
  const annotation = at(object, 'metadata', 'annotations', FORCE_ANNOTATION);
  return (
    at(object, 'spec', 'force') === true ||
    (typeof annotation === 'string' && annotation.toLowerCase() === 'enabled')
  );
}
