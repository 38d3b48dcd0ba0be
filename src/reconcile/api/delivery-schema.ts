/** What the definitions of Stage, Operation and Approval have in common (delivery.md §3.1 to §3.3). */
import { listOf, object, text, type Schema } from './crd-schema.ts';

/** Groups of a person that are kept: an identity provider may send hundreds. */
const MOST_GROUPS = 64;
const DIGEST = '^sha256:[a-f0-9]{64}$';
/** A commit, a chart version and whatever else a pointer may hold, beside a digest. */
const MOST_PIN = 256;

export const digest = (description: string): Schema => text(description, { pattern: DIGEST });

/** An artifact's digest, a commit or a version. */
export const pin = (description: string): Schema => text(description, { maxLength: MOST_PIN });

export const person = (description: string): Schema =>
  object(description, {
    username: text('As the API server knows them.', { maxLength: 1_024 }),
    uid: text('Of the account, where there is one.', { maxLength: 256 }),
    groups: {
      ...listOf('Groups of the person, the first 64.', { type: 'string', maxLength: 1_024 }),
      maxItems: MOST_GROUPS,
    },
  });

export const name = (description: string): Schema => text(description, { minLength: 1, maxLength: 253 });

/** The Pod templates of a release. */
export const TEMPLATES: Schema = {
  ...listOf(
    'Pod templates that its workloads had.',
    object(
      'One workload.',
      {
        kind: text('Kind of the workload.', { maxLength: 63 }),
        name: text('Name of the workload.', { maxLength: 253 }),
        sha256: text('Of its Pod template, without resources, probes and restarts.', {
          pattern: '^[a-f0-9]{64}$',
        }),
      },
      ['kind', 'name', 'sha256'],
    ),
  ),
  maxItems: 16,
};
