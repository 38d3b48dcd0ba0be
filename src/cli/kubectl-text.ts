/** What kubectl would print about a request, from the answers of the webhooks. */
import type { AdmissionRequest, Operation } from '../cluster/objects.ts';
import type { Status } from '../policies/vap/answer.ts';
import { sentWarnings } from '../policies/vap/warnings.ts';
import { kubectlError, type Doing } from './kubectl-error.ts';
import type { EntryAnswer } from './review-decider.ts';

export interface Reviewed {
  /** Undefined where an AdmissionReview was given: nobody knows which command caused it. */
  readonly file: string | undefined;
  /** An UPDATE is a `kubectl replace`, not an apply. */
  readonly replaces: boolean;
  readonly request: AdmissionRequest;
  /** What policies of the API server itself say, which are asked before webhooks. */
  readonly native?: { readonly status: Status | undefined; readonly warnings: readonly string[] };
  readonly answers: readonly EntryAnswer[];
}

const DONE: Readonly<Record<Operation, string>> = {
  CREATE: 'created',
  UPDATE: 'configured',
  DELETE: 'deleted',
  CONNECT: 'connected',
};

const DOING: Readonly<Record<Operation, string>> = {
  CREATE: 'creating',
  UPDATE: 'patching',
  DELETE: 'deleting',
  CONNECT: 'connecting to',
};

/** Warnings first, then one error, as kubectl shows them: the first denial counts. Nothing is written anywhere. */
export function describeForKubectl(reviewed: Reviewed): string {
  const { request, answers, native } = reviewed;
  const texts = [...(native?.warnings ?? []), ...answers.flatMap((answer) => answer.warnings)];
  const warnings = sentWarnings(texts).map((text) => `Warning: ${text}`);
  return [...warnings, refusal(reviewed) ?? success(request)].join('\n');
}

function success(request: AdmissionRequest): string {
  const { group, resource } = request.resource;
  const kind = request.kind.kind.toLowerCase();
  const singular = request.subResource === undefined ? kind : resource;
  const subresource = request.subResource === undefined ? '' : `/${request.subResource}`;
  const suffix = group === '' ? '' : `.${group}`;
  return `${singular}${suffix}/${request.name ?? ''}${subresource} ${DONE[request.operation]} (review only)`;
}

function refusal(reviewed: Reviewed): string | undefined {
  const { native, answers } = reviewed;
  if (native?.status !== undefined) return kubectlError(native.status, doingOf(reviewed));
  const denial = answers.find((answer) => !answer.allowed);
  if (denial === undefined) return undefined;
  const { webhook, message = '', reason = '', code = 400, details } = denial;
  const who = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const said = message === '' ? `${who} without explanation` : `${who}: ${message}`;
  const status = { message: said, reason, code, ...(details === undefined ? {} : { details }) };
  return kubectlError(status, doingOf(reviewed));
}

function doingOf({ file, replaces, request }: Reviewed): Doing | undefined {
  if (file === undefined) return undefined;
  const verb = replaces && request.operation === 'UPDATE' ? 'replacing' : DOING[request.operation];
  return { verb, source: file === '-' ? 'STDIN' : file };
}
