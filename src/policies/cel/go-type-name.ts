/** Go's own names of the types of values: some of cel-go's error texts show them. */
import { typeNameOf } from './type-name.ts';
import { Opaque, Optional, type Value } from './values.ts';

/** By the name of the runtime type. */
const GO_NAMES: Readonly<Record<string, string>> = {
  bool: 'types.Bool',
  bytes: 'types.Bytes',
  double: 'types.Double',
  'google.protobuf.Duration': 'types.Duration',
  'google.protobuf.Timestamp': 'types.Timestamp',
  int: 'types.Int',
  list: '*types.baseList',
  map: '*types.baseMap',
  null_type: 'types.Null',
  optional_type: '*types.Optional',
  string: 'types.String',
  type: '*types.Type',
  uint: 'types.Uint',
  error: '*types.Err',
  'kubernetes.NamedFormat': 'cel.Format',
  'kubernetes.Quantity': 'cel.Quantity',
  'kubernetes.Semver': 'cel.Semver',
  'kubernetes.URL': 'cel.URL',
  'net.CIDR': 'cel.CIDR',
  'net.IP': 'cel.IP',
  'kubernetes.authorization.Authorizer': 'library.authorizerVal',
  'kubernetes.authorization.PathCheck': 'library.pathCheckVal',
  'kubernetes.authorization.GroupCheck': 'library.groupCheckVal',
  'kubernetes.authorization.ResourceCheck': 'library.resourceCheckVal',
  'kubernetes.authorization.Decision': 'library.decisionVal',
  'kubernetes.variables': '*lazy.MapValue',
};

/** Of a value that cel-go holds as its own (`types.Int`). */
export function goTypeName(value: Value): string {
  const own = value instanceof Opaque ? value.goType() : undefined;
  if (own !== undefined) return own;
  const name = typeNameOf(value);
  return GO_NAMES[name] ?? name;
}

/** Of a value as it lies in a review, not taken over by cel-go yet. */
export function goNativeTypeName(value: Value): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  return typeof value === 'object' && !(value instanceof Optional) && typeNameOf(value) === 'map'
    ? 'map[string]interface {}'
    : goTypeName(value);
}
