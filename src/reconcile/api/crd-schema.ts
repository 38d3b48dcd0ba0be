/** Parts of the schemas of CustomResourceDefinitions, as controller-gen writes them from Go types. */

export type Schema = Readonly<Record<string, unknown>>;

export const text = (description: string, more: Schema = {}): Schema => ({
  type: 'string',
  description,
  ...more,
});
export const choice = (description: string, values: readonly string[]): Schema =>
  text(description, { enum: [...values] });
export const time = (description: string): Schema => text(description, { format: 'date-time' });
export const flag = (description: string): Schema => ({ type: 'boolean', description });
export const int32 = (description: string, more: Schema = {}): Schema => ({
  type: 'integer',
  format: 'int32',
  description,
  ...more,
});
export const int64 = (description: string): Schema => ({ type: 'integer', format: 'int64', description });
export const listOf = (description: string, items: Schema): Schema => ({ type: 'array', description, items });
export const mapOf = (description: string, values: Schema, more: Schema = {}): Schema => ({
  type: 'object',
  description,
  additionalProperties: values,
  ...more,
});
/** As Go writes them: `30m`, `1h30m`, `0`. */
export const duration = (description: string, more: Schema = {}): Schema =>
  text(description, { maxLength: 32, pattern: String.raw`^(0|([0-9]+(\.[0-9]+)?(ms|s|m|h))+)$`, ...more });
/** A list that is compared and merged by a key of its entries. */
export const listMap = (
  description: string,
  key: string,
  maxItems: number,
  items: Schema,
  more: Schema = {},
): Schema => ({
  ...listOf(description, items),
  maxItems,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
  ...more,
});
/** Checks in CEL of the API server, which must not look at `oldSelf`: delivery.md F7. */
export const rules = (...checks: readonly (readonly [rule: string, message: string])[]): Schema => ({
  'x-kubernetes-validations': checks.map(([rule, message]) => ({ rule, message })),
});
export const intOrString = (description: string): Schema => ({
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  description,
  'x-kubernetes-int-or-string': true,
});

export function object(
  description: string,
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
  more: Schema = {},
): Schema {
  return {
    type: 'object',
    description,
    properties,
    ...(required.length > 0 && { required: [...required] }),
    ...more,
  };
}

/** `metav1.Condition`, with its own patterns and bounds. */
export const CONDITIONS: Schema = {
  ...listOf(
    'Conditions, one of each type.',
    object(
      'One aspect of the current state.',
      {
        type: text('What it is about.', {
          maxLength: 316,
          pattern: String.raw`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`,
        }),
        status: choice('Whether it holds.', ['True', 'False', 'Unknown']),
        observedGeneration: { ...int64('Generation that it is about.'), minimum: 0 },
        lastTransitionTime: time('When the status last changed.'),
        reason: text('Why, as a name.', {
          maxLength: 1024,
          minLength: 1,
          pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
        }),
        message: text('Why, as a sentence.', { maxLength: 32_768 }),
      },
      ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
    ),
  ),
  'x-kubernetes-list-map-keys': ['type'],
  'x-kubernetes-list-type': 'map',
};

export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
}

export interface CrdFacts {
  readonly kind: string;
  /** Plural. */
  readonly resource: string;
  readonly group: string;
  readonly description: string;
  readonly columns: readonly PrinterColumn[];
  readonly spec?: Schema;
  /** Left out: the kind has none. */
  readonly status?: Schema;
}

const AGE: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** A namespaced kind of version v1alpha1, with the status subresource where it has a status. */
export function crd({ kind, resource, group, description, columns, spec, status }: CrdFacts): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource}.${group}`, labels: { 'app.kubernetes.io/name': 'pacto-gate' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural: resource, singular: kind.toLowerCase() },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          additionalPrinterColumns: [...columns, AGE],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                ...(spec !== undefined && { spec }),
                ...(status !== undefined && { status }),
              },
              ...(spec !== undefined && { required: ['spec'] }),
            },
          },
          ...(status !== undefined && { subresources: { status: {} } }),
        },
      ],
    },
  };
}
