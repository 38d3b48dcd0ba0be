/** Layer 3 (contract.md §3.4): which policies a contract is held to, and whether it keeps them. */
import { inertText, quote } from '../quote.ts';
import { bundleFile } from './bundle-files.ts';
import type { BundleFiles } from './bundle-files.ts';
import type { Contract, PolicyReference } from './contract.ts';
import type { ContractFindingCode, Problem } from './findings.ts';
import { instancePlace } from './instance-place.ts';
import type { JsonValue } from './json-value.ts';
import { parseReference } from './reference.ts';
import type { SchemaLeaf } from './schema-checks.ts';
import type { SchemaRun } from './schema-run.ts';

/** Where a contract that others are held to has its schema, unless it declares policies (contract.md §3.4.2). */
const POLICY_FILE = 'policy/schema.json';

/** Ours: references followed in one run, and how far they may lead from one to the next. */
const MAX_BUNDLES = 64;
const MAX_DEPTH = 16;

/** Ours: no contract is held to so many, and what one run can report has an end. */
const MAX_POLICIES = 1000;
const MAX_PROBLEMS = 1000;
/** Ours, for one policy. */
const MAX_VIOLATIONS = 100;

/** Ours, of a reason that somebody else's server may have written. */
const MAX_REASON_CHARACTERS = 500;

export interface PolicyBundle {
  readonly contract: Contract;
  readonly files: BundleFiles;
  /** Where its own relative references start; undefined: it came from a registry, and may name no local path. */
  readonly base: string | undefined;
}

export interface PolicyResolver {
  /** @param from the base of the contract that wrote the reference; a local one is only ever asked for with it */
  resolve(ref: string, from: string | undefined): Promise<PolicyResolution>;
}

export type PolicyResolution =
  { readonly ok: true; readonly bundle: PolicyBundle } | { readonly ok: false; readonly reason: string };

/** A schema that the contract is held to. */
interface Policy {
  /** Who demands it, and in which file: `policies["name"] ("rules.json")`, behind the reference that led there. */
  readonly origin: string;
  readonly schema: Uint8Array;
}

interface Declarer {
  /** `undefined` where there is no bundle at all. */
  readonly files: BundleFiles | undefined;
  readonly base: string | undefined;
  /** In front of its policies' names: the reference that led to it; empty for the root. */
  readonly prefix: string;
}

/** Gathers policies and what is wrong with them; one for each run. */
export class PolicySearch {
  readonly problems: Problem[] = [];
  readonly policies: Policy[] = [];
  readonly #schemas: SchemaRun;
  readonly #resolver: PolicyResolver | undefined;
  #bundles = 0;
  #isOver = false;

  /** @param resolver without one every reference is a problem (contract.md §3.4.2) */
  constructor(schemas: SchemaRun, resolver: PolicyResolver | undefined) {
    this.#schemas = schemas;
    this.#resolver = resolver;
  }

  async from(
    policies: readonly PolicyReference[],
    declarer: Declarer,
    chain: readonly string[] = [],
  ): Promise<void> {
    for (const policy of policies) {
      if (this.#isOver) return;
      const origin = `${declarer.prefix}policies[${quote(policy.name)}]`;
      // No layer 1 looked at a contract elsewhere, and Go has no difference between empty and absent.
      const [schema, ref] = [policy.schema, policy.ref].map((text) => (text === '' ? undefined : text));
      if (schema !== undefined && ref !== undefined) {
        this.#unresolved(origin, 'it names both a schema and a ref, so it is not clear what it demands');
      } else if (schema !== undefined) {
        await this.#file(schema, declarer.files, origin, quote(schema));
      } else if (ref !== undefined) {
        await this.#reference(ref, declarer, origin, chain);
      } else {
        this.#unresolved(origin, 'it names neither a schema nor a ref, so it demands nothing');
      }
    }
  }

  /** @param named the file, for whoever breaks what it demands */
  async #file(path: string, files: BundleFiles | undefined, origin: string, named: string): Promise<void> {
    const schema = files === undefined ? undefined : bundleFile(files, path);
    if (schema === undefined) {
      this.#unresolved(origin, `its bundle has no file ${quote(path)}`);
      return;
    }
    const answer = await this.#schemas.compile(schema);
    if (answer.outcome === 'valid') {
      if (this.policies.length < MAX_POLICIES) this.policies.push({ origin: `${origin} (${named})`, schema });
      else this.#end(origin, `it is not taken: ${MAX_POLICIES} policies were before it`);
    } else if (answer.outcome !== 'invalid') {
      this.#unresolved(origin, `${quote(path)} is no schema that can be used: ${answer.reason}`);
    }
  }

