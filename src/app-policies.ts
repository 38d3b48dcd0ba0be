/** The policies that the configuration names, read once at start, and what is to be said about them. */
import { basename, dirname, join } from 'node:path';
import type { Cluster } from './cluster/cluster.ts';
import { readObjects } from './cluster/directory-file.ts';
import { DIRECTORY_LIMITS, scanDirectory, type Problem } from './cluster/directory-scan.ts';
import type { Kind } from './cluster/kinds.ts';
import type { KubeObject } from './cluster/objects.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { GateError, quote } from './errors.ts';
import { createReviewCap } from './http/review-cap.ts';
import type { Log } from './log.ts';
import { Cel } from './policies/cel/cel.ts';
import {
  minorOf,
  policyObjectsOf,
  type PolicyKind,
  type PolicyObjects,
} from './policies/vap/policy-objects.ts';
import { createPolicySet, type PolicySet } from './policies/vap/policy-set.ts';
import { findParamKind, paramKindOf } from './webhooks/param-kinds.ts';
import { policiesWebhook } from './webhooks/policies.webhook.ts';
import type { ReviewAccess } from './webhooks/policy-needs.ts';
import type { Webhook } from './webhooks/webhook.ts';

export interface PolicyParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Who answers the authorizer's questions; undefined where nobody can. */
  readonly reviewAccess: ReviewAccess | undefined;
}

export interface EnforcedPolicies {
  readonly webhook: Webhook;
  readonly set: PolicySet;
}

/**
 * @throws GateError GATE_POLICY_FILE for a file that cannot be read whole: to serve without it would be to allow what
 *   it forbids. A policy in it that is wrong is reported, and the others are enforced.
 */
export async function loadPolicies(
  { policies: settings }: Pick<Config, 'policies'>,
  { clock, log, reviewAccess }: PolicyParts,
): Promise<EnforcedPolicies> {
  const { files, directory, compatibilityVersion, paramKinds } = settings;
  const objects = await readAll(files, directory);
  const found = policyObjectsOf(objects);
  const set = createPolicySet({
    cel: new Cel(),
    policies: found.policies,
    bindings: found.bindings,
    minor: minorOf(compatibilityVersion),
  });
  const kinds = paramKinds.map(paramKindOf);
  for (const { kind, name, message } of problemsOf(found, set, kinds)) {
    log.warn('policy not enforced as it is written', {
      kind,
      name,
      err: new GateError('GATE_POLICY_INVALID', message),
    });
  }
  log.info('policies loaded', { count: found.policies.length });
  const webhook = policiesWebhook({
    policies: found.policies,
    set,
    paramKinds: kinds,
    ...(reviewAccess === undefined ? {} : { reviewAccess: capped(reviewAccess, clock) }),
  });
  return { webhook, set };
}

async function readAll(
  files: readonly string[],
  directory: string | undefined,
): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const path of files) {
    const named = { file: basename(path), path, stamp: '' };
    const { objects: found, problems } = await readObjects(named, DIRECTORY_LIMITS.fileBytes);
    refuseFirst(problems, dirname(path));
    objects.push(...found.map(({ object }) => object));
  }
  if (directory === undefined) return objects;
  const scan = await scanDirectory(directory, DIRECTORY_LIMITS);
  refuseFirst(scan.problems, directory);
  for (const file of scan.files) {
    const { objects: found, problems } = await readObjects(file, DIRECTORY_LIMITS.fileBytes);
    refuseFirst(problems, directory);
    objects.push(...found.map(({ object }) => object));
  }
  return objects;
}

function refuseFirst([problem]: readonly Problem[], below: string): void {
  if (problem === undefined) return;
  const { file, line, column, message } = problem;
  const place = [join(below, file), line, column].filter((part) => part !== undefined).join(':');
  throw new GateError('GATE_POLICY_FILE', `${place}: ${message}`);
}

interface PolicyProblem {
  readonly kind: PolicyKind;
  readonly name: string;
  readonly message: string;
}

/** What keeps a policy from being enforced as its writer will have meant it. */
function problemsOf(
  { policies, bindings, unreadable }: PolicyObjects,
  set: Pick<PolicySet, 'problems'>,
  kinds: readonly Kind[],
): readonly PolicyProblem[] {
  const names = new Set(policies.map(({ name }) => name));
  const bound = new Set(bindings.map(({ policyName }) => policyName));
  const policy = (name: string, message: string): PolicyProblem => ({
    kind: 'ValidatingAdmissionPolicy',
    name,
    message,
  });
  return [
    ...unreadable.map(({ kind, name, fault }) => ({ kind, name, message: `left out: ${fault}` })),
    ...set.problems.map(({ policy: name, field, error }) =>
      policy(name, `${field} does not compile: ${error}`),
    ),
    ...policies.filter(({ name }) => !bound.has(name)).map(({ name }) => policy(name, 'has no binding')),
    ...policies.flatMap(({ name, paramKind }) =>
      paramKind === undefined || findParamKind(kinds, paramKind) !== undefined
        ? []
        : [
            policy(
              name,
              `its paramKind ${quote(`${paramKind.apiVersion}/${paramKind.kind}`)} is not in policies.paramKinds`,
            ),
          ],
    ),
    ...bindings
      .filter(({ policyName }) => !names.has(policyName))
      .map(({ name, policyName }) => ({
        kind: 'ValidatingAdmissionPolicyBinding' as const,
        name,
        message: `there is no policy ${quote(policyName)}`,
      })),
  ];
}

/** At once and a second: a review may make an expression ask twice, and reviews are written by anybody. */
const MAX_CONCURRENT = 32;
const RATE_PER_SECOND = 100;
const BURST = 300;

function capped(reviewAccess: Cluster['reviewAccess'], clock: Clock): ReviewAccess {
  const cap = createReviewCap({
    clock,
    maxConcurrent: MAX_CONCURRENT,
    ratePerSecond: RATE_PER_SECOND,
    burst: BURST,
  });
  return (question, options) => cap.run('known', () => reviewAccess(question, options));
}
