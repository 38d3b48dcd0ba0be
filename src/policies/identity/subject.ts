/** What an agent may do with its own objects (node-identity.md §3.3 steps 3 to 6). */
import type { AdmissionRequest } from '../../cluster/objects.ts';
import type { FindingCode } from '../finding.ts';
import { quote } from '../quote.ts';
import type { Finding } from '../verdict.ts';
import { at, canonicalJson, holdsMoreThan, isEmpty, isRecord, sameJson, typeName } from './foreign.ts';

export type SubjectKind = 'lease' | 'observation';

/**
 * What the request is about, or undefined where node identity does not cover it. Versions do not matter: names are the
 * same in each (NI28), and `/status` is covered like the main resource (NI14).
 */
export function subjectKindOf(request: AdmissionRequest): SubjectKind | undefined {
  if (!['CREATE', 'UPDATE', 'DELETE'].includes(request.operation)) return undefined;
  const resource = at(request, 'resource');
  const group = at(resource, 'group');
  const name = at(resource, 'resource');
  const subresource = at(request, 'subResource') ?? '';
  if (group === 'coordination.k8s.io' && name === 'leases' && subresource === '') return 'lease';
  if (
    group === 'pacto.trianalab.io' &&
    name === 'noderuntimeobservations' &&
    (subresource === '' || subresource === 'status')
  )
    return 'observation';
  return undefined;
}

/** The states that the request goes from and to; a DELETE has no new one, a CREATE no old one (NI12). */
interface Change {
  readonly before: unknown;
  readonly after: unknown;
}

function changeOf(request: AdmissionRequest): Change {
  return {
    before: request.operation === 'CREATE' ? undefined : request.oldObject,
    after: request.operation === 'DELETE' ? undefined : request.object,
  };
}

/** An agent's object has one owner and some labels; what is compared is bounded far above. */
const MAX_COMPARED_VALUES = 1_000;

/** Parts of metadata that are too large to be compared: an agent chooses them, and all others would wait meanwhile. */
export function crowdedFindings(request: AdmissionRequest): readonly Finding[] {
  const { before, after } = changeOf(request);
  return (['object', 'oldObject'] as const).flatMap((which) =>
    ['labels', 'finalizers', 'ownerReferences']
      .filter((key) =>
        holdsMoreThan(MAX_COMPARED_VALUES, at(which === 'object' ? after : before, 'metadata', key)),
      )
      .map((key) =>
        finding(
          'NODE_OBJECT_MALFORMED',
          `${which}.metadata.${key}`,
          `found more than ${String(MAX_COMPARED_VALUES)} values, needed fewer; leave out what no agent needs`,
        ),
      ),
  );
}

/** Rules that hold for any node, checked before anything is looked up. */
export function commonFindings(
  request: AdmissionRequest,
  kind: SubjectKind,
  namespaces: readonly string[],
): readonly Finding[] {
  const { before, after } = changeOf(request);
  const findings: Finding[] = [];
  const namespace = at(request, 'namespace');
  if (typeof namespace !== 'string' || !namespaces.includes(namespace))
    findings.push(
      finding(
        'NODE_NAMESPACE_FOREIGN',
        'metadata.namespace',
        `an agent may not write in ${typeof namespace === 'string' ? quote(namespace) : 'no namespace'}; use ${namespaces.map(quote).join(' or ')}, or change identity.namespaces`,
      ),
    );
  if (request.operation !== 'DELETE') findings.push(...shapeFindings('object', after, kind, namespace));
  if (request.operation !== 'CREATE')
    findings.push(...shapeFindings('oldObject', before, undefined, namespace));
  if (request.operation !== 'DELETE') findings.push(...metadataFindings(request, before, after));
  return findings;
}

function shapeFindings(
  which: 'object' | 'oldObject',
  object: unknown,
  kind: SubjectKind | undefined,
  namespace: unknown,
): Finding[] {
  const malformed = (path: string, value: unknown, needed: string): Finding =>
    finding(
      'NODE_OBJECT_MALFORMED',
      `${which}${path}`,
      `found ${typeName(value)}, needed ${needed}; send a complete object`,
    );
  if (!isRecord(object)) return [malformed('', object, 'an object')];
  const metadata = at(object, 'metadata');
  if (!isRecord(metadata)) return [malformed('.metadata', metadata, 'an object')];
  const findings: Finding[] = [];
  const own = at(metadata, 'namespace');
  if (own !== undefined && own !== null && own !== namespace)
    findings.push(malformed('.metadata.namespace', own, 'the namespace of the request'));
  for (const key of ['finalizers', 'ownerReferences'])
    if (!isEmpty(at(metadata, key)) && !Array.isArray(at(metadata, key)))
      findings.push(malformed(`.metadata.${key}`, at(metadata, key), 'a list'));
  if (!isEmpty(at(metadata, 'labels')) && !isRecord(at(metadata, 'labels')))
    findings.push(malformed('.metadata.labels', at(metadata, 'labels'), 'an object'));
  const parts = kind === undefined ? [] : new Set(HOLDER_FIELDS[kind].map(([part]) => part));
  for (const part of parts) {
    const value = at(object, part);
    if (value !== undefined && value !== null && !isRecord(value))
      findings.push(malformed(`.${part}`, value, 'an object'));
  }
  return findings;
}

