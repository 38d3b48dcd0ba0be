/** The Kustomization that applies a pointer, and whether it leaves the pin to somebody else (flux-facts.md FF-84). */
import type { KubeObject } from '../../cluster/objects.ts';
import { at } from '../identity/foreign.ts';
import type { ObjectRef } from './change.ts';

const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io';

/** By the labels that kustomize-controller puts on what it applies; undefined where they are not there. */
export function parentOf(object: unknown): ObjectRef | undefined {
  const name = at(object, 'metadata', 'labels', `${KUSTOMIZE}/name`);
  const namespace = at(object, 'metadata', 'labels', `${KUSTOMIZE}/namespace`);
  if (typeof name !== 'string' || typeof namespace !== 'string' || name === '' || namespace === '')
    return undefined;
  return { group: KUSTOMIZE, kind: 'Kustomization', namespace, name };
}

/** Where pins of pointers are; a rule for any of what is above them covers them. */
const PIN_PATHS = ['/spec/ref/digest', '/spec/ref/commit', '/spec/chart/spec/version', '/spec/images'];

/** Whether `spec.ignore` of the parent strips the pin of this object from what it applies. */
export function isIgnoredByParent(
  parent: KubeObject | undefined,
  { group, kind, name, namespace }: ObjectRef,
): boolean {
  const rules = at(parent, 'spec', 'ignore');
  if (!Array.isArray(rules)) return false;
  return rules.some((rule: unknown) => {
    const target = at(rule, 'target');
    const is = (key: string, value: string): boolean => {
      const wanted = at(target, key);
      return wanted === undefined || wanted === '' || wanted === value;
    };
    const paths = at(rule, 'paths');
    return (
      at(target, 'labelSelector') === undefined &&
      at(target, 'annotationSelector') === undefined &&
      is('kind', kind) &&
      is('group', group) &&
      is('name', name) &&
      is('namespace', namespace) &&
      Array.isArray(paths) &&
      paths.some((path: unknown) => typeof path === 'string' && coversPin(path))
    );
  });
}

function coversPin(path: string): boolean {
  return path !== '' && PIN_PATHS.some((pin) => pin === path || pin.startsWith(`${path}/`));
}
