import { describe, expect, it } from 'vitest';
import { extraKeysOf, readClaims, whyNoNode, type ClusterFacts } from '../../src/cli/token-claims.ts';
import { fakeToken, INSTANT_SECONDS, tokenClaims } from './tokens.ts';

const cluster = (minor: number, pod?: ClusterFacts['pod']): ClusterFacts => ({
  gitVersion: `v1.${String(minor)}.1`,
  minor,
  pod,
});

describe('readClaims', () => {
  it.each([
    ['pod', tokenClaims({ pod: 'agent-x', node: 'worker-a' }), 'pod', 'agents/agent', 'worker-a'],
    ['pod without node', tokenClaims({ pod: 'agent-x' }), 'pod', 'agents/agent', undefined],
    ['node', tokenClaims({ node: 'worker-a' }), 'node', 'agents/agent', 'worker-a'],
    ['secret', tokenClaims({ secret: 's' }), 'secret', 'agents/agent', undefined],
    ['nothing', tokenClaims({}), 'none', 'agents/agent', undefined],
    [
      'a Secret of the old form',
      {
        iss: 'kubernetes/serviceaccount',
        'kubernetes.io/serviceaccount/namespace': 'agents',
        'kubernetes.io/serviceaccount/service-account.name': 'agent',
      },
      'legacy',
      'agents/agent',
      undefined,
    ],
    ['a person', { iss: 'https://login.example', sub: 'x' }, 'foreign', undefined, undefined],
  ])('tells what a token is bound to: %s', (_name, claims, binding, account, node) => {
    const read = readClaims(fakeToken(claims));
    expect(read).toMatchObject({ binding, account });
    expect(read?.node?.name).toBe(node);
  });

  it.each([
    ['opaque', 'abcdef.0123456789abcdef'],
    ['two parts', 'eyJhbGciOiJSUzI1NiJ9.e30'],
    ['no JSON', 'e30.AAAA.AAAA'],
    ['no object', `e30.${Buffer.from('[1]').toString('base64url')}.x`],
    ['other characters', 'e30.{}.x'],
    ['empty', '..'],
  ])('finds no claims in what is %s', (_name, token) => {
    expect(readClaims(token)).toBeUndefined();
  });

  it('survives claims of the wrong kind', () => {
    const wrong = {
      exp: 'soon',
      iat: -1,
      jti: 7,
      'kubernetes.io': { pod: 'x', node: [], serviceaccount: null },
    };
    expect(readClaims(fakeToken(wrong))).toMatchObject({
      binding: 'foreign',
      issuedSeconds: undefined,
      expiresSeconds: undefined,
      hasId: false,
    });
    expect(readClaims(fakeToken({ exp: 1e300, __proto__: { node: 1 } }))?.expiresSeconds).toBeUndefined();
  });

  it('takes the life that was asked for from warnafter, where the API server stretched the token', () => {
    const year = 365 * 24 * 3600;
    const claims = tokenClaims({ pod: 'p', life: year });
    Object.assign(claims['kubernetes.io'], { warnafter: INSTANT_SECONDS + 3600 });
    expect(readClaims(fakeToken(claims))?.refreshSeconds).toBe(INSTANT_SECONDS + 2880);
    expect(readClaims(fakeToken(tokenClaims({ pod: 'p', life: 1000 })))?.refreshSeconds).toBe(
      INSTANT_SECONDS + 800,
    );
  });
});

describe('extraKeysOf', () => {
  it('names the keys that the API server makes', () => {
    const read = readClaims(fakeToken(tokenClaims({ pod: 'p', node: 'n' })));
    expect(read && extraKeysOf(read)).toEqual(
      ['credential-id', 'pod-name', 'pod-uid', 'node-name', 'node-uid'].map(
        (k) => `authentication.kubernetes.io/${k}`,
      ),
    );
  });

  it('leaves out the uid of a Node that was missing (NI20)', () => {
    const claims = tokenClaims({ node: 'n' });
    Object.assign(claims['kubernetes.io'], { node: { name: 'n' } });
    const read = readClaims(fakeToken(claims));
    expect(read && extraKeysOf(read)).not.toContain('authentication.kubernetes.io/node-uid');
  });
});

describe('whyNoNode', () => {
  it.each<[string, object, ClusterFacts | undefined, RegExp[]]>([
    ['a foreign token', { iss: 'x' }, undefined, [/no ServiceAccount token/]],
    ['a Secret token', tokenClaims({ secret: 's' }), cluster(33), [/from a Secret/]],
    ['an unbound token', tokenClaims({}), cluster(33), [/bound to no object/]],
    ['an old API server', tokenClaims({ pod: 'p' }), cluster(29), [/before 1\.30.*v1\.29\.1/]],
    ['a Pod that is gone', tokenClaims({ pod: 'p' }), cluster(33, 'absent'), [/is gone/]],
    ['a Pod without node', tokenClaims({ pod: 'p' }), cluster(33, 'unscheduled'), [/no node when/]],
    [
      'a Pod that runs (NI25)',
      tokenClaims({ pod: 'p' }),
      cluster(33, 'scheduled'),
      [/older than/, /no node when/],
    ],
    ['a Pod nobody may read', tokenClaims({ pod: 'p' }), cluster(33), [/no node when/, /older than/]],
    ['nobody asked', tokenClaims({ pod: 'p' }), undefined, [/before 1\.30/, /no node when/, /older than/]],
  ])('explains %s', (_name, claims, facts, expected) => {
    const read = readClaims(fakeToken(claims));
    const reasons = read === undefined ? [] : whyNoNode(read, facts);
    expect(reasons).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(reasons[index]?.why).toMatch(pattern);
    for (const reason of reasons) expect(reason.next).not.toBe('');
  });

  it('says when the kubelet renews the token', () => {
    const read = readClaims(fakeToken(tokenClaims({ pod: 'p', life: 3600 })));
    expect(read && whyNoNode(read, cluster(33, 'scheduled'))[0]?.next).toContain(
      'at 2026-01-01T00:48:00.000Z',
    );
  });
});
