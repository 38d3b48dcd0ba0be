import { open } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import type { Cluster, TokenReviewResult } from '../cluster/cluster.ts';
import { POD } from '../cluster/kinds.ts';
import type { Clock } from '../clock.ts';
import { GateError } from '../errors.ts';
import { addConfigOptions, type GivenConfig } from './config-options.ts';
import { unreadable } from './input-file.ts';
import { addOutputOption, EXIT, plain, say, show, type ExitCode, type OutputFormat } from './output.ts';
import { repeated } from './repeated-option.ts';
import type { Surroundings } from './surroundings.ts';
import {
  extraKeysOf,
  MAX_TOKEN_BYTES,
  MOUNTED_TOKEN,
  readClaims,
  whyNoNode,
  type ClusterFacts,
  type Reason,
  type TokenClaims,
} from './token-claims.ts';

interface Options {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly audience: readonly string[];
  readonly offline?: true;
  readonly output: OutputFormat;
}

const NODE_KEY = 'authentication.kubernetes.io/node-name';

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  command
    .option('--token-file <file>', 'file that holds the token (default: standard input)')
    .addOption(repeated('--audience <name>', 'audience to review the token for, repeated'))
    .option('--offline', 'ask no cluster: read the claims, check nothing')
    // Taken only to be refused: everybody on a machine can read the arguments of its processes.
    .addOption(new Option('--token <token>').hideHelp());
  const given = addConfigOptions(command, ['cluster']);
  addOutputOption(command);
  command.addHelpText(
    'after',
    `
Asks the API server by TokenReview where a kubeconfig or a Pod's ServiceAccount is at hand, and otherwise reads the
claims without checking the signature. The token itself is never shown.

Examples:
  kubectl -n pacto-node-agent exec ds/pacto-node-agent -- cat /var/run/secrets/kubernetes.io/serviceaccount/token \\
    | pacto-gate doctor token --cluster-source kubeconfig
  pacto-gate doctor token --token-file token.txt --offline --output json`,
  );
  command.action(async (options: Options) => {
    finish(await doctor(command, given, options, around));
  });
}

async function doctor(
  command: Command,
  given: GivenConfig,
  options: Options,
  around: Surroundings,
): Promise<ExitCode> {
  if (options.token !== undefined) {
    say(around, '--token: everybody on this machine could read it. Use --token-file or standard input');
    return EXIT.usage;
  }
  const config = await given.read(around, command);
  if (config === undefined) return EXIT.usage;
  const token = await readToken(options, around);
  if (token === undefined) return EXIT.usage;
  const claims = readClaims(token);
  const { source } = config.cluster;
  // Files know no signing key: what they could say of a token is what they were told.
  if (options.offline === true || source === 'none' || source === 'directory') {
    if (claims === undefined) {
      say(
        around,
        'the token is no JSON Web Token, so that only its API server can read it. Give a kubeconfig',
      );
      return EXIT.unknown;
    }
    return await report({ claims, verified: undefined }, options, around);
  }
  const { openClusterOf } = await import('./open-cluster.ts');
  const cluster = await openClusterOf(config, around.clock, around);
  if (cluster === undefined) throw new TypeError('a source without a cluster');
  try {
    const verified = await ask(cluster, token, claims, options.audience);
    return await report({ claims, verified }, options, around);
  } finally {
    await cluster.close();
  }
}

async function readToken(options: Options, around: Surroundings): Promise<string | undefined> {
  const token = (
    options.tokenFile === undefined ? await readInput(around) : await readFile(options.tokenFile)
  ).trim();
  const where = options.tokenFile === undefined ? 'standard input' : `file ${options.tokenFile}`;
  if (token === '') say(around, `${where}: there is no token. Give one by --token-file or standard input`);
  else if (token.length > MAX_TOKEN_BYTES || /\s/.test(token))
    say(around, `${where}: this is no token. Give the token alone, without the name of a header`);
  else return token;
  return undefined;
}

/** @returns what is no token where there is more than a token can have. */
async function readInput({ stdin }: Surroundings): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1');
    if (text.length > MAX_TOKEN_BYTES + 1) break;
  }
  return text;
}

