/** Compares our answers to recorded writes of policies and bindings. */
import { isDeepStrictEqual } from 'node:util';

import type { Cel } from '../../src/policies/cel/cel.ts';
import { readBinding, readPolicy } from '../../src/policies/vap/read.ts';
import { answerBindingWrite } from '../../src/policies/vap/validate-binding.ts';
import { answerPolicyWrite } from '../../src/policies/vap/validate-policy.ts';
import type { CaseRunner, RecordedCase } from './vap-family.ts';

/** Minor of the API server that answered. */
const RECORDED_MINOR = 36;

interface WriteCase extends RecordedCase {
  readonly object: { readonly kind: string };
  readonly oldObject?: unknown;
  readonly answer: {
    readonly accepted: boolean;
    readonly status: unknown;
    readonly warnings: readonly string[];
    readonly typeChecking: unknown;
    /** The spec as it would be stored. */
    readonly defaulted?: unknown;
  };
}

export const writeRunner: CaseRunner = {
  handles(one: RecordedCase): boolean {
    const { object, answer } = one as Partial<WriteCase>;
    return object !== undefined && answer?.typeChecking === null;
  },

  reasonToLeave(): undefined {
    return undefined;
  },

  differences(one: RecordedCase, cel: Cel): readonly string[] {
    const { object, oldObject, answer } = one as WriteCase;
    const isBinding = object.kind === 'ValidatingAdmissionPolicyBinding';
    const { status, warnings } = (isBinding ? answerBindingWrite : answerPolicyWrite)(object, {
      cel,
      minor: RECORDED_MINOR,
      ...(oldObject === undefined ? {} : { old: oldObject }),
    });
    return [
      ...difference('accepted', answer.accepted, status === undefined),
      ...difference('status', withoutExpectations(answer.status), withoutExpectations(status ?? null)),
      ...difference('warnings', answer.warnings, warnings),
      ...(answer.defaulted === undefined
        ? []
        : difference(
            'defaulted',
            readSpec(answer.defaulted, isBinding),
            readSpec(specOf(object), isBinding),
          )),
    ];
  },
};

function specOf(object: unknown): unknown {
  return (object as { readonly spec?: unknown }).spec;
}

/** Everything that is recorded has its default, so both are the same where ours are the API server's. */
function readSpec(spec: unknown, isBinding: boolean): unknown {
  const read = isBinding ? readBinding({ spec }) : readPolicy({ spec });
  return read.ok ? read.value : read.fault;
}

export function difference(what: string, wanted: unknown, got: unknown): string[] {
  if (isDeepStrictEqual(wanted, got)) return [];
  return [
    `${what}: wanted ${JSON.stringify(wanted)}\n${' '.repeat(what.length)}     got ${JSON.stringify(got)}`,
  ];
}

/** Syntax errors are compared by their positions, source lines and markers, not by what the parser expected. */
function withoutExpectations(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, member: unknown) =>
      typeof member === 'string'
        ? member.replaceAll(/(ERROR: <input>:\d+:\d+: Syntax error:).*$/gm, '$1')
        : member,
    ),
  ) as unknown;
}
