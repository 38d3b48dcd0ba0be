import { PACTO, PACTO_REVISION } from '../../cluster/kinds.ts';
import type { KubeObject } from '../../cluster/objects.ts';
import { repositoryOf } from '../observe/dependency-repository.ts';
import { relatedTo, serviceText } from '../read-keys.ts';
import { isRecord, listOf, pick, recordOf, type Trigger } from './trigger.ts';

/** By which whoever may not write asks the leader to look (design §5). */
export const REQUESTED_AT = 'gate.pacto.trianalab.io/requested-at';
/** operator.md §1.2. */
export const PACTO_LABEL = 'pacto.trianalab.io/pacto';

/** A status with many findings has some 20 KB. */
const PAGE_SIZE = 100;

/** All of it is kept: what is written is made from it. As a dependency of others a Pacto is a part of its status. */
export const PACTOS: Trigger = {
  kind: PACTO,
  scope: 'watched',
  optional: true,
  pageSize: PAGE_SIZE,
  keepsMetadata: (metadata) => metadata,
  keep: ({ spec, status }) => ({ spec, ...(status !== undefined && { status }) }),
  relations(pacto) {
    const { resolvedRef } = contractOf(pacto);
    const repository = typeof resolvedRef === 'string' ? repositoryOf(resolvedRef) : '';
    return repository === '' ? [] : [relatedTo(PACTO, repository)];
  },
  essence: (pacto) => [
    isRecord(recordOf(pacto['status'])['contract']),
    pick(contractOf(pacto), ['resolvedRef', 'version']),
    recordOf(recordOf(pacto['spec'])['target'])['serviceName'],
  ],
};

export const REVISIONS: Trigger = {
  kind: PACTO_REVISION,
  scope: 'watched',
  optional: true,
  own: true,
  keepsMetadata: ({ labels, ownerReferences, creationTimestamp }) => ({
    ...(labels !== undefined && { labels }),
    ...(ownerReferences !== undefined && { ownerReferences }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
  }),
  keep: ({ spec, status }) => ({ spec, ...(status !== undefined && { status }) }),
  relations({ metadata }) {
    const owner = listOf(metadata.ownerReferences).find(({ kind }) => kind === PACTO.kind)?.['name'];
    const name = typeof owner === 'string' ? owner : recordOf(metadata.labels)[PACTO_LABEL];
    const namespace = metadata.namespace ?? '';
    return typeof name === 'string' ? [relatedTo(PACTO_REVISION, serviceText({ namespace, name }))] : [];
  },
  // Nobody else writes one; one that is gone must come back.
  essence: () => undefined,
};

/** What of a Pacto is read as a dependency of others. */
export function asSibling(pacto: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, spec, status } = pacto;
  const { namespace, name, uid } = metadata;
  const { contract } = recordOf(status);
  return {
    apiVersion,
    kind,
    metadata: {
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
      ...(uid !== undefined && { uid }),
    },
    spec: { target: pick(recordOf(spec)['target'], ['serviceName']) },
    status: isRecord(contract) ? { contract: pick(contract, ['resolvedRef', 'version']) } : {},
  };
}

/** What of a Pacto makes a new look necessary; its status is our own writing (operator.md §20, T1). */
export function wishOf({ metadata }: KubeObject): string {
  const { uid, generation, deletionTimestamp, annotations } = metadata;
  return JSON.stringify([uid, generation, deletionTimestamp, recordOf(annotations)[REQUESTED_AT]]);
}

function contractOf(pacto: KubeObject): Readonly<Record<string, unknown>> {
  return recordOf(recordOf(pacto['status'])['contract']);
}
