/**
 * Each fault of a contract, from a registry to the status: contracts that upstream's own engine was recorded to refuse go
 * through the reconciler as the program runs it, and are Invalid for the same reasons.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONTRACT_FINDINGS } from '../../src/policies/contract/findings.ts';
import { writtenOf } from './verdict-world.ts';

const GOLDEN = new URL('../golden/contract/', import.meta.url);

type Files = Readonly<Record<string, string>>;

interface Recorded {
  readonly id: string;
  readonly op: string;
  readonly input: { readonly files?: Files; readonly mode?: string };
  readonly answer: { readonly errors?: readonly { readonly code?: string }[] };
}

const HEAD = 'pactoVersion: "2.0"\nservice: {name: cart, version: 1.4.0}\n';

function claims(text: string): Files {
  const more = text.replaceAll('…', 'type: url, status: done, weight: 1');
  return { 'pacto.yaml': `${HEAD}readiness:\n  expires: 2027-01-01\n  claims: [${more}]\n` };
}

const LEVELS = 400;

/** Schemas that lead from one to the next, and with the last of them to what is one level deeper. */
function chain(length: number): Readonly<Record<string, unknown>> {
  const links = Array.from({ length }, (_, at) => [
    `s${String(at)}`,
    { allOf: [{ $ref: `#/$defs/s${String(at + 1)}` }] },
  ]);
  const last = { additionalProperties: { $ref: '#/$defs/s0' } };
  return { ...(Object.fromEntries(links) as Record<string, unknown>), [`s${String(length)}`]: last };
}

/** Of codes that nobody recorded. */
const OWN: Readonly<Record<string, Files>> = {
  UNSUPPORTED_PACTO_VERSION: { 'pacto.yaml': HEAD.replace('"2.0"', '2.0') },
  DUPLICATE_POLICY_NAME: {
    'pacto.yaml': `${HEAD}policies: [{name: p, schema: p.json}, {name: p, schema: p.json}]\n`,
    'p.json': '{}',
  },
  DUPLICATE_READINESS_ID: claims('{id: a, evidence: x, …}, {id: a, evidence: y, …}'),
  EMPTY_READINESS_EVIDENCE: claims(String.raw`{id: a, evidence: "\u2003", …}`),
  EMPTY_READINESS_DESCRIPTION: claims('{id: a, evidence: x, description: " ", …}'),
  // Each of 400 levels is asked through 100 schemas.
  POLICY_ENFORCEMENT_ERROR: {
    'pacto.yaml': `${HEAD}metadata: ${'{a: '.repeat(LEVELS)}1${'}'.repeat(LEVELS)}\npolicies: [{name: p, schema: p.json}]\n`,
    'p.json': JSON.stringify({ $ref: '#/$defs/s0', $defs: chain(100) }),
  },
};

/** In no status as the fault of one that is Invalid, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  TAG_NOT_DIGEST: 'a warning of a valid contract: verdicts-reached.test.ts',
  POLICY_REF_NOT_ENFORCED: 'a warning of a valid contract: verdicts-reached.test.ts',
  POLICY_REF_UNRESOLVED: 'of policies that are fetched, which no verdict does',
  POLICY_REF_CYCLE: 'of policies that are fetched, which no verdict does',
  SCHEMA_ERROR: 'said by other tools alone',
  EMPTY_COMPATIBILITY: 'the schema refuses it first',
  VALUES_WITHOUT_SCHEMA: 'the schema refuses it first',
  STATELESS_PERSISTENT_CONFLICT: 'the schema refuses it first',
};

const all = readdirSync(GOLDEN)
  .filter((file) => file.endsWith('.json'))
  .flatMap((file) => JSON.parse(readFileSync(new URL(file, GOLDEN), 'utf8')) as Recorded[]);

/** The first recorded contract of each code that a bundle alone has. */
function recorded(): ReadonlyMap<string, Recorded> {
  const found = new Map<string, Recorded>();
  for (const one of all) {
    const { op, input, answer } = one;
    if (op !== 'validate' || input.files === undefined || input.mode !== undefined) continue;
    for (const code of codesOf(answer)) if (!found.has(code)) found.set(code, one);
  }
  return found;
}

function codesOf({ errors = [] }: Recorded['answer']): ReadonlySet<string> {
  return new Set(errors.flatMap(({ code }) => code ?? []));
}

async function refusalOf(files: Files): Promise<ReadonlySet<string>> {
  const { status, events } = await writtenOf({
    files,
    spec: { target: { serviceName: 'web' } },
  });
  expect(status.contractStatus).toBe('Invalid');
  expect(status.validation?.valid).toBe(false);
  expect(status.conditions?.map(({ type, status: is, reason }) => `${type}=${is}/${reason}`)).toEqual([
    'ContractValid=False/Invalid',
  ]);
  // The mirror keeps what loads, as upstream's does; no verdict stands on it.
  expect(events.filter((event) => event !== 'Normal RevisionCreated')).toEqual(['Warning ContractInvalid']);
  expect(status.currentRevision).toBeUndefined();
  return codesOf(status.validation ?? {});
}

describe('a contract that is refused', () => {
  const found = recorded();

  it.each([...found].map(([code, { id, input, answer }]) => [code, id, input.files ?? {}, answer] as const))(
    '%s: %s',
    async (code, _id, files, answer) => {
      const codes = await refusalOf(files);
      expect(codes).toContain(code);
      expect(codes).toEqual(codesOf(answer));
    },
  );

  it.each(Object.entries(OWN))('%s', async (code, files) => {
    expect(await refusalOf(files)).toEqual(new Set([code]));
  });

  it('is so by each code that validation has, but for those that no verdict can say', () => {
    const structural = Object.entries(CONTRACT_FINDINGS).flatMap(([code, { category }]) =>
      category === 'RuntimeDrift' || category === 'Inconclusive' ? [] : [code],
    );
    const reached = [...found.keys(), ...Object.keys(OWN), ...Object.keys(ELSEWHERE)];
    expect(reached.toSorted()).toEqual(structural.toSorted());
  });
});
