import * as kinds from '../../../src/cluster/kinds.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { observeDependencies } from '../../../src/reconcile/observe/dependencies.ts';
import type { Scene } from '../observe/survey.ts';
import { pacto, service, slice } from '../observe/survey-objects.ts';
import type { DecisionTable } from './decision.ts';

const AT = 'r.test/shop/pay';
const PAY = pacto('pay', { resolvedRef: `${AT}:1.2.0` });
const OLD = pacto('pay-old', { service: 'pay', version: '0.9.0', resolvedRef: `${AT}:0.9.0` });
const GREEN = pacto('pay-green', { resolvedRef: `${AT}:1.3.0`, version: '1.3.0' });
const PROVIDER = service({ name: 'pay' });
const UP = [PROVIDER, slice('pay', [{ ready: true }])];
const DOWN = [PROVIDER, slice('pay', [{ ready: false }])];

interface Wanted extends Scene {
  readonly compatibility?: string;
  readonly required?: boolean;
}

function pay(
  objects: readonly KubeObject[],
  { compatibility = '^1.0.0', required = true, ...more }: Wanted = {},
): Scene {
  return {
    objects,
    contract: { dependencies: [{ name: 'pay', ref: `oci://${AT}`, required, compatibility }] },
    ...more,
  };
}

export const DEPENDENCIES: DecisionTable = {
  heading: 'Dependencies',
  dimension: observeDependencies,
  kind: 'DependencyReachable',
  streak: 'dependency/pay',
  scenes: {
    'one provider, a ready endpoint on any port': pay([PAY, ...UP]),
    'one provider, no ready endpoint': pay([PAY, ...DOWN]),
    'no ready endpoint, `required: false`': pay([PAY, ...DOWN], { required: false }),
    'one provider, its Service does not exist': pay([PAY]),
    'one provider, its Service is of type ExternalName': pay([
      PAY,
      service({ name: 'pay', spec: { type: 'ExternalName' } }),
    ]),
    'one provider that names no Service': pay([pacto('pay', { service: null, resolvedRef: AT }), ...UP]),
    'several Pactos of one Service': pay([PAY, OLD, ...UP]),
    'several Services, or one of that name in several namespaces': [
      pay([PAY, GREEN, ...UP]),
      pay([PAY, pacto('pay', { namespace: 'other', resolvedRef: `${AT}:1.2.0` }), ...UP]),
    ],
    'no Pacto of that repository, or none with a contract in its status': [
      pay([...UP]),
      pay([pacto('pay'), ...UP]),
    ],
    'no such Pacto, `required: false`': pay([...UP], { required: false }),
    'Pactos, Services or EndpointSlices cannot be read': [
      kinds.PACTO,
      kinds.SERVICE,
      kinds.ENDPOINT_SLICE,
    ].map((kind) => pay([PAY, ...UP], { forbidden: [kind] })),
  },
};

export const VERSIONS: DecisionTable = {
  heading: 'Versions of dependencies',
  dimension: observeDependencies,
  kind: 'DependencyVersionObserved',
  beside: true,
  scenes: {
    'a provider in a version that fits': pay([PAY, ...UP]),
    'a provider in a version that does not fit': pay([PAY, ...UP], { compatibility: '^2.0.0' }),
    'the same, `required: false`': pay([PAY, ...UP], { compatibility: '^2.0.0', required: false }),
    'several, one of which fits': pay([PAY, OLD, ...UP]),
    'several, none of which fits': pay([PAY, OLD, ...UP], { compatibility: '^2.0.0' }),
    'several, none of which fits, and a version is not known': pay(
      [PAY, pacto('pay-2', { service: 'pay', version: null, resolvedRef: AT }), ...UP],
      { compatibility: '^2.0.0' },
    ),
    '`compatibility` cannot be read': pay([PAY, ...UP], { compatibility: 'soon' }),
    'no provider, or Pactos cannot be read': [
      pay([...UP], { compatibility: '^2.0.0' }),
      pay([PAY, ...UP], { compatibility: '^2.0.0', forbidden: [kinds.PACTO] }),
    ],
  },
};
