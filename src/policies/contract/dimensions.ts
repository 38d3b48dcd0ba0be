/**
 * What operator 6.4 checks beside the assertions of contract.md §6.1: the protocol and the exposure of an interface and the
 * version of a dependency. Only a conclusive contradiction says something, at once; no or an inconclusive observation says
 * nothing, and coverage does not count them (operator.md §§5.2 to 5.4 and the walk-through that 5.2 names).
 */
import type { ObservationKind, ObservedValue, Subject, WireProtocol } from '../observation.ts';
import { quote } from '../quote.ts';
import type { Contradiction } from './assertions.ts';
import { parseConstraint } from './constraint.ts';
import type { Dependency, Interface } from './contract.ts';
import { parseVersion } from './version.ts';

/** Payload of a conclusive observation; undefined for any other, and for none. */
type ValueOf = (kind: ObservationKind, name: string) => ObservedValue | undefined;

export interface Violation extends Contradiction {
  readonly subject: Subject;
  readonly contractPath: string;
}

/** Versions that a message names. */
const NAMED_VERSIONS = 3;

/** The wire protocol of each type of interface that has one; `asyncapi` has none (operator.md §5.2). */
const PROTOCOLS = new Map<string, WireProtocol>([
  ['openapi', 'http'],
  ['grpc', 'grpc'],
]);

const SPOKEN: Readonly<Record<WireProtocol, string>> = {
  http: 'HTTP',
  grpc: 'gRPC',
  other: 'neither HTTP nor gRPC',
};

export function interfaceViolations(declared: Interface, valueOf: ValueOf): readonly Violation[] {
  return [protocolViolation(declared, valueOf), exposureViolation(declared, valueOf)].filter(
    (violation) => violation !== undefined,
  );
}

function protocolViolation({ name, type }: Interface, valueOf: ValueOf): Violation | undefined {
  const wanted = PROTOCOLS.get(type);
  const spoken = valueOf('InterfaceProtocolObserved', name)?.protocol;
  if (wanted === undefined || spoken === undefined || spoken === wanted) return undefined;
  return {
    code: 'INTERFACE_PROTOCOL_MISMATCH',
    subject: { kind: 'interface', name },
    contractPath: `interfaces[name=${name}].type`,
    message: `interface ${quote(name)} is declared as ${type}, and its port speaks ${SPOKEN[spoken]}`,
  };
}

/** A public interface that nothing was seen to publish is not proved to be internal (operator.md §5.3). */
function exposureViolation({ name, visibility }: Interface, valueOf: ValueOf): Violation | undefined {
  const exposure = valueOf('InterfaceExposureObserved', name)?.exposure;
  if (exposure !== 'external' || visibility === 'public') return undefined;
  const declared =
    visibility === undefined || visibility === '' ? 'internal, as it says nothing' : 'internal';
  return {
    code: 'INTERFACE_VISIBILITY_MISMATCH',
    subject: { kind: 'interface', name },
    contractPath: `interfaces[name=${name}].visibility`,
    message: `interface ${quote(name)} is declared as ${declared}, and a public address leads to it`,
  };
}

/** A mismatch where no target fits and the version of each is known (operator.md §5.4). */
export function dependencyViolation(dependency: Dependency, valueOf: ValueOf): Violation | undefined {
  const { name, compatibility } = dependency;
  const observed = valueOf('DependencyVersionObserved', name)?.versions ?? [];
  if (observed.length === 0) return undefined;
  const parsed = parseConstraint(compatibility);
  if (!parsed.ok) return undefined;
  const isOutside = observed.every((text) => {
    const version = parseVersion(text);
    return version !== undefined && !parsed.constraint.matches(version);
  });
  if (!isOutside) return undefined;
  const named = observed.slice(0, NAMED_VERSIONS).map(quote).join(', ');
  const more =
    observed.length > NAMED_VERSIONS ? ` and ${String(observed.length - NAMED_VERSIONS)} more` : '';
  return {
    code: 'DEPENDENCY_VERSION_MISMATCH',
    subject: { kind: 'dependency', name },
    contractPath: `dependencies[name=${name}].compatibility`,
    message: `dependency ${quote(name)} runs in version ${named}${more}, outside ${quote(compatibility)}`,
  };
}
