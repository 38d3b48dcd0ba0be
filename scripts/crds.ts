/**
 * Writes the CustomResourceDefinitions of Pacto's own kinds to manifests/crds, and the one of NodeRuntimeObservation into
 * the example cluster: `npm run crds`. A test compares them.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { stringify } from 'yaml';
import { APPROVAL_CRD } from '../src/reconcile/api/approval-crd.ts';
import { NODE_RUNTIME_OBSERVATION_CRD } from '../src/reconcile/api/node-runtime-observation-crd.ts';
import { OPERATION_CRD } from '../src/reconcile/api/operation-crd.ts';
import { PACTO_CRD } from '../src/reconcile/api/pacto-crd.ts';
import { PACTO_REVISION_CRD } from '../src/reconcile/api/pacto-revision-crd.ts';
import { STAGE_CRD } from '../src/reconcile/api/stage-crd.ts';

const DIRECTORY = 'manifests/crds';
const EXAMPLE = 'examples/cluster/noderuntimeobservations.crd.yaml';

/** File name → text, as it is to be in the repository. */
export async function crdFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  // Upstream's own names of these files (operator.md §1.3).
  for (const [name, crd] of [
    ['pacto.trianalab.io_pactos.yaml', PACTO_CRD],
    ['pacto.trianalab.io_pactorevisions.yaml', PACTO_REVISION_CRD],
    ['pacto.trianalab.io_noderuntimeobservations.yaml', NODE_RUNTIME_OBSERVATION_CRD],
    ['delivery.pacto.trianalab.io_stages.yaml', STAGE_CRD],
    ['delivery.pacto.trianalab.io_operations.yaml', OPERATION_CRD],
    ['delivery.pacto.trianalab.io_approvals.yaml', APPROVAL_CRD],
  ] as const) {
    files.set(join(DIRECTORY, name), await yamlOf(crd));
  }
  files.set(
    EXAMPLE,
    `# What a node agent publishes; of its metadata, what an API server would add.\n${await yamlOf({
      ...NODE_RUNTIME_OBSERVATION_CRD,
      metadata: {
        ...(NODE_RUNTIME_OBSERVATION_CRD as { readonly metadata: object }).metadata,
        uid: 'f3d191d9-daa1-47b9-99bd-fca44ba97795',
        creationTimestamp: '2026-11-02T08:00:00Z',
      },
    })}`,
  );
  return files;
}

function yamlOf(crd: object): Promise<string> {
  const yaml = stringify(crd, { aliasDuplicateObjects: false, lineWidth: 0 });
  return format(yaml, { parser: 'yaml', singleQuote: true, printWidth: 110 });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await mkdir(DIRECTORY, { recursive: true });
  for (const [file, text] of await crdFiles()) {
    await writeFile(file, text);
    process.stdout.write(`wrote ${file}\n`);
  }
}
