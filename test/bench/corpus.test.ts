import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';

import { BODY_NAMES, reviewBody, UID_LENGTH, uidOfRequest, type BodyName } from './corpus.ts';

const KIB = 1024;

/** Sizes of one object, and the first digits of the SHA-256 of the bytes: a change makes old numbers incomparable. */
const FIXED: Readonly<Record<BodyName, readonly [smallest: number, largest: number, digest: string]>> = {
  'pod-create-4k': [4 * KIB, 4 * KIB, 'b4d018aada46675a'],
  'pod-create-100-containers': [80 * KIB, 100 * KIB, '202abc9e7150815c'],
  'deployment-update-8k': [16 * KIB, 18 * KIB, '5c410c82759a3c83'],
  'lease-update-own': [2 * KIB, 3 * KIB, '3f00529f4dffb4d1'],
  'lease-update-foreign': [2 * KIB, 3 * KIB, 'ab1ee7e0d64e0480'],
  'lease-delete-own': [KIB, 2 * KIB, 'c408d57798cb94e4'],
  'configmap-update-1m': [2 * KIB * KIB, 2.2 * KIB * KIB, 'c6410e6ccb62ace5'],
  'resource-update-3m-decimals': [6 * KIB * KIB, 6.2 * KIB * KIB, '64880ad862b50af2'],
  'resource-update-3m': [6 * KIB * KIB, 6.2 * KIB * KIB, 'b250d34433a43431'],
};

describe('the reviews of the benchmark', () => {
  test.each(BODY_NAMES)('%s has its size, is the same bytes each time and reads as a review', (name) => {
    const [smallest, largest, digest] = FIXED[name];
    const { bytes, uidOffset } = reviewBody(name);
    expect(bytes.length).toBeGreaterThanOrEqual(smallest);
    expect(bytes.length).toBeLessThanOrEqual(largest);
    expect(createHash('sha256').update(bytes).digest('hex').slice(0, 16)).toBe(digest);

    bytes.write(uidOfRequest(0xabc), uidOffset, UID_LENGTH, 'latin1');
    const review = JSON.parse(bytes.toString('utf8')) as { kind: string; request: { uid: string } };
    expect(review.kind).toBe('AdmissionReview');
    expect(review.request.uid).toBe('00000000-0000-4000-8000-000000000abc');
  });

  test('has one review that node identity denies: an agent writes the Lease of another node', () => {
    const denied = BODY_NAMES.filter((name) => !reviewBody(name).allowed);
    expect(denied).toEqual(['lease-update-foreign']);
  });
});
