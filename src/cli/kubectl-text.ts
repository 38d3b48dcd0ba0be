/** What kubectl would print about a request, from the answers of the webhooks. */
import type { AdmissionRequest, Operation } from '../cluster/objects.ts';
import type { EntryAnswer } from './review-decider.ts';

export interface Reviewed {
  /** Undefined where an AdmissionReview was given: nobody knows which command caused it. */
  readonly file: string | undefined;
  /** An UPDATE is a `kubectl replace`, not an apply. */
  readonly replaces: boolean;
  readonly request: AdmissionRequest;
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
  const { request, answers } = reviewed;
  const warnings = answers.flatMap((answer) => answer.warnings).map((text) => `Warning: ${text}`);
  const denial = answers.find((answer) => !answer.allowed);
  return [...warnings, denial === undefined ? success(request) : refusal(reviewed, denial)].join('\n');
}

function success(request: AdmissionRequest): string {
  const { group, resource } = request.resource;
  const kind = request.kind.kind.toLowerCase();
  const singular = request.subResource === undefined ? kind : resource;
  const subresource = request.subResource === undefined ? '' : `/${request.subResource}`;
  const suffix = group === '' ? '' : `.${group}`;
  return `${singular}${suffix}/${request.name ?? ''}${subresource} ${DONE[request.operation]} (review only)`;
}

function refusal({ file, replaces, request }: Reviewed, denial: EntryAnswer): string {
  const doing = replaces && request.operation === 'UPDATE' ? 'replacing' : DOING[request.operation];
  const reason = denial.reason === undefined || denial.reason === '' ? '' : ` (${denial.reason})`;
  const place =
    file === undefined ? '' : `error when ${doing} ${JSON.stringify(file === '-' ? 'STDIN' : file)}: `;
  const said =
    denial.message === undefined || denial.message === ''
      ? 'denied the request without explanation'
      : `denied the request: ${denial.message}`;
  return `Error from server${reason}: ${place}admission webhook ${JSON.stringify(denial.webhook)} ${said}`;
}
