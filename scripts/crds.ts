/** Writes the CustomResourceDefinitions of Pacto's own kinds to manifests/crds: `npm run crds`. A test compares them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { stringify } from 'yaml';
import { NODE_RUNTIME_OBSERVATION_CRD } from '../src/reconcile/api/node-runtime-observation-crd.ts';
import { PACTO_CRD } from '../src/reconcile/api/pacto-crd.ts';
import { PACTO_REVISION_CRD } from '../src/reconcile/api/pacto-revision-crd.ts';

const DIRECTORY = 'manifests/crds';

/** File name → text, as it is to be in the repository. */
export async function crdFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  // Upstream's own names of these files (operator.md §1.3).
  for (const [name, crd] of [
    ['pacto.trianalab.io_pactos.yaml', PACTO_CRD],
    ['pacto.trianalab.io_pactorevisions.yaml', PACTO_REVISION_CRD],
    ['pacto.trianalab.io_noderuntimeobservations.yaml', NODE_RUNTIME_OBSERVATION_CRD],
  ] as const) {
    const yaml = stringify(crd, { aliasDuplicateObjects: false, lineWidth: 0 });
    files.set(
      join(DIRECTORY, name),
      await format(yaml, { parser: 'yaml', singleQuote: true, printWidth: 110 }),
    );
  }
  return files;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await mkdir(DIRECTORY, { recursive: true });
  for (const [file, text] of await crdFiles()) {
    await writeFile(file, text);
    process.stdout.write(`wrote ${file}\n`);
  }
}
