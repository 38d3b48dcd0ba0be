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
/** `host=file`. */
export const authority = z.string().regex(/^[^\s=]+=.+$/);
/** Without a password: no key holds a secret. */
export const proxyUrl = z
  .string()
  .regex(/^https?:\/\/[^/@?#\s]+\/?$/)
  .refine((text) => URL.canParse(text));
