import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { leaseNamespaceOf } from '../../src/app/reconciler-settings.ts';
import { AS_DEPLOYED } from '../bench/reconcile/site.ts';
import { sectionOf, stepsOf } from '../support/readme.ts';

interface Documented {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly [
          {
            readonly args: readonly string[];
            readonly env: readonly { readonly name: string; readonly value?: string }[];
          },
        ];
      };
    };
  };
}

const steps = stepsOf(sectionOf(readFileSync('docs/verdicts.md', 'utf8'), 'Run it'));
const commands = steps.flatMap((step) => (step.does === 'run' ? [step.text] : []));
const deployment = steps
  .flatMap((step) => (step.does === 'write' ? parseAllDocuments(step.text) : []))
  .map((document) => document.toJS() as Documented)
  .find(({ kind }) => kind === 'Deployment');
const { serviceAccountName, containers } = deployment?.spec.template.spec ?? {};
const [container] = containers ?? [];

it('gives the rights to the account of the Deployment, for what it runs', () => {
  const rbac = commands.find((command) => command.includes('generate rbac'));
  const { namespace = '' } = deployment?.metadata ?? {};
  expect(rbac).toContain(`--service-account ${namespace}/${serviceAccountName ?? ''} `);
  expect(rbac).toContain(`--${container?.args.slice(1, 3).join(' ').replace('--', '') ?? ''} `);
  expect(commands).toContain(
    `kubectl create serviceaccount ${serviceAccountName ?? ''} --namespace ${namespace}`,
  );
});

it('has the Lease where the generated role is', () => {
  const variables = container?.env.map(({ name }) => name);
  expect(variables).toContain('POD_NAMESPACE');
  const environment = { podNamespace: deployment?.metadata.namespace };
  const config = { reconciler: {}, environment } as unknown as Parameters<typeof leaseNamespaceOf>[0];
  expect(leaseNamespaceOf(config)).toBe('pacto-system');
});

it('runs Node as the benchmark does', () => {
  const options = container?.env.find(({ name }) => name === 'NODE_OPTIONS')?.value;
  expect(options?.split(' ')).toEqual([...AS_DEPLOYED]);
});
