import { describe, expect, it } from 'vitest';
import type { AdmissionRequest, ObjectMeta } from '../../src/cluster/objects.ts';
import {
  canaryEntry,
  canaryObjects,
  entryRefusal,
  nativeRefusal,
  nonceOf,
} from '../../src/install/canary.ts';
import { CANARY_LABEL, CANARY_NAME } from '../../src/install/names.ts';
import { EntryReach } from '../../src/policies/entry-reach.ts';
import { readBinding, readPolicy } from '../../src/policies/vap/read.ts';
import { evaluate } from '../../src/policies/vap/vap.ts';
import { evidence, namespace, outcomeOf, policySet, request } from '../policies/vap/support.ts';

const NONCE = nonceOf(['one', 'two']);
const OURS = 'pacto-system';

/** Where the canary must not be in the way of anybody. */
const OTHERS: readonly [string, Partial<AdmissionRequest>, ObjectMeta][] = [
  ['another namespace', { namespace: 'shop' }, { name: CANARY_NAME, labels: { [CANARY_LABEL]: NONCE } }],
  ['a ConfigMap without the label', {}, { name: CANARY_NAME }],
  ['a canary of before', {}, { name: CANARY_NAME, labels: { [CANARY_LABEL]: nonceOf(['one']) } }],
  ['an update', { operation: 'UPDATE' }, { name: CANARY_NAME, labels: { [CANARY_LABEL]: NONCE } }],
  [
    'another kind',
    {
      kind: { group: '', version: 'v1', kind: 'Secret' },
      resource: { group: '', version: 'v1', resource: 'secrets' },
    },
    { name: CANARY_NAME, labels: { [CANARY_LABEL]: NONCE } },
  ],
];

function asked(change: Partial<AdmissionRequest>, metadata: ObjectMeta): AdmissionRequest {
  const at = change.namespace ?? OURS;
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, namespace: at } };
  return request({ namespace: at, name: metadata.name ?? '', object, oldObject: object, ...change });
}

const THE_CANARY = asked({}, { name: CANARY_NAME, labels: { [CANARY_LABEL]: NONCE } });

/** What an API server says to it that has these two: as its own code does, which our answers are compared with. */
function saidTo(of: AdmissionRequest, nonce = NONCE): string | undefined {
  const [policy, binding] = canaryObjects(nonce, OURS);
  const [read, bound] = [readPolicy(policy), readBinding(binding)];
  if (!read.ok || !bound.ok) throw new Error('the canary cannot be read');
  const known = evidence({
    namespace: (name) => namespace(name, { 'kubernetes.io/metadata.name': name }),
  });
  const { verdict } = outcomeOf(evaluate(policySet([read.value], [bound.value]), of, known));
  return verdict.allowed ? undefined : `configmaps "${CANARY_NAME}" is forbidden: ${verdict.message}`;
}

describe('the native canary', () => {
  it('is refused in the words that the proof waits for', () => {
    const said = saidTo(THE_CANARY) ?? '';
    expect(nativeRefusal(NONCE)(said)).toBe(true);
    expect(nativeRefusal(nonceOf(['one']))(said)).toBe(false);
    expect(nativeRefusal(NONCE)('configmaps "pacto-gate-canary" is forbidden: no')).toBe(false);
    // A webhook that repeats the words is not the API server.
    expect(nativeRefusal(NONCE)(`admission webhook "w" denied the request: ${said}`)).toBe(false);
  });

  it.each([...OTHERS, ['another name', {}, { name: 'mine', labels: { [CANARY_LABEL]: NONCE } }] as const])(
    'lets pass %s',
    (_what, change, metadata) => {
      expect(saidTo(asked(change, metadata))).toBeUndefined();
    },
  );

  it('is seen only when both the policy and the binding are', () => {
    const [policy] = canaryObjects(nonceOf(['before']), OURS);
    const [, binding] = canaryObjects(NONCE, OURS);
    const [read, bound] = [readPolicy(policy), readBinding(binding)];
    if (!read.ok || !bound.ok) throw new Error('the canary cannot be read');
    const known = evidence({
      namespace: (name) => namespace(name, { 'kubernetes.io/metadata.name': name }),
    });
    const { verdict } = outcomeOf(evaluate(policySet([read.value], [bound.value]), THE_CANARY, known));
    expect(nativeRefusal(NONCE)(verdict.allowed ? '' : verdict.message)).toBe(false);
  });
});

describe("the canary's entry", () => {
  const entry = canaryEntry(NONCE, { target: { url: 'https://gate.example' }, namespace: OURS });
  const reach = new EntryReach();

  it('is called for the canary, and its failure is what the proof waits for', () => {
    expect(reach.of(entry, THE_CANARY)).toEqual({ reach: 'called' });
    const said = `Internal error occurred: failed calling webhook "${entry.name}": failed to call webhook: no`;
    expect(entryRefusal(NONCE)(said)).toBe(true);
    expect(entryRefusal(nonceOf(['one']))(said)).toBe(false);
  });

  it.each(OTHERS)('is not called for %s', (_what, change, metadata) => {
    expect(reach.of(entry, asked(change, metadata))).toEqual({ reach: 'passed', by: 'match' });
  });
});
