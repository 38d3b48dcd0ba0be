/** The recorded requests to policies (test/golden/vap), and a draw out of them that a seed repeats. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { UserInfo } from '../../../src/cluster/objects.ts';
import { readJson } from '../../../src/json.ts';
import type { RequestCase, Review } from '../../conformance/vap-case.ts';
import type { ApiRequest } from './api-client.ts';

const DIRECTORY = 'test/golden/vap';

/**
 * Families of which no case can be sent here: policies that went into the store past the write-time rules, an API
 * server with other plugins, and cases without policies.
 */
const ASIDE: ReadonlySet<string> = new Set(['stored', 'missing-namespace', 'webhook-answer']);

export interface PolicyCase extends RequestCase {
  readonly family: string;
  readonly review: Review;
  readonly request: Pick<ApiRequest, 'method' | 'path' | 'contentType' | 'body'> & {
    /** Left out for tokens and certificates: then that of the review. */
    readonly user?: UserInfo;
  };
}

/** Cases that can be sent to an API server and whose review tells a webhook everything. */
export function readPolicyCases(): readonly PolicyCase[] {
  return readRequestCases().filter(
    ({ family, review, numberTypeLost }) =>
      !ASIDE.has(family) && review !== null && numberTypeLost === undefined,
  );
}

/** All cases about requests to policies; of a few there is no review. */
export function readRequestCases(): readonly PolicyCase[] {
  const files = readdirSync(DIRECTORY).filter((name) => name.endsWith('.json'));
  return files.sort().flatMap((name) => {
    const file = readJson(readFileSync(join(DIRECTORY, name))) as {
      readonly family: string;
      readonly cases: readonly Partial<PolicyCase>[];
    };
    return file.cases
      .filter(({ request, policies }) => request !== undefined && policies !== undefined)
      .map((one) => Object.assign(one, { family: file.family }) as PolicyCase);
  });
}

/** The namespace of a case's own. */
export function namespaceOf({ id }: Pick<PolicyCase, 'id'>): string {
  return `g-${id}`;
}

export interface DrawOptions {
  readonly seed: number;
  readonly count: number;
  /** Of each family at least. */
  readonly perFamily: number;
}

/** @returns `count` of the cases, or all there are */
export function draw(
  cases: readonly PolicyCase[],
  { seed, count, perFamily }: DrawOptions,
): readonly PolicyCase[] {
  const shuffled = shuffle(cases, seed);
  const drawn = new Set<PolicyCase>();
  for (const family of new Set(shuffled.map((one) => one.family))) {
    for (const one of shuffled.filter((other) => other.family === family).slice(0, perFamily)) drawn.add(one);
  }
  for (const one of shuffled) if (drawn.size < count) drawn.add(one);
  return [...drawn];
}

function shuffle<T>(items: readonly T[], seed: number): readonly T[] {
  const shuffled = [...items];
  const random = randomNumbers(seed);
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!];
  }
  return shuffled;
}

/** Numbers from 0 to below 1: a Weyl sequence through the finalizer of MurmurHash3. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}

export function countByFamily(cases: readonly PolicyCase[]): string {
  const counts = new Map<string, number>();
  for (const { family } of cases) counts.set(family, (counts.get(family) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([family, count]) => `${family} ${count}`)
    .join(', ');
}

interface Selective {
  readonly namespaceSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly objectSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
}

interface Spec {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly policyName?: string;
    readonly matchConstraints?: Selective;
    readonly matchResources?: Selective;
  };
}

/**
 * Whether a case may be in force beside others: its policies reach no request but its own, and its request is none
 * that the namespace selectors of others let through (vap.md M02).
 */
export function isConfined(one: PolicyCase): boolean {
  const { namespace = '', resource } = one.review.request;
  if (namespace === '' && resource.resource !== 'namespaces') return false;
  const policies = new Map((one.policies as readonly Spec[]).map((policy) => [policy.metadata.name, policy]));
  return (one.bindings as readonly Spec[]).every(({ spec }) => {
    const constraints = policies.get(spec.policyName ?? '')?.spec.matchConstraints;
    return [constraints, spec.matchResources].some(
      (match) =>
        match?.namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name'] === namespaceOf(one) ||
        match?.objectSelector?.matchLabels?.['case'] === one.id,
    );
  });
}
