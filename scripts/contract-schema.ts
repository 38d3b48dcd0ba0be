/**
 * Writes manifests/schema/pacto-v2.0.schema.json, for editors, from the schema that layer 1 judges by.
 * `node scripts/contract-schema.ts`; test/policies/contract/contract-schema.test.ts compares.
 */
import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { CONTRACT_SCHEMA } from '../src/policies/contract/contract-schema.ts';

const FILE = 'manifests/schema/pacto-v2.0.schema.json';

await writeFile(
  FILE,
  await format(JSON.stringify(CONTRACT_SCHEMA), { ...(await resolveConfig(FILE)), filepath: FILE }),
);
process.stdout.write(`${FILE} written\n`);
