/** The library of URLs: `url`, `isURL` and the parts of a URL. */
import { BOOL, STRING, listOf, mapOf, opaque } from '../cel-type.ts';
import type { Library } from '../library.ts';
import { CelError, CelMap, Opaque, type Value } from '../values.ts';
import { define, global, member, readingCost, unitCost } from './declare.ts';
import { textOfBytes } from './go-text.ts';
import {
  type GoUrl,
  UrlFault,
  escapedPath,
  formatUrl,
  parseRequestUri,
  parseUrl,
  queryParameters,
  splitHostPort,
} from './go-url.ts';

const URL = opaque('kubernetes.URL');

export class UrlValue extends Opaque {
  override readonly typeName = 'kubernetes.URL';
  readonly url: GoUrl;

  constructor(url: GoUrl) {
    super();
    this.url = url;
  }

  override equals(other: Value): boolean | undefined {
    return other instanceof UrlValue ? String(this) === String(other) : undefined;
  }

  override toString(): string {
    return formatUrl(this.url);
  }
}

/** `url(text)`: must be absolute, and then is read again so that a fragment is one. */
function urlOf(text: string): Value {
  const request = parseRequestUri(text);
  const url = request instanceof UrlFault ? request : parseUrl(text);
  if (url instanceof UrlFault) {
    return new CelError(`URL parse error during conversion from string: ${url.message}`);
  }
  return new UrlValue(url);
}

function part(name: string, id: string, read: (url: GoUrl) => string) {
  return define(name, unitCost, [member(id, [URL], STRING, (value: UrlValue) => read(value.url))]);
}

export const urlLibrary: Library = {
  name: 'kubernetes.urls',
  since: 0,
  functions: [
    define('url', readingCost, [global('string_to_url', [STRING], URL, urlOf)]),
    define('isURL', undefined, [
      global('is_url_string', [STRING], BOOL, (text: string) => !(parseRequestUri(text) instanceof UrlFault)),
    ]),
    part('getScheme', 'url_get_scheme', (url) => url.scheme),
    part('getHost', 'url_get_host', (url) => textOfBytes(url.host)),
    part('getHostname', 'url_get_hostname', (url) => splitHostPort(url).host),
    part('getPort', 'url_get_port', (url) => splitHostPort(url).port),
    part('getEscapedPath', 'url_get_escaped_path', escapedPath),
    define('getQuery', unitCost, [
      member(
        'url_get_query',
        [URL],
        mapOf(STRING, listOf(STRING)),
        (value: UrlValue) => new CelMap(queryParameters(value.url)),
      ),
    ]),
  ],
};
