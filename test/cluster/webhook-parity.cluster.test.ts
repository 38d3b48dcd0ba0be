/**
 * The same policies mean the same on a cluster that cannot enforce them: natively on 1.36 and through our webhook on
 * 1.29, whoever sends a request by kubectl is shown the same, and so is who reads the audit log.
 */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterSuite } from './support/cluster-suite.ts';
import { ALLOWED_DIFFERENCES, RULES } from './support/parity/allowed-differences.ts';
import { readKubescape } from './support/parity/kubescape-cases.ts';
import { OWN_CASES } from './support/parity/own-cases.ts';
import type { ParityCase, Sending } from './support/parity/parity-case.ts';
import { readChosenCases } from './support/parity/recorded-cases.ts';
import { parityDifferences, refusedByPolicy } from './support/parity/seen.ts';
import { CLUSTER_SOURCES, isWithin, startTwins, type Twins } from './support/parity/twins.ts';
import { draw, readRequestCases } from './support/policy-cases.ts';

/** Folder of the kubescape set. */
const VARIABLE = 'PACTO_GATE_KUBESCAPE';

/** Cases that are answered once more from each source of policies in the cluster; the seed repeats the draw. */
const FROM_CLUSTER = 30;
const seed = Number(process.env['PACTO_GATE_SEED'] ?? randomInt(2 ** 32));

clusterSuite('policies on 1.36 and through the webhook on 1.29', {}, () => {
  const directory = process.env[VARIABLE] ?? '';
  if (directory !== '' && !existsSync(directory)) throw new Error(`${VARIABLE}: there is no ${directory}`);
  const kubescape = directory === '' ? undefined : readKubescape(directory);
  const left =
    kubescape === undefined ? ` [WITHOUT the 36 policies of kubescape: ${VARIABLE} names no folder]` : '';
  if (left !== '') process.stderr.write(`\nLEFT OUT:${left}\n\n`);
  const recorded = readChosenCases();
  const single = [...recorded, ...OWN_CASES];
  const sendings: readonly Sending[] = [
    ...single.map((one) => ({ id: `${one.family}/${one.id}`, cases: [one], batch: undefined })),
    ...(kubescape?.sendings ?? []),
  ];
  const drawn = draw(
    recorded.filter((one) => isWithin(one) && one.family !== 'stored'),
    { seed, count: FROM_CLUSTER, perFamily: 1 },
  );
  const fromCluster = sendings.filter(({ cases: [one] }) => one !== undefined && drawn.includes(one));
  const refused = sendings.find(({ id }) => id === 'matching/m04-cluster-scope-cluster')!.cases[0]!;
  let twins: Twins;

  beforeAll(async () => {
    twins = await startTwins({ sendings, kubescape, fromCluster, refused });
  });
  afterAll(async () => {
    await twins?.stop();
  });

  it('holds 60 policies, and two cases of each recorded family', () => {
    const names = new Set(sendings.flatMap(({ cases }) => cases.flatMap((one) => one.policies.map(nameOf))));
    expect(names.size).toBeGreaterThanOrEqual(60);
    const families = new Set(readRequestCases().map(({ family }) => family));
    const counts = [...families].map((family) => ({
      family,
      isCovered: recorded.filter((one) => one.family === family).length >= 2,
    }));
    expect(counts.filter(({ isCovered }) => !isCovered)).toEqual([]);
  });

  describe.each(sendings)(`$id${left}`, (sending) => {
    it.each(sending.cases)('is answered natively as it is meant: $id', (one: ParityCase) => {
      const { refusal } = twins.native.seen.get(one.id)!;
      // What is printed tells why, where it is not.
      const printed = twins.native.printed.get(sending.id);
      expect({ allowed: refusal === undefined, refusal, printed }).toMatchObject({ allowed: one.allowed });
    });

    it('is seen and printed alike, but for what is allowed', () => {
      const found = parityDifferences(sending, twins.native, twins.ours);
      const wanted = ALLOWED_DIFFERENCES.filter(({ id }) => id === sending.id).flatMap(({ shows }) => shows);
      const isWanted = (text: string): boolean => wanted.some((pattern) => pattern.test(text));
      expect(found.filter((text) => !isWanted(text))).toEqual([]);
      // What is allowed and does not occur is as wrong as what occurs and is not allowed.
      expect(wanted.filter((pattern) => !found.some((text) => pattern.test(text)))).toEqual([]);
    });
  });

  describe.each(CLUSTER_SOURCES)(`from %s, drawn by PACTO_GATE_SEED=${seed}`, (source) => {
    it.each(fromCluster)('$id is seen and printed alike', (sending) => {
      expect(parityDifferences(sending, twins.native, twins.fromCluster.get(source)!)).toEqual([]);
    });
  });

  it('asks other webhooks where our webhook refuses, and natively does not (F11)', () => {
    expect(twins.asksOthers).toEqual({ native: 0, ours: 1 });
  });

  it('names differences of known kinds, for cases that there are', () => {
    const ids = new Set(sendings.map(({ id }) => id));
    expect(ALLOWED_DIFFERENCES.filter(({ id }) => !ids.has(id))).toEqual([]);
    const refused = [...twins.native.seen.values()].filter(refusedByPolicy).length;
    const annotated = [...twins.native.seen.values()].filter(
      ({ annotations }) => Object.keys(annotations).length > 0,
    ).length;
    process.stdout.write(
      [
        `\n${twins.native.seen.size} cases`,
        `F1 in ${refused}: ${RULES.F1}`,
        `F4 in ${annotated}: ${RULES.F4}`,
        `F11 in all that are refused, tried with one: ${RULES.F11}`,
        ...ALLOWED_DIFFERENCES.map(({ id, difference, why }) => `${difference} in ${id}: ${why}`),
        '',
      ].join('\n'),
    );
    expect(refused).toBeGreaterThan(0);
    expect(annotated).toBeGreaterThan(0);
  });
});

function nameOf(policy: unknown): string {
  return (policy as { readonly metadata: { readonly name: string } }).metadata.name;
}
