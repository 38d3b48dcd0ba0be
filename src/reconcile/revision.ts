/** The revision of a contract: its name, its object, and whether there is one already (operator.md §1.2, §3.5, §20 T4, T10). */
import { createHash } from 'node:crypto';
import { apiVersionOf, PACTO, PACTO_REVISION } from '../cluster/kinds.ts';
import type { KubeObject } from '../cluster/objects.ts';
import type { Pacto } from './api/pacto.ts';
import type { RevisionPlan } from './pass.ts';
import { shortText } from './short-text.ts';
import { inSeconds } from './stabilization.ts';
import { PACTO_LABEL } from './triggers/pactos.ts';

/** operator.md §1.2. */
const VERSION_LABEL = 'pacto.trianalab.io/version';
const HASH_LENGTH = 7;
/** Of a DNS subdomain and of a label's value (RFC 1123, apimachinery validation). */
const NAME_LENGTH = 253;
const LABEL_LENGTH = 63;
/** Of what a contract says, which has no end of its own. */
const TEXT_LENGTH = 1_024;
const PLAIN_NAME = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;
const PLAIN_LABEL = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

export interface RevisedContract {
  readonly serviceName: string;
  readonly version: string;
  /** Of the contract's own text, in hexadecimal. */
  readonly sha256: string;
  /** Empty for an inline contract. */
  readonly resolvedRef: string;
  /** Of the manifest; empty for an inline contract. */
  readonly digest: string;
}

/** @param existing the revisions of the Pacto. */
export function planRevision(
  pacto: Pick<Pacto, 'namespace' | 'name' | 'uid'>,
  contract: RevisedContract,
  existing: readonly KubeObject[],
  nowMs: number,
): RevisionPlan {
  const version = contract.version === '' ? 'unknown' : contract.version;
  const plain = revisionName(pacto.name, version, contract.sha256);
  const there = existing.find(({ metadata }) => metadata.name === plain);
  // The same contract in another bundle: under the same name its digest would be the old one's for ever.
  const isOther = there !== undefined && contract.digest !== '' && isOfOtherDigest(there, contract.digest);
  const name = isOther
    ? revisionName(pacto.name, version, contract.sha256, contract.digest.replace(/^sha256:/, ''))
    : plain;
  const object = {
    apiVersion: apiVersionOf(PACTO_REVISION),
    kind: PACTO_REVISION.kind,
    metadata: {
      namespace: pacto.namespace,
      name,
      labels: { [PACTO_LABEL]: labelValue(pacto.name), [VERSION_LABEL]: labelValue(version) },
      ownerReferences: [
        {
          apiVersion: apiVersionOf(PACTO),
          kind: PACTO.kind,
          name: pacto.name,
          uid: pacto.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      version: shortText(version, TEXT_LENGTH),
      pactoRef: pacto.name,
      source:
        contract.resolvedRef === ''
          ? { inline: true }
          : { oci: contract.resolvedRef, ...(contract.digest !== '' && { digest: contract.digest }) },
      ...(contract.serviceName !== '' && { serviceName: shortText(contract.serviceName, TEXT_LENGTH) }),
    },
    status: { resolved: true, contractHash: contract.sha256, createdAt: inSeconds(nowMs) },
  };
  return { object, existing: existing.find(({ metadata }) => metadata.name === name) };
}

/** `<pacto>-<version with hyphens>-<7 of the hash>`; what no name may hold is replaced, and the hash is never cut. */
export function revisionName(pacto: string, version: string, sha256: string, digest = ''): string {
  const tail = digest === '' ? '' : `-${digest.slice(0, HASH_LENGTH)}`;
  const hash = `-${sha256.slice(0, HASH_LENGTH)}${tail}`;
  const written = version.replaceAll('.', '-');
  const plain = `${pacto}-${written}${hash}`;
  if (plain.length <= NAME_LENGTH && PLAIN_NAME.test(plain)) return plain;
  // Two that read the same without what is replaced or cut are told apart by a hash of the whole.
  const safe = written
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  const ofWhole = createHash('sha256').update(`${pacto}/${version}`).digest('hex').slice(0, HASH_LENGTH);
  const end = `-${safe.slice(0, LABEL_LENGTH)}-${ofWhole}${hash}`;
  const head = pacto.slice(0, NAME_LENGTH - end.length).replaceAll(/[-.]+$/g, '');
  return `${head}${end}`;
}

/** As it is where it may be one, else its beginning and a hash. */
export function labelValue(text: string): string {
  if (text.length <= LABEL_LENGTH && PLAIN_LABEL.test(text)) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
  const safe = text.replaceAll(/[^-A-Za-z0-9_.]+/g, '-').slice(0, LABEL_LENGTH - HASH_LENGTH - 1);
  return `${safe.replaceAll(/^[-_.]+|[-_.]+$/g, '')}-${hash}`.replaceAll(/^-+/g, '');
}

function isOfOtherDigest(revision: KubeObject, digest: string): boolean {
  const known = sourceOf(revision).digest;
  return known !== undefined && known !== digest;
}

/** What a revision says of where it came from. */
export function sourceOf(revision: KubeObject): { readonly oci?: string; readonly digest?: string } {
  const { source } = (revision['spec'] ?? {}) as { source?: { oci?: unknown; digest?: unknown } };
  const { oci, digest } = source ?? {};
  return {
    ...(typeof oci === 'string' && oci !== '' && { oci }),
    ...(typeof digest === 'string' && digest !== '' && { digest }),
  };
}
