import { describe, expect, it } from 'vitest';

import { type UrlValue, urlLibrary } from '../../../src/policies/cel/libraries/url.ts';
import type { CelError, CelMap, Value } from '../../../src/policies/cel/values.ts';
import { callOverload, printed } from './support/overload.ts';

interface Parts {
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
  readonly query: Readonly<Record<string, readonly string[]>>;
}

/** Recorded from Go 1.26: what differs from `http`, no port, no path, no query and the text itself. */
const READ: readonly (readonly [text: string, parts: Partial<Parts>])[] = [
  [
    'http://a/é?x=%2B+1&x&y=;&=2',
    {
      text: 'http://a/%C3%A9?x=%2B+1&x&y=;&=2',
      host: 'a',
      path: '/%C3%A9',
      query: { '': ['2'], x: ['+ 1', ''] },
    },
  ],
  ['http://u:p%40@h:80/a%2Fb#f%20g', { host: 'h:80', hostname: 'h', port: '80', path: '/a%2Fb' }],
  ['mongodb://a:1,b:2/d', { scheme: 'mongodb', host: 'a:1,b:2', hostname: 'a:1,b', port: '2', path: '/d' }],
  ['http://[::1%25e%20]:1/', { host: '[::1%e ]:1', hostname: '::1%e ', port: '1', path: '/' }],
  ['//h/p', { scheme: '', host: 'h', path: '/p' }],
  ['///p', { scheme: '', host: '', path: '///p' }],
  ['x:y?z', { scheme: 'x', host: '', query: { z: [''] } }],
  ['*', { scheme: '', host: '', path: '*' }],
  ['http://a?', { host: 'a' }],
  ['http://u@@h/', { text: 'http://u%40@h/', host: 'h', path: '/' }],
  ['http://h/%c3', { host: 'h', path: '/%c3' }],
  ['http:///p', { host: '', path: '/p' }],
  ['HTTP://H/a b', { text: 'http://H/a%20b', host: 'H', path: '/a%20b' }],
];

const REFUSED: readonly (readonly [text: string, reason: string])[] = [
  ['', 'empty url'],
  [':', 'missing protocol scheme'],
  ['a/b', 'invalid URI for request'],
  ['http://h:80:81/', 'invalid port ":80:81" after host'],
  ['http://h:x/', 'invalid port ":x" after host'],
  ['http://[1.2.3.4]/', 'invalid IP-literal'],
  ['http://a[::1]/', 'invalid IP-literal'],
  ['http://[::1', "missing ']' in host"],
  ['http://[a]/', 'invalid host: ParseAddr("a"): unable to parse IP'],
  ['http://a%41/', 'invalid URL escape "%41"'],
  ['http://h/%é', 'invalid URL escape "%é"'],
  ['http://a b/', 'invalid character " " in host name'],
  ['http://u s@h/', 'net/url: invalid userinfo'],
  ['http://h/\u007f', 'net/url: invalid control character in URL'],
];

function parts(url: Value): Parts {
  const get = (name: string) => callOverload(urlLibrary, `url_get_${name}`, url) as string;
  const query = callOverload(urlLibrary, 'url_get_query', url) as CelMap;
  return {
    text: printed(url),
    scheme: get('scheme'),
    host: get('host'),
    hostname: get('hostname'),
    port: get('port'),
    path: get('escaped_path'),
    query: Object.fromEntries(query.entries()) as Parts['query'],
  };
}

describe('url', () => {
  it.each(READ)('reads %j', (text, expected) => {
    const url = callOverload(urlLibrary, 'string_to_url', text);
    const common = { text, scheme: 'http', hostname: expected.host, port: '', path: '', query: {} };
    expect(parts(url)).toEqual({ ...common, ...expected });
    expect(callOverload(urlLibrary, 'is_url_string', text)).toBe(true);
  });

  it.each(REFUSED)('refuses %j', (text, reason) => {
    const refused = callOverload(urlLibrary, 'string_to_url', text) as CelError;
    const quoted = JSON.stringify(text).replace('\u007f', String.raw`\x7f`);
    expect(refused.message).toBe(`URL parse error during conversion from string: parse ${quoted}: ${reason}`);
    expect(callOverload(urlLibrary, 'is_url_string', text)).toBe(false);
  });

  it('compares URLs by their texts', () => {
    const url = (text: string) => callOverload(urlLibrary, 'string_to_url', text) as UrlValue;
    expect(url('HTTP://a/b').equals(url('http://a/b'))).toBe(true);
    expect(url('http://a/b').equals(url('http://a/b#c'))).toBe(false);
    expect(url('http://a/b').equals('http://a/b')).toBeUndefined();
  });

  it('keeps what a parameter decodes to, also where that is no UTF-8', () => {
    const url = callOverload(urlLibrary, 'string_to_url', '/?k=%c3');
    expect(parts(url).query).toEqual({ k: ['\udcc3'] });
  });

  it('reads no parameters where there are more than Go admits', () => {
    const url = callOverload(urlLibrary, 'string_to_url', `/?${'a&'.repeat(10_000)}`);
    expect(parts(url).query).toEqual({});
  });
});
