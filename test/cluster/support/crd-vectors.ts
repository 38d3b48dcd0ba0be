/** The families `crd-*` of test/golden/operator: objects and statuses that are sent to an API server, and what it answers. */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { readJson, stringifyJson } from '../../../src/json.ts';
import type { FamilyResult, Failure } from '../../conformance/suite.ts';
import type { ApiClient } from './api-client.ts';

export const CRD_FAMILIES = ['crd-pacto', 'crd-pacto-status', 'crd-revision'] as const;

/** What is compared: `all`, or what does not depend on the release. */
export type Compared = 'all' | 'outcome';

/** A refusal that 1.29 does not know: it takes an int32 that is none, so that whoever reads it must look. */
const FORMAT_REFUSAL = 'is invalid: <nil>: Invalid value: "": Checked value must be of type';

interface Vector {
  readonly id: string;
  readonly op: 'create' | 'status';
  readonly input: {
    readonly object: {
      readonly kind: string;
      readonly metadata: { readonly name: string };
      readonly status?: unknown;
    };
    readonly fieldValidation: string;
  };
  readonly answer: {
    readonly code: number;
    readonly accepted: boolean;
    readonly reason?: string;
    readonly message?: string;
    readonly spec?: unknown;
    readonly status?: unknown;
    /** Whole headers: `299 - "text"`. */
    readonly warnings?: readonly string[];
  };
}

type Answer = Vector['answer'];

const PLURALS: Readonly<Record<string, string>> = { Pacto: 'pactos', PactoRevision: 'pactorevisions' };

/** Sends each case of a family; the definitions are served. */
export async function runCrdFamily(
  api: ApiClient,
  family: (typeof CRD_FAMILIES)[number],
  compared: Compared,
): Promise<FamilyResult> {
  const recorded = readJson(readFileSync(`test/golden/operator/${family}.json`)) as readonly Vector[];
  const vectors = recorded.filter(
    ({ answer }) => compared === 'all' || answer.message?.includes(FORMAT_REFUSAL) !== true,
  );
  const failures: Failure[] = [];
  for (const vector of vectors) {
    const lines = differences(vector.answer, await answerTo(api, vector), compared);
    if (lines.length > 0) failures.push({ id: vector.id, detail: lines.join('\n') });
  }
  return { family, total: vectors.length, failures, ids: vectors.map(({ id }) => id) };
}

async function answerTo(api: ApiClient, { op, input }: Vector): Promise<Answer> {
  const { object, fieldValidation } = input;
  const path = `/apis/pacto.trianalab.io/v1alpha1/namespaces/default/${PLURALS[object.kind] ?? ''}`;
  const query = `?fieldValidation=${fieldValidation}`;
  const { status: wanted, ...made } = object;
  const created = await api.request({
    method: 'POST',
    path: `${path}${query}`,
    body: op === 'create' ? object : made,
  });
  const { status, body, warnings } =
    op === 'create' || created.status >= 300
      ? created
      : await api.request({
          method: 'PUT',
          path: `${path}/${object.metadata.name}/status${query}`,
          body: { ...created.body, status: wanted },
        });
  const accepted = status < 300;
  return {
    code: status,
    accepted,
    ...(accepted
      ? { spec: body['spec'], status: body['status'] }
      : { reason: body.reason ?? '', message: body.message ?? '' }),
    warnings: warnings.map((text) => `299 - ${JSON.stringify(text)}`),
  };
}

function differences(wanted: Answer, given: Answer, compared: Compared): readonly string[] {
  const fields: readonly (keyof Answer)[] =
    compared === 'all'
      ? ['code', 'accepted', 'reason', 'message', 'spec', 'status', 'warnings']
      : ['code', 'accepted', 'reason', 'spec', 'status'];
  return fields.flatMap((field) => {
    const [a, b] = [wanted, given].map((answer) =>
      field === 'warnings' ? (answer.warnings ?? []) : answer[field],
    );
    return isDeepStrictEqual(a, b)
      ? []
      : [`${field}: wanted ${stringifyJson(a ?? null)}`, `${field}: given  ${stringifyJson(b ?? null)}`];
  });
}
