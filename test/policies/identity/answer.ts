import type { KubeObject } from '../../../src/cluster/objects.ts';
import { isNeed, type Evidence, type Found, type Need } from '../../../src/policies/identity/evidence.ts';
import type { Verdict } from '../../../src/policies/verdict.ts';

type ObjectNeed = Exclude<Need, { readonly need: 'server-version' }>;
const KIND: Readonly<Record<ObjectNeed['need'], string>> = {
  pod: 'Pod',
  node: 'Node',
  daemonset: 'DaemonSet',
};

/** Answers a decision's needs from a list of objects until there is a verdict; `needs` collects what was asked. */
export function answer(
  decide: (evidence: Evidence) => Verdict | Need,
  known: Evidence,
  cluster: readonly KubeObject[] = [],
  needs: Need[] = [],
): Verdict {
  const found: { -readonly [Key in ObjectNeed['need']]?: Found } = {};
  for (let round = 0; round < 4; round++) {
    const verdict = decide({ ...known, ...found });
    if (!isNeed(verdict)) return verdict;
    needs.push(verdict);
    if (verdict.need === 'server-version') throw new Error('the decision needs the version');
    const object = cluster.find(
      (candidate) =>
        candidate.kind === KIND[verdict.need] &&
        candidate.metadata.name === verdict.name &&
        (!('namespace' in verdict) || candidate.metadata.namespace === verdict.namespace),
    );
    found[verdict.need] = { object };
  }
  throw new Error('the decision never ends');
}