async function readFile(name: string): Promise<string> {
  try {
    const handle = await open(name);
    try {
      // One byte more than a token can have tells that it is none, whatever the size of the file.
      const buffer = Buffer.alloc(MAX_TOKEN_BYTES + 1);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unreadable(name, error);
  }
}

interface Verified {
  readonly review: TokenReviewResult;
  readonly cluster: ClusterFacts;
}

async function ask(
  cluster: Cluster,
  token: string,
  claims: TokenClaims | undefined,
  audiences: readonly string[],
): Promise<Verified> {
  const version = await cluster.serverVersion();
  const review = await cluster.reviewToken(token, audiences);
  const { gitVersion, minor } = version;
  return {
    review,
    cluster: { gitVersion, minor, pod: review.authenticated ? await podState(cluster, claims) : undefined },
  };
}

/** Reading Pods may be forbidden to whoever looks after tokens: then the answer is less exact, not wrong. */
async function podState(cluster: Cluster, claims: TokenClaims | undefined): Promise<ClusterFacts['pod']> {
  if (claims?.pod === undefined || claims.node !== undefined || claims.namespace === undefined)
    return undefined;
  try {
    const pod = await cluster.get(POD, { namespace: claims.namespace, name: claims.pod.name });
    if (pod === undefined || pod.metadata.uid !== claims.pod.uid) return 'absent';
    const { nodeName } = (pod['spec'] ?? {}) as { nodeName?: unknown };
    return typeof nodeName === 'string' && nodeName !== '' ? 'scheduled' : 'unscheduled';
  } catch (error) {
    if (error instanceof GateError && error.code === 'GATE_CLUSTER_FORBIDDEN') return undefined;
    throw error;
  }
}

interface Findings {
  readonly claims: TokenClaims | undefined;
  /** Undefined: the claims were read and not checked. */
  readonly verified: Verified | undefined;
}

async function report(findings: Findings, options: Options, around: Surroundings): Promise<ExitCode> {
  const answer = judge(findings, around.clock);
  const { claims, verified } = findings;
  const value = {
    nodeClaim: answer.nodeClaim,
    node: answer.node,
    usable: answer.usable,
    verified: verified !== undefined,
    authenticated: verified?.review.authenticated,
    username: verified?.review.user.username,
    account: claims?.account,
    binding: claims?.binding,
    pod: claims?.pod?.name,
    issued: iso(claims?.issuedSeconds),
    notBefore: iso(claims?.notBeforeSeconds),
    expires: iso(claims?.expiresSeconds),
    extraKeys: answer.extraKeys,
    apiServer: verified?.cluster.gitVersion,
    reasons: answer.reasons,
  };
  await show(around, options.output, value, plain(forPeople(value)));
  return answer.usable ? EXIT.ok : EXIT.no;
}

interface Answer {
  readonly nodeClaim: boolean;
  readonly node: string | undefined;
  /** The claim is there and the token is good, as far as that was looked at. */
  readonly usable: boolean;
  readonly extraKeys: readonly string[];
  readonly reasons: readonly Reason[];
}

function judge(findings: Findings, clock: Clock): Answer {
  const { claims, verified } = findings;
  const extra = verified?.review.user.extra;
  const claimed = claims === undefined ? [] : extraKeysOf(claims);
  // What the API server says counts; what the token says of itself is only read where nobody was asked.
  const node = verified === undefined ? claims?.node?.name : extra?.[NODE_KEY]?.[0];
  const nodeClaim = node !== undefined && node !== '';
  const refusal = whyRefused(findings, clock);
  const reasons = refusal === undefined ? (nodeClaim ? [] : whyMissing(findings)) : [refusal];
  return {
    nodeClaim,
    node,
    usable: nodeClaim && refusal === undefined,
    extraKeys: verified === undefined ? claimed : Object.keys(extra ?? {}),
    reasons,
  };
}

function whyRefused({ claims, verified }: Findings, clock: Clock): Reason | undefined {
  if (verified !== undefined) {
    if (verified.review.authenticated) return undefined;
    const detail = verified.review.error === undefined ? '' : `: ${verified.review.error}`;
    return {
      why: `the API server does not accept the token${detail}`,
      next: 'take a fresh token of this cluster, and name its audience by --audience if it has one of its own',
    };
  }
  const begins = claims?.notBeforeSeconds;
  if (begins !== undefined && begins * 1000 > clock.now())
    return {
      why: `the token is not valid before ${String(iso(begins))}`,
      next: 'compare the clock of this machine with that of the API server, or wait',
    };
  const expires = claims?.expiresSeconds;
  return expires === undefined || expires * 1000 > clock.now()
    ? undefined
    : { why: `the token expired at ${String(iso(expires))}`, next: 'take a fresh one' };
}

function whyMissing({ claims, verified }: Findings): readonly Reason[] {
  if (claims === undefined)
    return [
      {
        why: 'the token is no JSON Web Token, and the API server names no node for it',
        next: `give ${MOUNTED_TOKEN}`,
      },
    ];
  if (claims.node !== undefined && verified !== undefined)
    return [
      {
        why: `the token names its node, and the API server, ${verified.cluster.gitVersion}, does not pass it on`,
        next: 'upgrade it to 1.30 or later, or leave identity.podLookup at auto',
      },
    ];
  return whyNoNode(claims, verified?.cluster);
}

function iso(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : new Date(seconds * 1000).toISOString();
}

const BINDINGS: Readonly<Record<string, string>> = {
  pod: 'bound to a Pod',
  node: 'bound to a Node and no Pod, which identity.requirePodClaims refuses',
  secret: 'bound to a Secret',
  none: 'bound to nothing',
  legacy: 'a Secret token of the old form',
  foreign: 'not a ServiceAccount token',
};

function forPeople(value: {
  readonly node: string | undefined;
  readonly nodeClaim: boolean;
  readonly verified: boolean;
  readonly account: string | undefined;
  readonly binding: string | undefined;
  readonly pod: string | undefined;
  readonly issued: string | undefined;
  readonly expires: string | undefined;
  readonly extraKeys: readonly string[];
  readonly apiServer: string | undefined;
  readonly reasons: readonly Reason[];
}): string {
  const pod = value.pod === undefined ? '' : ` (${value.pod})`;
  return [
    `node claim  ${value.nodeClaim ? `yes: ${String(value.node)}` : 'no'}`,
    `checked     ${value.verified ? `by the API server, ${String(value.apiServer)}` : 'no: the claims were read, the signature was not verified'}`,
    `account     ${value.account ?? 'unknown'}`,
    `binding     ${BINDINGS[value.binding ?? ''] ?? 'unknown'}${pod}`,
    `valid       ${value.issued ?? 'unknown'} to ${value.expires ?? 'unknown'}`,
    `extra keys  ${value.extraKeys.join(', ') || 'none'}`,
    ...value.reasons.flatMap(({ why, next }) => [`why not     ${why}`, `next step   ${next}`]),
  ].join('\n');
}
