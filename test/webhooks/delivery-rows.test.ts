/** Every row of the event table of delivery.md §2.3, with its dry-run twin and its twin in mode Warn. */
import { describe, expect, it } from 'vitest';

import type { KubeObject } from '../../src/cluster/objects.ts';
import type { AdmissionReview } from '../support/builders.ts';
import { POINTER_ROWS } from './delivery-pointer-rows.ts';
import type { Row } from './delivery-row.ts';
import { identityPolicy, pacto, POINTERS, sha256, siteWith, stage, type Answered } from './delivery-site.ts';
import { WORKLOAD_ROWS } from './delivery-workload-rows.ts';

const ROWS = [...POINTER_ROWS, ...WORKLOAD_ROWS];

const objectsFor = ({ stage: parts, more = [] }: Row, mode: string): readonly KubeObject[] => {
  const gate: unknown = parts?.spec?.['gate'];
  return [
    stage({ ...parts, spec: { ...parts?.spec, gate: { ...(gate as object | undefined), mode } } }),
    pacto(),
    identityPolicy(),
    ...more,
  ];
};

function ask(row: Row, mode = 'Enforce', review = row.review): Promise<Answered> {
  const site = siteWith(objectsFor(row, mode), { settings: { promoterUsername: row.promoter, sha256 } });
  return site.ask(row.path ?? POINTERS, review);
}

/** Another uid is all that may differ. */
function twinOf({ request, ...rest }: AdmissionReview): AdmissionReview {
  return { ...rest, request: { ...request, dryRun: request.dryRun !== true } };
}

describe('the rows of the event table', () => {
  it.each(ROWS)('row $row: $what', async (row) => {
    const answer = await ask(row);
    const { allowed, code, status, message } = answer;
    const isSafe = message.length < 900 && !/is\simmutable|immutable\sfield|\n/.test(message);
    const refusal = { code: status.code, reason: status.reason, details: status['details'] };
    expect({ allowed, code, isSafe, refusal }).toEqual({
      allowed: row.allowed,
      code: row.code,
      isSafe: true,
      refusal: row.allowed ? {} : { code: 403, reason: 'Forbidden' },
    });
  });

  it.each(ROWS)('row $row: $what, as a dry-run: the same bytes', async (row) => {
    expect((await ask(row, 'Enforce', twinOf(row.review))).text).toBe((await ask(row)).text);
  });

  it.each(ROWS.filter(({ warnCode }) => warnCode === undefined))(
    'row $row: $what, in mode Warn: only said',
    async (row) => {
      const answer = await ask(row, 'Warn');
      const isSaid = row.allowed || row.code === 'NOT_PINNED' || row.promoter !== undefined;
      const said = answer.warnings.some((warning) => warning.includes(`[${row.code}]`));
      expect([answer.allowed, isSaid || said]).toEqual([true, true]);
    },
  );

  it.each(ROWS.filter(({ warnCode }) => warnCode !== undefined))(
    'row $row: $what, in mode Warn: refused, since no mode opens it',
    async (row) => {
      const answer = await ask(row, 'Warn');
      expect([answer.allowed, answer.code]).toEqual([false, row.warnCode]);
    },
  );

  it('are all there but the one that is about other kinds', () => {
    const rows = new Set(ROWS.map(({ row }) => row));
    expect(Array.from({ length: 36 }, (_, index) => index + 1).filter((row) => !rows.has(row))).toEqual([]);
  });
});
