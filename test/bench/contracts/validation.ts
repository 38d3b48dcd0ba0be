import { CONTRACT_FILE, type BundleFiles } from '../../../src/policies/contract/bundle-files.ts';
import { load } from '../../../src/policies/contract/load.ts';
import { validate } from '../../../src/policies/contract/validate.ts';
import type { SchemaPool } from '../../../src/schema/schema-pool.ts';

/** From the bytes of a bundle to the result of all three layers. @throws Error unless the contract is valid */
export async function validateBundle(files: BundleFiles, schemas: SchemaPool): Promise<void> {
  const loaded = load(files.get(CONTRACT_FILE) ?? '');
  if (!loaded.ok) throw new Error(`a contract of the benchmark does not load: ${loaded.reason}`);
  const { errors } = await validate(loaded, { files, schemas });
  if (errors.length > 0)
    throw new Error(`a contract of the benchmark is not valid: ${JSON.stringify(errors)}`);
}
