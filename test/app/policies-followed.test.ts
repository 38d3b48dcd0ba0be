import { afterEach, describe, expect, it } from 'vitest';
import { bindingObject, followPolicies, policyObject, type Followed } from './policy-support.ts';

let open: Followed[] = [];
afterEach(async () => {
  await Promise.all(open.map(({ policies }) => policies.close()));
  open = [];
});

async function follow(...args: Parameters<typeof followPolicies>): Promise<Followed> {
  const followed = await followPolicies(...args);
  open.push(followed);
  return followed;
}

describe('custom resources', () => {
  it('are enforced, and followed when they change and go', async () => {
    const followed = await follow({ sources: ['customResources'] }, [policyObject('a'), bindingObject('a')]);
    await followed.becomes('a', '200 denied a: no');
    expect(followed.policies.unsynced()).toBeUndefined();
    followed.write(policyObject('a', { expression: 'true' }));
    await followed.becomes('a', '200 allowed');
    followed.write(policyObject('b'), bindingObject('b'));
    await followed.becomes('b', '200 denied b: no');
    followed.remove(policyObject('b'));
    await followed.becomes('b', '503');
    expect(await followed.ask('a')).toBe('200 allowed');
  });
});