  async #reference(ref: string, declarer: Declarer, origin: string, chain: readonly string[]): Promise<void> {
    const reference = parseReference(ref);
    if (reference.problem !== undefined) {
      this.#unresolved(origin, `${quote(ref)} is no reference to a registry: ${reference.problem}`);
      return;
    }
    if (reference.scheme === 'local' && declarer.base === undefined) {
      this.#unresolved(origin, `a contract from a registry may not name the local path ${quote(ref)}`);
      return;
    }
    // The same text means something else where it is written elsewhere (contract.md §3.4.2).
    const link = JSON.stringify([declarer.base ?? null, ref]);
    if (chain.includes(link)) {
      const next = 'let one of the contracts on the way stop naming it';
      this.#report('POLICY_REF_CYCLE', `${origin}: ${quote(ref)} leads back to itself; ${next}`);
      return;
    }
    const bundle = await this.#fetch(ref, declarer.base, origin, chain.length);
    if (bundle === undefined) return;
    const { contract, files, base } = bundle;
    if (contract.policies.length > 0) {
      await this.from(contract.policies, { files, base, prefix: `${quote(ref)} → ` }, [...chain, link]);
    } else await this.#file(POLICY_FILE, files, origin, `${quote(POLICY_FILE)} of ${quote(ref)}`);
  }

  async #fetch(
    ref: string,
    base: string | undefined,
    origin: string,
    depth: number,
  ): Promise<PolicyBundle | undefined> {
    if (this.#resolver === undefined) {
      this.#unresolved(origin, `${quote(ref)} cannot be fetched, as nothing is set up to fetch it`);
      return undefined;
    }
    if (depth >= MAX_DEPTH) {
      this.#unresolved(origin, `${quote(ref)} is not followed: it is more than ${MAX_DEPTH} references away`);
      return undefined;
    }
    if (this.#bundles >= MAX_BUNDLES) {
      this.#end(origin, `${quote(ref)} is not followed: ${MAX_BUNDLES} references were before it`);
      return undefined;
    }
    this.#bundles += 1;
    const resolution = await this.#resolver.resolve(ref, base);
    if (resolution.ok) return resolution.bundle;
    this.#unresolved(origin, `${quote(ref)} cannot be fetched: ${resolution.reason}`);
    return undefined;
  }

  /** What follows is not looked at: nothing will be enforced. */
  #end(origin: string, reason: string): void {
    this.#unresolved(origin, reason);
    this.#isOver = true;
  }

  #unresolved(origin: string, reason: string): void {
    const cut = inertText(reason.slice(0, MAX_REASON_CHARACTERS));
    this.#report('POLICY_REF_UNRESOLVED', `${origin}: ${cut}`);
  }

  #report(code: ContractFindingCode, message: string): void {
    this.problems.push({ path: '', code, message });
    if (this.problems.length >= MAX_PROBLEMS) this.#isOver = true;
  }
}

/**
 * Holds the contract to every policy, in the order they were found (contract.md §3.4.3).
 * @param root the generic view of the contract, after overrides
 */
export async function enforcePolicies(
  policies: readonly Policy[],
  root: JsonValue,
  schemas: SchemaRun,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  const violations = new Map<Uint8Array, readonly Violation[]>();
  for (const { origin, schema } of policies) {
    if (problems.length >= MAX_PROBLEMS) break;
    let said = violations.get(schema);
    if (said === undefined) {
      const answer = await schemas.validate(schema, root);
      if (answer.outcome !== 'valid' && answer.outcome !== 'invalid') {
        problems.push({
          path: '',
          code: 'POLICY_ENFORCEMENT_ERROR',
          message: `${origin}: it could not be judged: ${answer.reason}`,
        });
        continue;
      }
      said = answer.outcome === 'invalid' ? violationsOf(answer.leaves) : [];
      violations.set(schema, said);
    }
    for (const { line, place } of said) {
      const message = `${origin}: ${line}`;
      problems.push({ path: '', code: 'POLICY_VIOLATION', message, ...(place !== '' && { place }) });
    }
  }
  return problems;
}

interface Violation {
  readonly line: string;
  readonly place: string;
}

function violationsOf(leaves: readonly SchemaLeaf[]): readonly Violation[] {
  return leaves
    .map(({ instancePath, message }) => ({
      line: instancePath === '' ? `the contract ${message}` : `${quote(instancePath)} ${message}`,
      place: instancePlace(instancePath),
    }))
    .sort((a, b) => (a.line < b.line ? -1 : a.line > b.line ? 1 : 0))
    .slice(0, MAX_VIOLATIONS);
}