/** Labels are free on CREATE only; finalizers never: they could make the object undeletable (NI17). */
function metadataFindings(request: AdmissionRequest, before: unknown, after: unknown): Finding[] {
  const findings: Finding[] = [];
  const changed = (key: string): boolean => {
    const [old, next] = [at(before, 'metadata', key), at(after, 'metadata', key)];
    return !(isEmpty(old) && isEmpty(next)) && !sameJson(old, next);
  };
  if (changed('finalizers'))
    findings.push(
      finding(
        'NODE_FINALIZERS_CHANGED',
        'metadata.finalizers',
        'an agent may neither set nor change finalizers; leave them as they are',
      ),
    );
  if (request.operation === 'UPDATE' && changed('labels'))
    findings.push(
      finding(
        'NODE_LABELS_CHANGED',
        'metadata.labels',
        'an agent may choose labels when it creates an object and not change them later; leave them as they are',
      ),
    );
  return findings;
}

/** Rules that compare with the node that was proved; exact string comparison (NI26). */
export function nodeFindings(request: AdmissionRequest, kind: SubjectKind, node: string): readonly Finding[] {
  const { before, after } = changeOf(request);
  const findings: Finding[] = [];
  const foreign = (where: string, value: unknown): void => {
    findings.push(
      finding(
        'NODE_NAME_MISMATCH',
        where,
        `the agent on node ${quote(node)} may not ${request.operation.toLowerCase()} ${typeof value === 'string' ? quote(value) : typeName(value)}; only the object named after its own node`,
      ),
    );
  };
  const requested = at(request, 'name') ?? '';
  const newName = at(after, 'metadata', 'name');
  const oldName = at(before, 'metadata', 'name');
  // generateName leaves another name, or none in the mutating phase, and so is refused here as well (NI09).
  if (request.operation !== 'DELETE' && newName !== node) foreign('metadata.name', newName);
  // An ordinary UPDATE has the same wrong name twice, and needs to be told once.
  const told = findings.length > 0 && oldName === newName;
  if (request.operation !== 'CREATE' && oldName !== node && !told)
    foreign('oldObject.metadata.name', oldName);
  // Empty on CREATE before a name is generated and on DELETE of a collection (NI13); never trusted alone.
  if (findings.length === 0 && requested !== '' && requested !== node) foreign('request.name', requested);
  // What another node's object holds names that node: saying so again helps nobody.
  return findings.length > 0 ? findings : holderFindings(after, kind, node);
}

/** Where an object says whose it is; an observation may say so in its spec, its status or both. */
const HOLDER_FIELDS: Readonly<
  Record<SubjectKind, readonly (readonly [part: 'spec' | 'status', field: string])[]>
> = {
  lease: [['spec', 'holderIdentity']],
  observation: [
    ['spec', 'nodeName'],
    ['status', 'nodeName'],
  ],
};

/** What names the holder is the node, where it is set. */
function holderFindings(after: unknown, kind: SubjectKind, node: string): Finding[] {
  return HOLDER_FIELDS[kind].flatMap(([part, field]) => {
    const value = at(after, part, field);
    if (value === undefined || value === null || value === node) return [];
    return finding(
      'NODE_HOLDER_MISMATCH',
      `${part}.${field}`,
      `found ${typeof value === 'string' ? quote(value) : typeName(value)}, needed ${quote(node)} or nothing`,
    );
  });
}

/** ownerReferences that the request adds or removes. */
export function changedOwners(request: AdmissionRequest): readonly unknown[] {
  if (request.operation === 'DELETE') return [];
  const { before, after } = changeOf(request);
  const [old, next] = [listAt(before), listAt(after)];
  const missingIn = (list: readonly unknown[], from: readonly unknown[]): readonly unknown[] => {
    const known = new Set(list.map(canonicalJson));
    return from.filter((one) => !known.has(canonicalJson(one)));
  };
  return [...missingIn(old, next), ...missingIn(next, old)];
}

function listAt(object: unknown): readonly unknown[] {
  const list = at(object, 'metadata', 'ownerReferences');
  return Array.isArray(list) ? list : [];
}

/**
 * A changed reference is to the own Node, by uid, and blocks nothing: with a wrong uid the garbage collector would
 * delete the object (NI16).
 * @param nodeUid undefined where no uid of the node is proved: then no reference may change.
 */
export function ownerFindings(
  changed: readonly unknown[],
  node: string,
  nodeUid: string | undefined,
): readonly Finding[] {
  const own = (reference: unknown): boolean =>
    nodeUid !== undefined &&
    at(reference, 'apiVersion') === 'v1' &&
    at(reference, 'kind') === 'Node' &&
    at(reference, 'name') === node &&
    at(reference, 'uid') === nodeUid &&
    (at(reference, 'blockOwnerDeletion') ?? false) === false;
  if (changed.every(own)) return [];
  return [
    finding(
      'NODE_OWNER_FOREIGN',
      'metadata.ownerReferences',
      nodeUid === undefined
        ? `no uid of Node ${quote(node)} is proved, so an agent may not change ownerReferences; leave them as they are`
        : `an agent may add or remove only a reference to v1 Node ${quote(node)} with the uid of its token and without blockOwnerDeletion`,
    ),
  ];
}

function finding(code: FindingCode, where: string, message: string): Finding {
  return { code, where, message };
}
