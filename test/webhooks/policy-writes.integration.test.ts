/** What passes and what is refused whoever writes policies and bindings of our group, over HTTPS. */
import { describe, expect, it } from 'vitest';

import {
  binding,
  named,
  overMaps,
  overSecrets,
  policy,
  review,
  selected,
  writers,
  type Write,
} from './policy-writes.ts';

describe('an update that lets an object go', () => {
  // Stored before there was a check.
  const broken = { ...overSecrets, validations: [{ expression: 'this is no expression' }] };
  const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/hold'] };

  it.each<[string, Write]>([
    [
      'takes a finalizer from a policy',
      { object: policy(broken), old: policy(broken, { finalizers: ['example.com/hold'] }) },
    ],
    [
      'takes the last finalizer from a policy that is being deleted',
      {
        object: policy(broken, { deletionTimestamp: leaving.deletionTimestamp }),
        old: policy(broken, leaving),
      },
    ],
    [
      'changes labels of a policy that is being deleted',
      { object: policy(broken, { ...leaving, labels: { a: 'b' } }), old: policy(broken, leaving) },
    ],
    [
      'takes an owner from a binding',
      {
        object: binding(named),
        old: binding(named, {
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'y' }],
        }),
      },
    ],
  ])('passes unasked where it %s', async (_title, write) => {
    const { write: send, asked } = await writers({ alone: true });
    expect(await send(write)).toEqual({ uid: 'u-1', allowed: true });
    expect(asked).toEqual([]);
  });

  it.each<[string, Write]>([
    [
      'gives a policy that is being deleted other parameters, for it is enforced until it is gone',
      { object: policy(overMaps, leaving), old: policy({}, leaving) },
    ],
    [
      'gives a binding that is being deleted other parameters',
      { object: binding(named, leaving), old: binding({}, leaving) },
    ],
    [
      'claims to be about a deleted object itself',
      { object: policy(overMaps, leaving), old: policy({}, { finalizers: leaving.finalizers }) },
    ],
    [
      'changes labels of a policy whose expressions do not compile, as the API server has it',
      { object: policy(broken, { labels: { a: 'b' } }), old: policy(broken) },
    ],
  ])('is refused where it %s', async (_title, write) => {
    const { write: send } = await writers({ stored: [policy(overMaps)] });
    expect(await send(write)).toMatchObject({ allowed: false, status: { code: 422 } });
  });
});

describe('what is asked otherwise', () => {
  it('is answered the same in a dry run, whatever else the object says', async () => {
    const { served } = await writers({ stored: [policy(overMaps)] });
    const texts = await Promise.all(
      [false, true].map(async (dryRun) => {
        const body = review({ object: binding(selected), dryRun });
        return (await served.ask('/validate/policy-writers', { body })).text;
      }),
    );
    expect(texts[0]).toBe(texts[1]);
  });

  it('does not look at the status, which has members of ours', async () => {
    const { write } = await writers();
    const status = { enforcedBy: 'Webhook', conditions: 7, observedGeneration: 'x' };
    const object = { ...policy({ failurePolicy: 'Ignore' }), status };
    expect(await write({ object, old: { ...policy(), status } })).toEqual({ uid: 'u-1', allowed: true });
  });

  it('warns as the API server does', async () => {
    const { write } = await writers();
    expect(await write({ object: policy({ nonsense: 1 }) })).toMatchObject({
      allowed: true,
      warnings: ['unknown field "spec.nonsense"'],
    });
  });

  it.each([null, 7, [], 'text', { kind: 'ValidatingAdmissionPolicy' }, { metadata: null, spec: null }])(
    'is refused where there is no policy in it: %j',
    async (nothing) => {
      const { served } = await writers({ may: () => true });
      for (const operation of ['CREATE', 'UPDATE']) {
        const whole = review({ object: policy(), operation }) as { request: object };
        const body = { ...whole, request: { ...whole.request, object: nothing, oldObject: nothing } };
        const answer = await served.ask('/validate/policy-writers', { body });
        const { response } = answer.json() as { response?: { allowed: boolean } };
        expect(response?.allowed).toBe(false);
      }
    },
  );

  it('is refused where the object cannot be read', async () => {
    const { served } = await writers({ may: () => true });
    const deep = `${'['.repeat(600)}${']'.repeat(600)}`;
    const body = JSON.stringify(review({ object: policy({ x: 'deep' }) })).replace('"deep"', deep);
    const answer = await served.ask('/validate/policy-writers', {
      body: Buffer.from(body),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.json()).toMatchObject({ response: { allowed: false, status: { code: 500 } } });
  });

  it('is cut to what somebody may read where a policy has thousands of faults', async () => {
    const { write } = await writers();
    const validations = Array.from({ length: 1_000 }, () => ({
      expression: `nope == ${' '.repeat(1_000)}1`,
    }));
    const { status } = await write({ object: policy({ validations }) });
    expect(status?.message.length).toBe(256 * 1024 + 1);
    expect(status?.details?.causes?.length).toBeGreaterThan(50);
    expect(JSON.stringify(status).length).toBeLessThan(1024 * 1024);
  });

  it('is refused as the API server cannot decode it', async () => {
    const { write } = await writers();
    expect(await write({ object: policy({ validations: 'x' }) })).toMatchObject({
      allowed: false,
      status: { code: 400, reason: 'BadRequest' },
    });
  });
});
