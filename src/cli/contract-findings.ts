/** What commands say of a contract: findings of every layer in one shape, with the line that each is about. */
import type { LoadFailure } from '../policies/contract/document.ts';
import {
  CONTRACT_FINDINGS,
  type ContractFindingCode,
  type Finding,
  type Problem,
  type Severity,
  type ValidationResult,
} from '../policies/contract/findings.ts';
import { failureText } from '../policies/contract/load.ts';
import { ContractPlaces } from './contract-location.ts';
import { plain } from './output.ts';
import type { SarifResult } from './sarif.ts';

/** Codes of the commands themselves, which no layer gives (contract.md §3.5). */
export const COMMAND_FINDINGS = {
  PARSE_ERROR: 'the contract, its overrides or its bundle could not be read',
  READINESS_GATE_UNMET: 'the readiness section is expired or below its score, and --readiness was given',
  LOCAL_REFERENCE: 'a reference is a path of this machine, because it does not begin with oci://',
  REFERENCE_UNUSABLE: 'no registry takes a name that a reference has',
} as const;

export type CommandFindingCode = keyof typeof COMMAND_FINDINGS;

export interface Said {
  readonly code: ContractFindingCode | CommandFindingCode;
  readonly severity: Severity;
  /** In the contract; empty where it is about the whole. */
  readonly path: string;
  /** What it is about where the path, as upstream has it, says nothing. */
  readonly place?: string;
  readonly message: string;
  /** In the contract's file, as far as it is known. */
  readonly line?: number;
  readonly column?: number;
}

/** The texts of a contract whose lines can be told. */
export interface Lines {
  /** What the user wrote. */
  readonly written: string;
  /** What overrides made of it, where there were any. */
  readonly overridden?: string;
}

/** Adds to each the line it is about, where its path leads to one and no override is what it is about. */
export function placed(said: readonly Said[], { written, overridden }: Lines): readonly Said[] {
  const places = new ContractPlaces(written);
  const now = overridden === undefined ? undefined : new ContractPlaces(overridden);
  return said.map((one) => {
    const path = subjectOf(one);
    if (one.line !== undefined || (now !== undefined && now.textAt(path) !== places.textAt(path))) {
      return one;
    }
    const place = places.of(path);
    return place === undefined ? one : { ...one, ...place };
  });
}

/** `  error    interfaces[0].ref (line 12): … [FILE_NOT_FOUND]`: one line each. */
export function linesOf(said: readonly Said[]): readonly string[] {
  return said.map((one) => {
    const path = subjectOf(one);
    const text = failureText({
      reason: one.message.replaceAll('\n', ' '),
      ...(path !== '' && { path }),
      ...(one.line !== undefined && { line: one.line }),
    });
    return plain(`  ${one.severity.padEnd(7)}  ${text} [${one.code}]`);
  });
}

/** Empty where it is about the whole. */
function subjectOf({ place, path }: Said): string {
  return place ?? path;
}

const LEVELS = { error: 'error', warning: 'warning', unknown: 'warning', info: 'note' } as const;

export function sarifOf(said: readonly Said[], file: string): readonly SarifResult[] {
  return said.map((one) => {
    const { code, severity, message, line, column } = one;
    const path = subjectOf(one);
    return {
      code,
      level: LEVELS[severity],
      message: failureText({ reason: message, ...(path !== '' && { path }) }),
      file,
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
    };
  });
}

export function countOf(said: readonly Pick<Said, 'severity'>[], wanted: Severity): number {
  return said.filter(({ severity }) => severity === wanted).length;
}

/** `1 error, 2 warnings`. */
export function counted(said: readonly Pick<Said, 'severity'>[]): string {
  const parts = (['error', 'unknown', 'warning'] as const).flatMap((severity) => {
    const count = countOf(said, severity);
    const word = severity === 'unknown' ? 'unknown' : count === 1 ? severity : `${severity}s`;
    return count === 0 ? [] : [`${String(count)} ${word}`];
  });
  return parts.length === 0 ? 'no findings' : parts.join(', ');
}

export function parseError({ reason, path = '', line }: LoadFailure): Said {
  return {
    code: 'PARSE_ERROR',
    severity: 'error',
    path,
    message: reason,
    ...(line !== undefined && { line }),
  };
}

/** Errors first, as a result has them. */
export function saidOf({ errors, warnings }: ValidationResult): readonly Said[] {
  const said = (problem: Problem): Said => ({
    code: problem.code,
    severity: CONTRACT_FINDINGS[problem.code].severity,
    path: problem.path,
    message: problem.message,
    ...(problem.place !== undefined && { place: problem.place }),
  });
  return [...errors.map(said), ...warnings.map(said)];
}

export function saidOfFinding({ code, severity, contractPath, message }: Finding): Said {
  return { code, severity, path: contractPath, message };
}
