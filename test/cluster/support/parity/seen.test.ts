/** The comparison of the parity test finds each difference that there can be, and allows for F1 and F4 alone. */
import { describe, expect, it } from 'vitest';
import type { ParityCase, Sending } from './parity-case.ts';
import { parityDifferences, type Answers, type Printed, type Seen } from './seen.ts';

const POLICY = 'limit';
const ENTRY = 'limit.policies.gate.pacto.trianalab.io';
const SENTENCE = `ValidatingAdmissionPolicy '${POLICY}' with binding 'b' denied request: too many`;
const NATIVE_MESSAGE = `deployments.apps "web" is forbidden: ${SENTENCE}`;
const OUR_MESSAGE = `admission webhook "${ENTRY}" denied the request: ${SENTENCE}`;
const DETAILS = { name: 'web', group: 'apps', kind: 'deployments', causes: [{ message: SENTENCE }] };
const FAILURE = `[{"message":"too many","policy":"${POLICY}","binding":"b"}]`;
const WARNING = `Warning: Validation failed for ValidatingAdmissionPolicy '${POLICY}' with binding 'b': look\n`;

const sending = (policies = 1): Sending => ({
  id: 'one',
  batch: undefined,
  cases: [{ id: 'one', policies: Array.from({ length: policies }, () => ({})) } as unknown as ParityCase],
});

const native = {
  seen: {
    refusal: { code: 403, reason: 'Forbidden', message: NATIVE_MESSAGE, details: DETAILS },
    warnings: [],
    annotations: {
      'validation.policy.admission.k8s.io/validation_failure': FAILURE,
      [`${POLICY}/replicas`]: '6',
    },
  } as Seen,
  printed: { code: 1, stdout: '', stderr: `${WARNING}Error from server (Forbidden): ${NATIVE_MESSAGE}\n` },
};
const ours = {
  seen: {
    refusal: { code: 403, reason: 'Forbidden', message: OUR_MESSAGE, details: DETAILS },
    warnings: [],
    annotations: { [`${ENTRY}/replicas`]: '6', [`${ENTRY}/validation_failure`]: FAILURE },
  } as Seen,
  printed: { code: 1, stdout: '', stderr: `${WARNING}Error from server (Forbidden): ${OUR_MESSAGE}\n` },
};

const answers = ({ seen, printed }: { seen: Seen; printed: Printed }): Answers => ({
  seen: new Map([['one', seen]]),
  printed: new Map([['one', printed]]),
});
const compare = (changed: { seen?: Partial<Seen>; printed?: Partial<Printed> }): readonly string[] =>
  parityDifferences(
    sending(),
    answers(native),
    answers({ seen: { ...ours.seen, ...changed.seen }, printed: { ...ours.printed, ...changed.printed } }),
  );
const refusal = (changed: object): { seen: Partial<Seen> } => ({
  seen: { refusal: { ...ours.seen.refusal!, ...changed } },
});

describe('the comparison of what is seen natively and through the webhook', () => {
  it('finds nothing where the prefix of the message and the keys of the annotations alone differ', () => {
    expect(compare({})).toEqual([]);
  });

  it.each([
    ['no refusal', { seen: { refusal: undefined } }, 'refusal'],
    ['another code', refusal({ code: 422 }), 'refusal'],
    ['another reason', refusal({ reason: 'Invalid' }), 'refusal'],
    ['another sentence', refusal({ message: `${OUR_MESSAGE}.` }), 'refusal'],
    ['the message of the API server itself', refusal({ message: NATIVE_MESSAGE }), 'refusal'],
    ['no cause', refusal({ details: { ...DETAILS, causes: [] } }), 'refusal'],
    ['no name', refusal({ details: { causes: DETAILS.causes } }), 'refusal'],
    ['no annotation', { seen: { annotations: {} } }, 'annotations'],
    [
      'another value of an annotation',
      { seen: { annotations: { ...ours.seen.annotations, [`${ENTRY}/replicas`]: '7' } } },
      'annotations',
    ],
    [
      'an annotation more',
      { seen: { annotations: { ...ours.seen.annotations, [`${ENTRY}/failed-open`]: 'x' } } },
      'annotations',
    ],
    ['a warning more', { seen: { warnings: ['x'] } }, 'warnings'],
    ['another exit code', { printed: { code: 0 } }, 'printed'],
    ['no warning in the text', { printed: { stderr: ours.printed.stderr.replace(WARNING, '') } }, 'printed'],
    ['another text', { printed: { stderr: native.printed.stderr } }, 'printed'],
  ])('finds %s', (_what, changed, where) => {
    const found = compare(changed);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${where}`));
  });

  it('lets warnings come in any order only where several policies give them', () => {
    const texts = ['Warning: a\n', 'Warning: b\n'];
    const printed = (some: readonly string[]): Printed => ({ code: 0, stdout: '', stderr: some.join('') });
    const seen: Seen = { refusal: undefined, warnings: [], annotations: {} };
    const differences = (policies: number): readonly string[] =>
      parityDifferences(
        sending(policies),
        answers({ seen, printed: printed(texts) }),
        answers({ seen, printed: printed(texts.toReversed()) }),
      );
    expect(differences(2)).toEqual([]);
    expect(differences(1)).toHaveLength(1);
  });
});
