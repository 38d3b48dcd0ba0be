import { describe, expect, it } from 'vitest';
import { isSafeCapabilityPath } from '../../../src/policies/contract/capability-path.ts';

describe('the path of a capability', () => {
  it.each([
    '/',
    '/healthz',
    '/a?x=1',
    '/a:b',
    '/@me',
    '/a//b',
    '/../x',
    '/a#',
    '/?#',
    '/a b',
    '/\\evil',
    '/*',
    '/%00',
    '/%2e%2e/x',
    '/a/%2F%2fb',
    '/%252Fx',
    '/é',
    '/\u0085',
    '/[::1]',
    '/x?u=http://y#',
    '/a?%zz',
    '/?%2F',
  ])('allows %j', (path) => {
    expect(isSafeCapabilityPath(path)).toBe(true);
  });

  it.each([
    '',
    'health',
    '?a',
    '#',
    '//evil.test',
    '///x',
    'http://x/y',
    '/%2Fevil.test',
    '/%2f%2fevil.test',
    '/a#frag',
    '/a##',
    '/a%',
    '/a%2',
    '/a%zz',
    '/a\tb',
    '/\n',
    '/a?x=\u0000',
    '/\u007f',
  ])('denies %j', (path) => {
    expect(isSafeCapabilityPath(path)).toBe(false);
  });
});
