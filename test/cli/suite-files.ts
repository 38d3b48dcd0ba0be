/** Suites, their policies and what became of them, for tests of `pacto-gate test`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCommand, type Ran } from './run-command.ts';

/** A directory with these files, for as long as the test runs. */
export async function given(files: Readonly<Record<string, string | object>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pacto-gate-suites-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}

export const policy = (spec: object): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'p' },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
    },
    ...spec,
  },
});
export const binding = (spec: object = {}): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'b' },
  spec: { policyName: 'p', validationActions: ['Deny'], ...spec },
});
export const configMap = (data: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'shop' },
  data,
});

export const suite = (cases: readonly object[], more: object = {}): object => ({
  apiVersion: 'test.gate.pacto.trianalab.io/v1alpha1',
  kind: 'Suite',
  metadata: { name: 's' },
  policies: [policy({ validations: [{ expression: "object.data.a == 'x'", message: 'need x' }] }), binding()],
  cases,
  ...more,
});

export interface Reported {
  readonly passed: number;
  readonly failed: number;
  readonly suites: readonly {
    readonly cases: readonly {
      readonly name: string;
      readonly passed: boolean;
      readonly differences: readonly { readonly what: string; readonly found: unknown }[];
    }[];
  }[];
}

export async function report(
  content: object,
  ...argv: string[]
): Promise<Ran & { readonly value: Reported }> {
  const ran = await runCommand(['test', await given({ 'suite.yaml': content }), '-o', 'json', ...argv]);
  return { ...ran, value: JSON.parse(ran.out) as Reported };
}

export const DENIED = { given: { object: configMap({ a: 'y' }) } };
export const ALLOWED = { given: { object: configMap({ a: 'x' }) } };
