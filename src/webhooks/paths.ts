/** Which webhook a path means. */
import type { Webhook } from './webhook.ts';

export interface PathMatch {
  readonly webhook: Webhook;
  /** Decoded once. What somebody else chose: names to look up, never part of a path again. */
  readonly parameters: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly webhook: Webhook;
  readonly segments: readonly string[];
}

/**
 * @returns a look-up by path as it was sent, percent-encoding included and without query. Nothing is normalised: a
 *   path with `..`, doubled or trailing slashes is another path. Fixed paths go before paths with parameters.
 */
export function createPaths(webhooks: readonly Webhook[]): (path: string) => PathMatch | undefined {
  const fixed = new Map<string, PathMatch>();
  const patterns: Pattern[] = [];
  for (const webhook of webhooks) {
    const segments = webhook.path.split('/');
    if (segments.some((segment) => parameterOf(segment) !== undefined)) patterns.push({ webhook, segments });
    else fixed.set(webhook.path, { webhook, parameters: {} });
  }
  return (path) => {
    const match = fixed.get(path);
    if (match !== undefined || patterns.length === 0) return match;
    const segments = path.split('/');
    for (const { webhook, segments: pattern } of patterns) {
      const parameters = matchSegments(pattern, segments);
      if (parameters !== undefined) return { webhook, parameters };
    }
    return undefined;
  };
}

/** The name in `{name}`. */
function parameterOf(segment: string): string | undefined {
  return /^\{(\w+)\}$/.exec(segment)?.[1];
}

function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (segments.length !== pattern.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? '';
    const name = parameterOf(expected);
    if (name === undefined) {
      if (segment !== expected) return undefined;
      continue;
    }
    const value = decode(segment);
    if (value === undefined || value === '') return undefined;
    parameters[name] = value;
  }
  return parameters;
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
