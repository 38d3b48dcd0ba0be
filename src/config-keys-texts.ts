/** Texts that configuration keys take: names, addresses and versions. */
import * as z from 'zod';

/** A DNS label: namespaces (RFC 1123). */
const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';
export const label = z.string().regex(new RegExp(`^${LABEL}$`));
/** `namespace/name`, the name being a DNS subdomain. */
export const namespacedName = z.string().regex(new RegExp(`^${LABEL}/(?=.{1,253}$)${LABEL}(\\.${LABEL})*$`));
export const word = z.string().min(1);
export const KUBERNETES_MINOR = /^1\.[1-9]\d?$/;
export const serviceName = z
  .string()
  .regex(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?(?::[1-9]\d{0,4})?$/);
/** As the API server validates it. */
export const serverUrl = z
  .string()
  .regex(/^https:\/\/[^/@?#\s]+(?:\/[^?#\s]*)?$/)
  .refine((text) => URL.canParse(text));
/** Releases whose CEL environment is known (design decision 21). */
export const POLICY_MINOR = /^1\.(2[6-9]|3[0-7])$/;
/** `v1/ConfigMap`, `group/version/Kind`, with `:plural` and `:Cluster` where they are not the usual ones. */
export const paramKind = z
  .string()
  .regex(
    /^(?:[a-z0-9][-a-z0-9.]{0,252}\/)?v\d+(?:(?:alpha|beta)\d+)?\/[A-Z][A-Za-z0-9]{0,62}(?::[a-z][a-z0-9]{0,62})?(?::Cluster)?$/,
  )
  // By whatever name: roles are given by the resource.
  .regex(/^(?!v1\/(?:secret|[^:]*:secrets)(?::|$))/i);

const HOST_LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const HOST_NAME = new RegExp(`^(?=.{1,253}$)${HOST_LABEL}(?:\\.${HOST_LABEL})*$`, 'i');
const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::([1-9]\d{0,4}))?$/i;

/** A host as URLs have it: what they would read as another one, such as `0x7f.1` or `10.1`, is none. */
function isHost(text: string): boolean {
  if (!text.startsWith('[') && !HOST_NAME.test(text)) return false;
  return URL.parse(`https://${text}/`)?.hostname === text.toLowerCase();
}

function isHostAndPort(text: string): boolean {
  const [, host = '', hostPort] = HOST_AND_PORT.exec(text) ?? [];
  return isHost(host) && (hostPort === undefined || Number(hostPort) <= 65_535);
}

/** `host` or `host:port`, without scheme and path; addresses of IPv6 in brackets. */
export const registryName = z.string().refine(isHostAndPort);
const isHostPattern = (text: string): boolean => isHostAndPort(text.replace(/^\*\./, ''));
/** The same, or `*.suffix`. */
export const registryPattern = z.string().refine(isHostPattern);
const addressRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
/** An address, a CIDR or a host name without a port. */
export const addressOrHost = z.union([addressRange, z.string().regex(HOST_NAME).refine(isHost)]);
/** What NO_PROXY takes (src/registry/proxies.ts). */
export const proxyException = z.union([
  addressRange,
  z.literal('*'),
  z.string().refine((text) => !text.includes('[') && isHostAndPort(text.replace(/^\*?\./, ''))),
]);
/** `host=file`. */
export const authority = z
  .string()
  .regex(/^[^=]+=.+$/)
  .refine((text) => isHostPattern(text.slice(0, text.indexOf('='))));
/** Without a password: no key holds a secret. */
export const proxyUrl = z
  .string()
  .regex(/^https?:\/\/[^/@?#\s]+\/?$/)
  .refine((text) => URL.canParse(text));
