/** Versions of policies that tell which one they are, and whether answers are of the versions they should be. */
import { GATE_POLICY, apiVersionOf } from '../../../src/cluster/kinds.ts';
import type { KeptAnswer } from '../load-job.ts';
import type { PolicyObject } from '../policies/policy-objects.ts';
import { median } from '../statistics.ts';

/** A version of the policy at a path, and when it was written. */
export interface Change {
  /** Index of the policy, and of its path. */
  readonly policy: number;
  readonly version: number;
  /** What this version says to the review that is sent. */
  readonly allowed: boolean;
  /** Milliseconds since 1970; 0 for what is in force from the start. */
  readonly atMs: number;
}

/** So many custom resources, by copies of `known` under names of their own. */
export function copiesOf(known: readonly PolicyObject[], count: number): readonly PolicyObject[] {
  return Array.from({ length: count }, (_, index): PolicyObject => {
    const policy = known[index % known.length];
    if (policy === undefined) throw new RangeError('copiesOf: there are no policies');
    const name = `${policy.metadata.name}-${index}`;
    return { ...policy, apiVersion: apiVersionOf(GATE_POLICY), metadata: { name } };
  });
}

/** A policy that tells its version in the audit annotation and, where it refuses, in the message. */
export function versionOf(policy: PolicyObject, { version, allowed }: Change): PolicyObject {
  const { spec } = policy;
  const text = textOf(version);
  return {
    ...policy,
    spec: {
      ...spec,
      variables: [...(spec.variables ?? []), { name: 'version', expression: `'${text}'` }],
      validations: [
        ...spec.validations,
        { expression: String(allowed), messageExpression: 'variables.version' },
      ],
      auditAnnotations: [{ key: 'version', valueExpression: `'${text}'` }],
    },
  };
}

const textOf = (version: number): string => `version ${version}`;

export interface Checked {
  /** What is wrong → how often. */
  readonly wrong: Readonly<Record<string, number>>;
  /** For each change: from it to the last request that was sent and met the version before it; 0 if none did. */
  readonly delayMs: { readonly median: number; readonly max: number };
}

/**
 * Each answer has to be of one version wholly; of one that was written by then; of no older one than an answer that
 * was there before it was asked; and of the newest one, where it was asked `delayLimitMs` after that was written.
 *
 * @param changes of all policies, from the version at the start on, in the order of time
 */
export function checkAnswers(
  changes: readonly Change[],
  answers: readonly KeptAnswer[],
  delayLimitMs: number,
): Checked {
  const wrong = new Map<string, number>();
  const delays: number[] = [];
  const ofAnswers = Map.groupBy(answers, ({ path }) => path);
  for (const [policy, written] of Map.groupBy(changes, ({ policy: index }) => index)) {
    const checked = new PolicyCheck(written, delayLimitMs);
    for (const fault of checked.faults(ofAnswers.get(policy) ?? [])) {
      wrong.set(fault, (wrong.get(fault) ?? 0) + 1);
    }
    delays.push(...checked.delays());
  }
  return {
    wrong: Object.fromEntries(wrong),
    delayMs:
      delays.length === 0 ? { median: 0, max: 0 } : { median: median(delays), max: Math.max(...delays) },
  };
}

class PolicyCheck {
  private readonly written: readonly Change[];
  private readonly delayLimitMs: number;
  /** Of each version but the first, when a request was last sent that met an older one. */
  private readonly lastOlderMs: number[];

  constructor(written: readonly Change[], delayLimitMs: number) {
    this.written = written;
    this.delayLimitMs = delayLimitMs;
    this.lastOlderMs = written.slice(1).map(({ atMs }) => atMs);
  }

  delays(): readonly number[] {
    return this.lastOlderMs.map((lastMs, index) => lastMs - (this.written[index + 1]?.atMs ?? lastMs));
  }

  faults(answers: readonly KeptAnswer[]): readonly string[] {
    const bySent = answers.toSorted((a, b) => a.sentMs - b.sentMs);
    const byAnswered = answers.toSorted((a, b) => a.answeredMs - b.answeredMs);
    const faults: string[] = [];
    let seen = 0;
    let newest = 0;
    for (const answer of bySent) {
      for (let earlier = byAnswered[seen]; earlier !== undefined && earlier.answeredMs <= answer.sentMs;) {
        newest = Math.max(newest, this.indexOf(earlier));
        seen += 1;
        earlier = byAnswered[seen];
      }
      const fault = this.faultOf(answer, newest);
      if (fault !== undefined) faults.push(fault);
    }
    return faults;
  }

  /** Which of the versions an answer says it is of; -1: none. */
  private indexOf({ annotations }: KeptAnswer): number {
    return this.written.findIndex(({ version }) => annotations[0] === textOf(version));
  }

  private faultOf(answer: KeptAnswer, newest: number): string | undefined {
    const index = this.indexOf(answer);
    const change = this.written[index];
    if (change === undefined) return 'no version that was written';
    for (let later = index; later < this.lastOlderMs.length; later += 1) {
      this.lastOlderMs[later] = Math.max(this.lastOlderMs[later] ?? 0, answer.sentMs);
    }
    if (answer.allowed !== change.allowed) return 'verdict of another version';
    if (!answer.allowed && !answer.message.endsWith(textOf(change.version)))
      return 'message of another version';
    if (change.atMs > answer.answeredMs) return 'answered before the version was written';
    if (index < newest) return 'an older version after a newer one';
    const next = this.written[index + 1];
    if (next !== undefined && answer.sentMs >= next.atMs + this.delayLimitMs)
      return 'an older version after the delay';
    return undefined;
  }
}
