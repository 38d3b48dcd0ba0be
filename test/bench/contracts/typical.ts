/** A typical contract after warm-up, and beside it what its YAML alone takes the `yaml` package. */
import { parse } from 'yaml';
import type { BundleFiles } from '../../../src/policies/contract/bundle-files.ts';
import { SchemaPool } from '../../../src/schema/schema-pool.ts';
import type { TypicalContract } from '../result.ts';
import { summarize } from '../statistics.ts';
import { typicalBundle } from './bundles.ts';
import { validateBundle } from './validation.ts';

/** As in a cluster: many services, and few kinds of schemas among them. */
const CONTRACTS = 50;
const KINDS = 5;
const WARMUP = 400;
const ROUNDS = 5;

/** @param argument samples of a round; the round with the lowest median counts, the others had to share the processor */
export async function run(argument: string): Promise<TypicalContract> {
  const samples = Number(argument);
  const bundles = Array.from({ length: CONTRACTS }, (_, index) => typicalBundle(index, index % KINDS));
  const texts = bundles.map(yamlTexts);
  const schemas = new SchemaPool();
  const ours = (n: number): Promise<void> => validateBundle(ofTurn(bundles, n), schemas);
  const yaml = (n: number): void => ofTurn(texts, n).forEach((text) => void parse(text));
  try {
    for (let n = 0; n < WARMUP; n += 1) {
      await ours(n);
      yaml(n);
    }
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push({ ours: await times(samples, ours), yaml: await times(samples, yaml) });
    }
    const [best] = rounds.toSorted((a, b) => a.ours.p50Ms - b.ours.p50Ms);
    if (best === undefined) throw new Error('no round was run');
    return {
      bytes: bundles.reduce((sum, files) => sum + bytesOf(files), 0) / CONTRACTS,
      p50Ms: best.ours.p50Ms,
      p99Ms: best.ours.p99Ms,
      yamlP50Ms: best.yaml.p50Ms,
    };
  } finally {
    await schemas.close();
  }
}

async function times(
  samples: number,
  once: (n: number) => Promise<void> | void,
): Promise<{ readonly p50Ms: number; readonly p99Ms: number }> {
  const taken: number[] = [];
  for (let n = 0; n < samples; n += 1) {
    const start = performance.now();
    await once(n);
    taken.push(performance.now() - start);
  }
  return summarize(taken);
}

function ofTurn<T>(all: readonly T[], n: number): T {
  const one = all[n % all.length];
  if (one === undefined) throw new Error('there is nothing to measure');
  return one;
}

function yamlTexts(files: BundleFiles): readonly string[] {
  const decoder = new TextDecoder();
  return [...files].filter(([path]) => path.endsWith('.yaml')).map(([, bytes]) => decoder.decode(bytes));
}

function bytesOf(files: BundleFiles): number {
  return [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
}
