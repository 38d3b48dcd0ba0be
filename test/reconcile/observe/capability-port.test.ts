import { describe, expect, it } from 'vitest';
import { probePath } from '../../../src/reconcile/observe/capability-port.ts';

describe('the path of a probe', () => {
  it.each<[string | undefined, string]>([
    ['/healthz', '/healthz'],
    ['/a%20b', '/a%20b'],
    ['/q?x=1&y=%2F', '/q?x=1&y=%2F'],
    ['/a b', '/a%20b'],
    ['/ü', '/%C3%BC'],
    ['/a\r\nHost: evil.test', '/a%0D%0AHost:%20evil.test'],
    ['/a#b', '/a%23b'],
    ['/a\\b', '/a%5Cb'],
    ['/%', '/%'],
    ['healthz', '/healthz'],
    ['http://evil.test/', '/http://evil.test/'],
    ['@evil.test', '/@evil.test'],
    ['//evil.test/', '//evil.test/'],
    ['', '/'],
    [undefined, '/'],
    ['/\ud800', '/%EF%BF%BD'],
  ])('%j is asked for as %j', (written, wanted) => {
    expect(probePath(written)).toBe(wanted);
    // Behind a host of ours, whatever it is.
    expect(`http://web.shop.svc:80${probePath(written)}`).toMatch(
      /^http:\/\/web\.shop\.svc:80\/[\x21-\x7e]*$/,
    );
  });
});
