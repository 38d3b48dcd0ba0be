import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Cluster } from '../cluster/cluster.ts';
import type { AdmissionRequest, KubeObject, Operation } from '../cluster/objects.ts';
import { RULE_SECTIONS } from '../config-keys.ts';
import type { Config } from '../config.ts';
import { GateError } from '../errors.ts';
import { stringifyJson } from '../json.ts';
import type { DecisionVerdict } from '../metrics.ts';
import type { Outcome } from '../policies/vap/answer.ts';
import { readReview } from '../webhooks/review.ts';
import {
  addressOf,
  buildRequest,
  DEFAULT_USER,
  impersonatedUser,
  merged,
  targetOf,
  type RequestOptions,
} from './admission-review.ts';
import { addConfigOptions, type GivenConfig } from './config-options.ts';
import { describeForKubectl, type Reviewed } from './kubectl-text.ts';
import { readDocuments, type InputDocument } from './manifests.ts';
import type { NativePolicies } from './native-policies.ts';
import { addOutputOption, EXIT, plain, say, show, type ExitCode, type OutputFormat } from './output.ts';
import { parseInstant } from './contract-options.ts';
import { clockAt } from './fixed-clock.ts';
import { addPolicyOptions, type PolicyOptions } from './policy-options.ts';
import type { Decider } from './review-decider.ts';
import { sayingLog } from './saying-log.ts';
import { repeated } from './repeated-option.ts';
import type { Surroundings } from './surroundings.ts';

interface Options extends PolicyOptions {
  readonly operation?: Operation;
  readonly old?: string;
  readonly as?: string;
  readonly asGroup: readonly string[];
  readonly asUid?: string;
  readonly asExtra: readonly (readonly [key: string, value: string])[];
  readonly name?: string;
  readonly namespace?: string;
  readonly subresource?: string;
  readonly dryRun?: true;
  readonly now?: Date;
  readonly output: OutputFormat;
}

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .argument('<file>', 'an AdmissionReview or manifests, YAML or JSON; - reads standard input')
    .addOption(
      new Option('--operation <operation>', 'default: UPDATE where an old object is known, else CREATE')
        .choices(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])
        .argParser((value) => oneOf(value.toUpperCase())),
    )
    .option(
      '--old <file>',
      'whole objects as they are now (default: from the cluster, which the file is applied to)',
    )
    .option(
      '--as <user>',
      `user name, for example system:serviceaccount:agents:agent (default: ${DEFAULT_USER}, an administrator)`,
    )
    .addOption(repeated('--as-group <group>', 'group of the user, repeated'))
    .option('--as-uid <uid>', 'uid of the user')
    .option('--as-extra <key=value>', 'extra of the user, repeated', collectPair, [])
    .option('--name <name>', 'name in the request (default: of the object)')
    .option('-n, --namespace <namespace>', 'namespace of objects that name none (default: "default")')
    .option('--subresource <name>', 'for example status')
    .option('--dry-run', 'as a server-side dry-run asks')
    .option('--now <time>', 'when it is, for what depends on it, such as the age of a verdict', parseInstant);
  addPolicyOptions(command);
  const given = addConfigOptions(command, ['cluster', ...RULE_SECTIONS]);
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Decides in this process, with the rules that the server enforces, and prints what kubectl would print. Of what an API
server fills in before it asks, names, uids and times are filled in, defaults of a kind are not. The options about the
request are for manifests: an AdmissionReview is whole and takes none of them. Look-ups need --cluster-directory or
--cluster-kubeconfig. Exits with 0 when everything is allowed, 1 when something is denied, 3 when a decision failed, as
where a look-up counts that could not be made.

