/** Many different contracts in a process that has validated none before: its worker's start is in the time. */
import { SchemaPool } from '../../../src/schema/schema-pool.ts';
import type { ContractFleet } from '../result.ts';
import { typicalBundle } from './bundles.ts';
import { validateBundle } from './validation.ts';

const CONTRACTS = 1000;
/** While one waits for the worker, another is read. */
const AT_ONCE = 4;

/** @param argument how many kinds of schemas they have among them */
export async function run(argument: string): Promise<ContractFleet> {
  const kinds = Number(argument);
  const bundles = Array.from({ length: CONTRACTS }, (_, index) => typicalBundle(index, index % kinds));
  const schemas = new SchemaPool();
  try {
    const start = performance.now();
    const next = bundles.values();
    const several = Array.from({ length: AT_ONCE }, async () => {
      for (const files of next) await validateBundle(files, schemas);
    });
    await Promise.all(several);
    return { contracts: CONTRACTS, kinds, seconds: (performance.now() - start) / 1000 };
  } finally {
    await schemas.close();
  }
}
