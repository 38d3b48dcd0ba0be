/** What a contract promises at run time, in the order in which it is judged (contract.md §§6.1, 6.3). */
import type { ObservationKind, ObservedValue, Subject } from '../observation.ts';
import { quote } from '../quote.ts';
import { assertionKey, type Configuration, type Contract } from './contract.ts';
import type { ContractFindingCode } from './findings.ts';

export interface Contradiction {
  readonly code: ContractFindingCode;
  readonly message: string;
}

export interface Assertion {
  readonly subject: Subject;
  readonly contractPath: string;
  readonly required: boolean;
  /** The kind of observation that it is judged by; undefined: by none, as nothing can evaluate it. */
  readonly evidence: ObservationKind | undefined;
  /** What the payload of a conclusive observation contradicts. */
  contradiction(value: ObservedValue): Contradiction | undefined;
}

export function interfaceAssertion(name: string): Assertion {
  return {
    subject: { kind: 'interface', name },
    contractPath: `interfaces[name=${name}]`,
    required: true,
    evidence: 'InterfaceObserved',
    contradiction: ({ present }) =>
      present === true
        ? undefined
        : {
            code: 'INTERFACE_ABSENT',
            message: `interface ${quote(name)} is not available: it had zero ready endpoints beyond the stabilization window`,
          },
  };
}

export function dependencyAssertion(name: string, required: boolean): Assertion {
  return {
    subject: { kind: 'dependency', name },
    contractPath: `dependencies[name=${name}]`,
    required,
    evidence: 'DependencyReachable',
    contradiction: ({ reachable }) =>
      reachable === true
        ? undefined
        : { code: 'DEPENDENCY_UNREACHABLE', message: `dependency ${quote(name)} cannot be reached` },
  };
}

export function capabilityAssertions({ capabilities }: Contract): readonly Assertion[] {
  return capabilities.map((capability) => {
    const name = assertionKey(capability);
    const isExtension = capability.type === 'extension';
    return {
      subject: { kind: 'capability', name },
      contractPath: `capabilities[${isExtension ? 'ref' : 'type'}=${name}]`,
      required: true,
      evidence: isExtension ? undefined : 'CapabilityObserved',
      contradiction: ({ present }) =>
        present === true
          ? undefined
          : { code: 'CAPABILITY_ABSENT', message: `capability ${quote(name)} is not there at run time` },
    };
  });
}

export function configurationAssertions({ configurations }: Contract): readonly Assertion[] {
  return configurations.map((configuration) => ({
    subject: { kind: 'configuration', name: configuration.name },
    contractPath: `configurations[name=${configuration.name}]`,
    required: configuration.required,
    evidence: 'ConfigurationPresent',
    contradiction: (value) => configurationContradiction(configuration, value),
  }));
}

/** Whether it conforms is known only of one that is there (contract.md §5.2). */
function configurationContradiction(
  { name, required }: Configuration,
  { present, conformant }: ObservedValue,
): Contradiction | undefined {
  if (present !== true) {
    const which = required ? 'required' : 'optional';
    return {
      code: 'CONFIGURATION_ABSENT',
      message: `${which} configuration ${quote(name)} is not there at run time`,
    };
  }
  if (conformant === true) return undefined;
  return {
    code: 'CONFIGURATION_MISMATCH',
    message: `configuration ${quote(name)} is there and does not conform to its schema`,
  };
}

/** Of the service as a whole; both observations have the contract's own name of it. */
export function serviceAssertions({ service, workload, state }: Contract): readonly Assertion[] {
  const subject = { kind: 'service', name: service.name };
  const assertions: Assertion[] = [];
  if (workload !== undefined && workload !== '') {
    assertions.push({
      subject,
      contractPath: 'workload',
      required: true,
      evidence: 'WorkloadObserved',
      contradiction: ({ type = '' }) =>
        type === workload
          ? undefined
          : {
              code: 'WORKLOAD_MISMATCH',
              message: `the workload is declared as ${quote(workload)} and was observed as ${quote(type)}`,
            },
    });
  }
  if (state?.persistence.durability === 'persistent') {
    assertions.push({
      subject,
      contractPath: 'state.persistence.durability',
      required: true,
      evidence: 'PersistenceObserved',
      contradiction: ({ durable }) =>
        durable === true
          ? undefined
          : {
              code: 'PERSISTENCE_MISMATCH',
              message: 'the state is declared as persistent and no persistent storage was observed',
            },
    });
  }
  return assertions;
}
