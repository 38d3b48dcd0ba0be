/**
 * URLs as Go's `net/url` (1.26) reads and prints them, with its error texts: other rules than those of WHATWG.
 * All parts are byte strings (go-text.ts).
 */
import { bytesOfText, goQuote, textOfBytes } from './go-text.ts';
import { AddressFault, isIpv4, parseAddress } from './ip-address.ts';

export class UrlFault {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

interface UserInfo {
  readonly name: string;
  readonly password: string | undefined;
}

export interface GoUrl {
  readonly scheme: string;
  /** What follows the scheme where no slash does. */
  readonly opaque: string;
  readonly user: UserInfo | undefined;
  readonly host: string;
  /** Decoded. */
  readonly path: string;
  /** As written, where encoding `path` anew would give something else. */
  readonly rawPath: string;
  readonly query: string;
  /** The URL ends in its only `?`. */
  readonly emptyQuery: boolean;
  /** A scheme, and then a path that begins with one slash. */
  readonly noAuthority: boolean;
  readonly fragment: string;
  readonly rawFragment: string;
}

/** Which part of a URL text stands in: what needs escaping differs. */
type Mode = 'path' | 'host' | 'zone' | 'userPassword' | 'query' | 'fragment';

/** What does not stand for itself. */
const ESCAPED: Readonly<Record<Mode, RegExp>> = {
  path: /[^\w\-.~$&+,/:;=@]/g,
  host: /[^\w\-.~!$&'()*+,;=:[\]<>"]/g,
  zone: /[^\w\-.~!$&'()*+,;=:[\]<>"]/g,
  userPassword: /[^\w\-.~$&+,;=]/g,
  query: /[^\w\-.~]/g,
  fragment: /[^\w\-.~$&+,/:;=?@!()*]/g,
};

function escape(bytes: string, mode: Mode): string {
  return bytes.replace(
    ESCAPED[mode],
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function escapeFault(bytes: string): UrlFault {
  return new UrlFault(`invalid URL escape ${goQuote(textOfBytes(bytes))}`);
}

/** Escapes that are none, and what a host may neither be written with nor escape. */
function hostFault(bytes: string, mode: 'host' | 'zone'): UrlFault | undefined {
  for (const [found] of bytes.matchAll(/%[^]{0,2}|[^%\w\-.~!$&'()*+,;=:[\]<>"\u0080-\u00ff]/g)) {
    if (!found.startsWith('%')) return new UrlFault(`invalid character ${goQuote(found)} in host name`);
    if (!/^%[0-9a-fA-F]{2}$/.test(found)) return escapeFault(found);
    if (found === '%25') continue;
    const byte = Number.parseInt(found.slice(1), 16);
    const isAllowed =
      mode === 'host' ? byte >= 0x80 : byte === 0x20 || String.fromCharCode(byte).search(ESCAPED.host) < 0;
    if (!isAllowed) return escapeFault(found);
  }
  return undefined;
}

function unescape(bytes: string, mode: Mode): string | UrlFault {
  if (mode === 'host' || mode === 'zone') {
    const fault = hostFault(bytes, mode);
    if (fault !== undefined) return fault;
  } else {
    const broken = bytes.search(/%(?![0-9a-fA-F]{2})/);
    if (broken >= 0) return escapeFault(bytes.slice(broken, broken + 3));
  }
  const spaced = mode === 'query' ? bytes.replaceAll('+', ' ') : bytes;
  return spaced.replace(/%(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/**
 * `url.ParseRequestURI`: an absolute URL or an absolute path; `#` is a character like any other.
 *
 * @returns the fault with Go's whole text, `parse "…": …`
 */
export function parseRequestUri(text: string): GoUrl | UrlFault {
  const parsed = parse(bytesOfText(text), true);
  return parsed instanceof UrlFault ? withContext(text, parsed) : parsed;
}

/** `url.Parse`: any reference, with its fragment. */
export function parseUrl(text: string): GoUrl | UrlFault {
  const hash = text.indexOf('#');
  const before = hash < 0 ? text : text.slice(0, hash);
  const url = parse(bytesOfText(before), false);
  if (url instanceof UrlFault) return withContext(before, url);
  if (hash < 0) return url;
  const written = bytesOfText(text.slice(hash + 1));
  const fragment = unescape(written, 'fragment');
  if (fragment instanceof UrlFault) return withContext(text, fragment);
  return { ...url, fragment, rawFragment: escape(fragment, 'fragment') === written ? '' : written };
}

function withContext(text: string, fault: UrlFault): UrlFault {
  return new UrlFault(`parse ${goQuote(text)}: ${fault.message}`);
}

function parse(bytes: string, viaRequest: boolean): GoUrl | UrlFault {
  // oxlint-disable-next-line no-control-regex -- what Go refuses.
  if (/[\u0000-\u001f\u007f]/.test(bytes)) return new UrlFault('net/url: invalid control character in URL');
  if (bytes === '' && viaRequest) return new UrlFault('empty url');
  const url = { ...EMPTY };
  if (bytes === '*') return { ...url, path: '*' };
  const split = splitScheme(bytes);
  if (split instanceof UrlFault) return split;
  url.scheme = split.scheme;
  let rest = split.rest;
  const question = rest.indexOf('?');
  if (question >= 0) {
    url.emptyQuery = question === rest.length - 1;
    url.query = rest.slice(question + 1);
    rest = rest.slice(0, question);
  }
  if (!rest.startsWith('/')) {
    if (url.scheme !== '') return { ...url, opaque: rest };
    if (viaRequest) return new UrlFault('invalid URI for request');
    if (/^[^/]*:/.test(rest)) return new UrlFault('first path segment in URL cannot contain colon');
  }
  if (rest.startsWith('//') && (url.scheme !== '' || (!viaRequest && !rest.startsWith('///')))) {
    const slash = rest.indexOf('/', 2);
    const end = slash < 0 ? rest.length : slash;
    const authority = parseAuthority(url.scheme, rest.slice(2, end));
    if (authority instanceof UrlFault) return authority;
    url.user = authority.user;
    url.host = authority.host;
    rest = rest.slice(end);
  } else url.noAuthority = url.scheme !== '' && rest.startsWith('/');
  const path = unescape(rest, 'path');
  if (path instanceof UrlFault) return path;
  return { ...url, path, rawPath: escape(path, 'path') === rest ? '' : rest };
}

const EMPTY: { -readonly [Part in keyof GoUrl]: GoUrl[Part] } = {
  scheme: '',
  opaque: '',
  user: undefined,
  host: '',
  path: '',
  rawPath: '',
  query: '',
  emptyQuery: false,
  noAuthority: false,
  fragment: '',
  rawFragment: '',
};

function splitScheme(bytes: string): { scheme: string; rest: string } | UrlFault {
  if (bytes.startsWith(':')) return new UrlFault('missing protocol scheme');
  const scheme = /^([A-Za-z][A-Za-z0-9+\-.]*):/.exec(bytes)?.[1];
  if (scheme === undefined) return { scheme: '', rest: bytes };
  return { scheme: scheme.toLowerCase(), rest: bytes.slice(scheme.length + 1) };
}

function parseAuthority(
  scheme: string,
  authority: string,
): { user: UserInfo | undefined; host: string } | UrlFault {
  const at = authority.lastIndexOf('@');
  const host = parseHost(scheme, authority.slice(at + 1));
  if (host instanceof UrlFault) return host;
  if (at < 0) return { user: undefined, host };
  const info = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(info)) return new UrlFault('net/url: invalid userinfo');
  const colon = info.indexOf(':');
  const name = unescape(colon < 0 ? info : info.slice(0, colon), 'userPassword');
  if (name instanceof UrlFault) return name;
  if (colon < 0) return { user: { name, password: undefined }, host };
  const password = unescape(info.slice(colon + 1), 'userPassword');
  return password instanceof UrlFault ? password : { user: { name, password }, host };
}

/** Host and port; the port may be empty. */
function parseHost(scheme: string, host: string): string | UrlFault {
  const bracket = host.lastIndexOf('[');
  if (bracket > 0) return new UrlFault('invalid IP-literal');
  if (bracket === 0) return parseIpLiteral(host);
  const colon = host.indexOf(':');
  if (colon >= 0) {
    // Lists of hosts with ports, as some databases have them: only web URLs are read strictly.
    const isStrict = scheme === 'http' || scheme === 'https';
    const port = host.slice(isStrict ? colon : host.lastIndexOf(':'));
    if (!isPort(port)) return portFault(port);
  }
  return unescape(host, 'host');
}

function portFault(port: string): UrlFault {
  return new UrlFault(`invalid port ${goQuote(textOfBytes(port))} after host`);
}

/** Nothing, or a colon and digits. */
function isPort(text: string): boolean {
  return /^(?::[0-9]*)?$/.test(text);
}

function parseIpLiteral(host: string): string | UrlFault {
  const close = host.lastIndexOf(']');
  if (close < 0) return new UrlFault("missing ']' in host");
  const port = host.slice(close + 1);
  if (!isPort(port)) return portFault(port);
  const inside = host.slice(1, close);
  const zoneAt = inside.indexOf('%25');
  const name = unescape(zoneAt < 0 ? inside : inside.slice(0, zoneAt), 'host');
  if (name instanceof UrlFault) return name;
  const zone = zoneAt < 0 ? '' : unescape(inside.slice(zoneAt), 'zone');
  if (zone instanceof UrlFault) return zone;
  const address = parseAddress(textOfBytes(name + zone));
  if (address instanceof AddressFault) return new UrlFault(`invalid host: ${address.message}`);
  if (isIpv4(address)) return new UrlFault('invalid IP-literal');
  return `[${name}${zone}]${port}`;
}

/** What a path or fragment may not hold as it was written. */
const UNCODED: Readonly<Record<'path' | 'fragment', RegExp>> = {
  path: /[^\w\-.~$&+,/:;=@!'()*[\]%]/,
  fragment: /[^\w\-.~$&+,/:;=?@!'()*[\]%]/,
};

/** The path as it is sent; as it was written where that is a valid encoding. */
export function escapedPath({ path, rawPath }: GoUrl): string {
  if (rawPath !== '' && !UNCODED.path.test(rawPath)) return rawPath;
  return path === '*' ? path : escape(path, 'path');
}

function escapedFragment({ fragment, rawFragment }: GoUrl): string {
  if (rawFragment !== '' && !UNCODED.fragment.test(rawFragment)) return rawFragment;
  return escape(fragment, 'fragment');
}

function authorityText({ scheme, user, host, path, noAuthority }: GoUrl): string {
  if (scheme === '' && host === '' && user === undefined) return '';
  if (noAuthority && host === '' && user === undefined) return '';
  const slashes = host !== '' || path !== '' || user !== undefined ? '//' : '';
  if (user === undefined) return slashes + escape(host, 'host');
  const password = user.password === undefined ? '' : `:${escape(user.password, 'userPassword')}`;
  return `${slashes}${escape(user.name, 'userPassword')}${password}@${escape(host, 'host')}`;
}

/** The URL put together again, as text. */
export function formatUrl(url: GoUrl): string {
  let text = url.scheme === '' ? '' : `${url.scheme}:`;
  if (url.opaque !== '') text += url.opaque;
  else {
    text += authorityText(url);
    const path = escapedPath(url);
    if (path !== '' && !path.startsWith('/') && url.host !== '') text += '/';
    if (text === '' && /^[^/]*:/.test(path)) text += './';
    text += path;
  }
  if (url.emptyQuery || url.query !== '') text += `?${url.query}`;
  if (url.fragment !== '') text += `#${escapedFragment(url)}`;
  return textOfBytes(text);
}

/** Host without brackets, and port without colon. */
export function splitHostPort(url: GoUrl): { host: string; port: string } {
  const colon = url.host.lastIndexOf(':');
  const hasPort = colon >= 0 && isPort(url.host.slice(colon));
  const host = hasPort ? url.host.slice(0, colon) : url.host;
  return {
    host: textOfBytes(host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host),
    port: hasPort ? url.host.slice(colon + 1) : '',
  };
}

/** Parameters that Go reads at most; of a longer query it reads none. */
const MAX_PARAMETERS = 10_000;

/** The parameters in order; malformed ones are left out. */
export function queryParameters({ query }: GoUrl): ReadonlyMap<string, string[]> {
  const parameters = new Map<string, string[]>();
  const pairs = query.split('&');
  if (pairs.length > MAX_PARAMETERS) return parameters;
  for (const pair of pairs) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const key = unescape(equals < 0 ? pair : pair.slice(0, equals), 'query');
    const value = unescape(equals < 0 ? '' : pair.slice(equals + 1), 'query');
    if (key instanceof UrlFault || value instanceof UrlFault) continue;
    const name = textOfBytes(key);
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [textOfBytes(value)]);
    else values.push(textOfBytes(value));
  }
  return parameters;
}