Examples:
  pacto-gate review examples/reviews/02-foreign-lease-renewed.json
  pacto-gate review lease.yaml --cluster-directory examples/cluster \\
    --as system:serviceaccount:pacto-node-agent:pacto-node-agent \\
    --as-extra authentication.kubernetes.io/node-name=worker-a
  kubectl get lease worker-b -n pacto-node-agent -o yaml | pacto-gate review - --operation DELETE --as someone`,
  );
  command.action(async (file: string, options: Options) => {
    finish(await review(command, given, { file, options }, around));
  });
}

function oneOf(value: string): string {
  if (!['CREATE', 'UPDATE', 'DELETE', 'CONNECT'].includes(value))
    throw new InvalidArgumentError('need CREATE, UPDATE, DELETE or CONNECT');
  return value;
}

function collectPair(
  value: string,
  before: readonly (readonly [string, string])[],
): readonly (readonly [string, string])[] {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('need key=value');
  return [...before, [value.slice(0, at), value.slice(at + 1)]];
}

async function review(
  command: Command,
  given: GivenConfig,
  { file, options }: { readonly file: string; readonly options: Options },
  around: Surroundings,
): Promise<ExitCode> {
  const needsUser = options.asGroup.length > 0 || options.asUid !== undefined || options.asExtra.length > 0;
  const problems =
    options.as === undefined && needsUser ? ['--as-group, --as-uid and --as-extra: need --as'] : [];
  const config = await given.read(around, command, problems);
  if (config === undefined) return EXIT.usage;
  const documents = await readDocuments(file, around);
  checkReviewsAreWhole(documents, options);
  const old = options.old === undefined ? [] : await readDocuments(options.old, around);
  const { openClusterOf } = await import('./open-cluster.ts');
  const cluster = await openClusterOf(config, around.clock, around);
  try {
    const { openNativePolicies } = await import('./native-files.ts');
    const native = await openNativePolicies(options, config, cluster, around);
    const results = await decideAll({ config, cluster, native, documents, old, options }, around);
    if (options.as === undefined && !documents.every(isReview))
      say(around, `decided as ${DEFAULT_USER}, an administrator. Give --as for somebody else`);
    await show(
      around,
      options.output,
      results.map((result) => result.value),
      plain(results.map((result) => result.text).join('\n')),
    );
    const reviewed = results.map((result) => result.reviewed);
    if (cluster === undefined && outcomesOf(reviewed).some((outcome) => outcome.startsWith('failed')))
      say(
        around,
        'a look-up was needed, and there is no cluster to make it in. Give --cluster-directory or --cluster-kubeconfig',
      );
    return exitCodeOf(reviewed);
  } finally {
    await cluster?.close();
  }
}

function isReview({ object }: InputDocument): boolean {
  return object.kind === 'AdmissionReview' && object.apiVersion.startsWith('admission.k8s.io/');
}

/** Options that say something about the request, as they are called. */
const REQUEST_OPTIONS: readonly (readonly [name: string, isGiven: (options: Options) => boolean])[] = [
  ['--operation', ({ operation }) => operation !== undefined],
  ['--old', ({ old }) => old !== undefined],
  ['--as', (options) => options.as !== undefined],
  ['--as-group', ({ asGroup }) => asGroup.length > 0],
  ['--as-uid', ({ asUid }) => asUid !== undefined],
  ['--as-extra', ({ asExtra }) => asExtra.length > 0],
  ['--name', ({ name }) => name !== undefined],
  ['--namespace', ({ namespace }) => namespace !== undefined],
  ['--subresource', ({ subresource }) => subresource !== undefined],
  ['--dry-run', ({ dryRun }) => dryRun === true],
];

/** A review says all of it itself; an option without effect would be a wrong answer. */
function checkReviewsAreWhole(documents: readonly InputDocument[], options: Options): void {
  const given = REQUEST_OPTIONS.filter(([, isGiven]) => isGiven(options)).map(([name]) => name);
  const review = documents.find(isReview);
  if (review === undefined || given.length === 0) return;
  throw new GateError(
    'GATE_INPUT_FILE',
    `${nameOf(review)} is an AdmissionReview, which is whole: leave out ${given.join(', ')}, or give the manifest`,
  );
}

interface Work {
  readonly config: Config;
  readonly cluster: Cluster | undefined;
  readonly native: NativePolicies | undefined;
  readonly documents: readonly InputDocument[];
  readonly old: readonly InputDocument[];
  readonly options: Options;
}

interface Result {
  readonly reviewed: Reviewed;
  readonly value: unknown;
  readonly text: string;
}

async function decideAll(work: Work, around: Surroundings): Promise<readonly Result[]> {
  const { createDecider } = await import('./review-decider.ts');
  const decider = await createDecider(work.config, work.cluster, {
    clock: clockAt(around.clock, work.options.now?.getTime()),
    log: sayingLog(around),
  });
  const results: Result[] = [];
  for (const document of work.documents) results.push(await decideOne(work, document, decider, around));
  return results;
}

async function decideOne(
  work: Work,
  document: InputDocument,
  decider: Decider,
  around: Surroundings,
): Promise<Result> {
  const isWhole = isReview(document);
  const body = Buffer.from(stringifyJson(isWhole ? document.object : await reviewOf(work, document, around)));
  const request = requestOf(document, body);
  const native = await work.native?.decide(request);
  // Whom the API server's own policies deny, no webhook is asked about (vap.md O01).
  const answers = native?.status === undefined ? await decider.decide(request, body) : [];
  const reviewed: Reviewed = {
    file: isWhole ? undefined : document.file,
    replaces: work.options.old !== undefined,
    request,
    answers,
    ...(native === undefined ? {} : { native }),
  };
  const { kind, namespace, name, operation, resource, subResource } = request;
  if (native === undefined && answers.length === 0)
    say(around, `${nameOf(document)}: no webhook is asked about this request`);
  return {
    reviewed,
    value: {
      file: document.file,
      document: document.number,
      operation,
      kind,
      resource,
      subResource,
      namespace,
      name,
      ...(native === undefined ? {} : { policies: policiesValue(native) }),
      webhooks: answers,
    },
    text: describeForKubectl(reviewed),
  };
}

function nameOf({ file, number }: InputDocument): string {
  return `${file === '-' ? 'standard input' : `file ${file}`}: document ${String(number)}`;
}

/** Checked as the server checks what it is sent, so that what passes here is not refused there. */
function requestOf(document: InputDocument, body: Uint8Array): AdmissionRequest {
  const parsed = readReview(body, { 'content-type': 'application/json' });
  if (parsed.kind === 'review') return parsed.request;
  throw new GateError('GATE_INPUT_FILE', `${nameOf(document)}: ${parsed.error.message}`, {
    cause: parsed.error,
  });
}

async function reviewOf(work: Work, document: InputDocument, around: Surroundings): Promise<object> {
  const { options } = work;
  const request: RequestOptions = {
    operation: options.operation,
    user: impersonatedUser({
      username: options.as,
      groups: options.asGroup,
      uid: options.asUid,
      extra: options.asExtra,
    }),
    name: options.name,
    namespace: options.namespace,
    subresource: options.subresource,
    dryRun: options.dryRun === true,
    customKinds: work.native?.given.customKinds ?? [],
  };
  const old = options.operation === 'CREATE' ? undefined : await oldOf(work, document.object, request);
  if (old === undefined && options.operation === 'UPDATE')
    say(
      around,
      `${nameOf(document)}: there is no old object, so nothing changes in this UPDATE. Give --old or a cluster`,
    );
  // Two files are two whole objects; a manifest is applied to what is in the cluster.
  const applies = old !== undefined && options.old === undefined;
  const object = applies ? merged(document.object, old) : document.object;
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: buildRequest(object, old, request, document.number),
  };
}

/** The object as it is now: from `--old` by kind and address, else from the cluster. */
async function oldOf(
  work: Work,
  object: KubeObject,
  options: RequestOptions,
): Promise<KubeObject | undefined> {
  const target = targetOf(object, options);
  // A TokenRequest or an Eviction is no object that is there before.
  if (target.kind.kind !== object.kind) return undefined;
  const { name, namespace } = addressOf(object, target, options);
  if (work.options.old !== undefined) {
    return work.old.find((candidate) => {
      const address = addressOf(candidate.object, target, { name: undefined, namespace: options.namespace });
      return (
        candidate.object.kind === object.kind && address.name === name && address.namespace === namespace
      );
    })?.object;
  }
  return await work.cluster?.get(target.kind, { name, ...(namespace === undefined ? {} : { namespace }) });
}

function outcomesOf(all: readonly Reviewed[]): readonly DecisionVerdict[] {
  return all.flatMap(({ answers }) => answers.map((answer) => answer.outcome));
}

/** What policies of the API server did, with what only its audit log shows. */
function policiesValue({ status, warnings, auditAnnotations, decisions }: Outcome): object {
  return {
    allowed: status === undefined,
    ...(status === undefined ? {} : { status }),
    warnings,
    auditAnnotations,
    decisions,
  };
}

function exitCodeOf(all: readonly Reviewed[]): ExitCode {
  const outcomes = new Set(outcomesOf(all));
  if (outcomes.has('denied') || all.some(({ native }) => native?.status !== undefined)) return EXIT.no;
  return outcomes.has('failed-closed') || outcomes.has('failed-open') ? EXIT.unknown : EXIT.ok;
}
