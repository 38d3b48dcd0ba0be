/**
 * Random CEL expressions here and on the API server's own packages: `npm run fuzz [-- --seconds N --seed S]`.
 * Exit: 0 no disagreement, 1 one was found, 2 usage, 3 there is no Go to compare with.
 */
import { parseArgs } from 'node:util';
import { buildPeer } from '../test/bench/peer.ts';
import { Fuzzer, type FuzzResult } from '../test/fuzz/fuzz.ts';
import { readSurroundings } from '../test/fuzz/sides.ts';
import { BuildError } from './controlplane/go-build.ts';

const DEFAULT_SECONDS = 60;
const SEEDS = 2 ** 31;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } });
  const seconds = Number(values.seconds ?? DEFAULT_SECONDS);
  const seed = Number(values.seed ?? Math.floor(Math.random() * SEEDS));
  if (!(seconds > 0) || !Number.isSafeInteger(seed)) {
    process.stderr.write('usage: npm run fuzz -- [--seconds N] [--seed WHOLE-NUMBER]\n');
    return 2;
  }
  process.stdout.write(`seed ${String(seed)}, ${String(seconds)} s\n`);
  let program: string;
  try {
    program = await buildPeer((line) => process.stdout.write(`${line}\n`));
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    process.stderr.write(`NOTHING WAS COMPARED: ${error.message}\n`);
    return 3;
  }
  const fuzzer = new Fuzzer(program, await readSurroundings());
  return report(await fuzzer.run(seed, performance.now() + seconds * 1000));
}

function report({ cases, compiled, undecided, finding }: FuzzResult): number {
  if (finding !== undefined) {
    const { found, what } = finding;
    process.stdout.write(
      `\nDISAGREEMENT\n${found.source}\n\n${what}\n\n${JSON.stringify(found, undefined, 2)}\n\n`,
    );
  }
  const counts = [
    `${String(cases)} expressions`,
    `${String(compiled)} of them compile`,
    `${String(undecided)} undecided`,
  ];
  process.stdout.write(`${counts.join(', ')}\n`);
  return finding === undefined ? 0 : 1;
}
