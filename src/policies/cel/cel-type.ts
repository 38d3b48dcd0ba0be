/** Static types, as the checker knows them. */

export type CelType =
  | {
      readonly kind:
        | 'dyn'
        | 'bool'
        | 'int'
        | 'uint'
        | 'double'
        | 'string'
        | 'bytes'
        | 'null'
        | 'timestamp'
        | 'duration'
        | 'any'
        | 'error';
    }
  | { readonly kind: 'list'; readonly element: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType }
  | { readonly kind: 'optional'; readonly value: CelType }
  | { readonly kind: 'type'; readonly of?: CelType }
  /** `google.protobuf.Int64Value` and its like: a value of `of`, or null. */
  | { readonly kind: 'wrapper'; readonly of: CelType }
  /** A type parameter of an overload: `A`, `K`, `V`. */
  | { readonly kind: 'param'; readonly name: string }
  /** `kubernetes.Quantity`, `net.IP`, … */
  | { readonly kind: 'opaque'; readonly name: string }
  /** `request` and `namespaceObject`: what is not a field does not compile. Fields are named as cel-go names them. */
  | { readonly kind: 'struct'; readonly name: string; readonly fields: ReadonlyMap<string, CelType> };

export const DYN: CelType = { kind: 'dyn' };
export const BOOL: CelType = { kind: 'bool' };
export const INT: CelType = { kind: 'int' };
export const UINT: CelType = { kind: 'uint' };
export const DOUBLE: CelType = { kind: 'double' };
export const STRING: CelType = { kind: 'string' };
export const BYTES: CelType = { kind: 'bytes' };
export const NULL: CelType = { kind: 'null' };
export const TIMESTAMP: CelType = { kind: 'timestamp' };
export const DURATION: CelType = { kind: 'duration' };

export function listOf(element: CelType): CelType {
  return { kind: 'list', element };
}

export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: 'map', key, value };
}

export function optionalOf(value: CelType): CelType {
  return { kind: 'optional', value };
}

export function opaque(name: string): CelType {
  return { kind: 'opaque', name };
}

export function param(name: string): CelType {
  return { kind: 'param', name };
}
