/** Policies of `--policies`, ready to decide, and what is to be said about them. Loaded only where there are any. */
import { sourceOf } from '../app/state.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config.ts';
import { minorOf } from '../policies/vap/policy-objects.ts';
import { paramKindOf } from '../webhooks/param-kinds.ts';
import { authorizeBy, NativePolicies } from './native-policies.ts';
import { readObjectFiles } from './object-files.ts';
import { say } from './output.ts';
import type { PolicyOptions } from './policy-options.ts';
import { isSuiteFile } from './suite-files.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * @returns undefined where no policies are given.
 * @throws GateError GATE_INPUT_FILE
 */
export async function openNativePolicies(
  { policies, params, namespaces }: PolicyOptions,
  config: Config,
  cluster: Cluster | undefined,
  around: Surroundings,
): Promise<NativePolicies | undefined> {
  const paths = [...policies, ...params, ...namespaces];
  if (paths.length === 0) return undefined;
  const { documents } = await readObjectFiles(paths, around, (file) => !isSuiteFile(file));
  const answers = cluster !== undefined && sourceOf(config)?.source !== 'directory';
  const native = new NativePolicies({
    objects: documents.map(({ object }) => object),
    minor: minorOf(config.policies.compatibilityVersion),
    cluster,
    paramKinds: config.policies.paramKinds.map(paramKindOf),
    ...(answers ? { authorize: authorizeBy((question) => cluster.reviewAccess(question)) } : {}),
    onUnknownNamespace: (name) =>
      say(
        around,
        `namespace ${JSON.stringify(name)}: nothing is known of it, so it is taken to have no label but its name. Give --namespaces or a cluster`,
      ),
  });
  sayProblems(native, around);
  return native;
}

function sayProblems({ refused, loose, isEmpty }: NativePolicies, around: Surroundings): void {
  for (const { kind, name } of refused) {
    say(
      around,
      `${kind} ${JSON.stringify(name)}: no API server would take it, so it is decided by as if it were there from before. See why: pacto-gate lint`,
    );
  }
  for (const name of loose.policiesWithoutBinding)
    say(around, `policy ${JSON.stringify(name)}: has no binding, so it is never asked`);
  for (const name of loose.bindingsWithoutPolicy)
    say(around, `binding ${JSON.stringify(name)}: its policy is not given, so it does nothing`);
  if (isEmpty) say(around, 'no policy with a binding was given, so there is none to deny anything');
}
