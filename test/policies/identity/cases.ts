/**
 * The one table of node identity cases (node-identity.md NI01 to NI30 and §3.3). It drives the pure decisions, the
 * native policies of manifests/policies on an API server that serves them, and the webhooks on one that does not.
 *
 * What no native policy can tell is in the table as well, marked `webhookOnly` with the reason.
 */
import type { IdentityCase } from './case.ts';
import { podCases } from './pod-cases.ts';
import { proofCases } from './proof-cases.ts';
import { subjectCases } from './subject-cases.ts';
import { tokenCases } from './token-cases.ts';

export const CASES: readonly IdentityCase[] = [...proofCases, ...subjectCases, ...tokenCases, ...podCases];
