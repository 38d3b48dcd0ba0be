/** One look at one Pacto: contract × what the cluster shows → a whole new status (operator.md §3.2). Nothing is written. */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { evaluate } from '../policies/contract/evaluate.ts';
import type { SchemaChecks } from '../policies/contract/schema-checks.ts';
import { contractStatus } from '../policies/contract/status-ladder.ts';
import { structuralFindings } from '../policies/contract/validate.ts';
import type { ObservationWindow, Pacto, PactoStatus } from './api/pacto.ts';
import { collect, declares } from './collect.ts';
import {
  contractInvalid,
  contractParsed,
  contractUnavailable,
  nextConditions,
  referenceParsed,
  runtimeObserved,
  type NewCondition,
} from './conditions.ts';
import { contractKey, validationText, type ReadContract } from './contract-reading.ts';
import type { ContractReader } from './contract-reader.ts';
import type { ContractSource, NoContract, ObtainedContract } from './contract-source.ts';
import { Due } from './due.ts';
import type { ObserveSettings, Surveyed } from './observe/dimension.ts';
import type { Prober } from './observe/prober.ts';
import type { LookOptions, Pass, PassResult, RevisionPlan } from './pass.ts';
import { projectionOf } from './projection.ts';
import { readinessEvents, readinessOf, type AssessedReadiness } from './readiness-status.ts';
import { planRevision } from './revision.ts';
import { inSeconds, Windows } from './stabilization.ts';
import { resolutionPolicyOf, statusFindings, summaryOf, validationOf } from './status.ts';
import { isSameStatus } from './status-change.ts';
import { bounded, boundedWindows } from './status-size.ts';
import { survey } from './target-sight.ts';
import { targetOf, type Target } from './target.ts';
import { contractEvents } from './transitions.ts';
import type { View } from './view.ts';

export interface PassParts {
  readonly source: ContractSource;
  readonly reader: Pick<ContractReader, 'read'>;
  readonly schemas: SchemaChecks;
  readonly prober: Prober;
  readonly settings: ObserveSettings;
  readonly stabilizationMs: number;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
}

export function createPass(parts: PassParts): Pass {
  return { look: (pacto, options) => new Look(parts, pacto, options).run() };
}

type ReadOk = Extract<ReadContract, { readonly ok: true }>;

class Look {
  readonly #parts: PassParts;
  readonly #pacto: Pacto;
  readonly #options: LookOptions;
  readonly #view: View;
  readonly #signal: AbortSignal;
  readonly #nowMs: number;
  readonly #due: Due;

  constructor(parts: PassParts, pacto: Pacto, options: LookOptions) {
    this.#parts = parts;
    this.#pacto = pacto;
    this.#options = options;
    this.#view = options.view;
    this.#signal = options.signal;
    this.#nowMs = parts.clock.now();
    this.#due = new Due(this.#nowMs, pacto.spec.checkIntervalSeconds * 1_000);
  }

  async run(): Promise<PassResult> {
    const obtained = await this.#parts.source.obtain(this.#pacto, this.#options);
    if (!obtained.ok) return this.#failed(obtained);
    const { spec } = this.#pacto;
    const read = await this.#read(obtained);
    if (!read.ok) {
      const isOverride = read.stage === 'override';
      const message = isOverride ? `override error: ${read.message}` : read.message;
      return this.#failed(
        { ok: false, failure: 'broken', message },
        isOverride ? { path: 'spec.overrides', message: read.message } : undefined,
      );
    }
    if (read.validation.errors.length > 0) {
      const message = `Contract validation failed: ${validationText(read.validation.errors)}`;
      return this.#failed({ ok: false, failure: 'broken', message }, validationOf(read.validation));
    }
    const revision = await this.#revision(obtained, read);
    const target = targetOf(this.#pacto.namespace, spec);
    return target === undefined
      ? this.#reference(obtained, read, revision)
      : await this.#observed(obtained, read, revision, target);
  }

  #read(obtained: ObtainedContract): Promise<ReadContract> {
    const { overrides } = this.#pacto.spec;
    const { text, files } = obtained;
    return this.#parts.reader.read(
      contractKey(obtained, overrides),
      { text, files, overrides },
      this.#signal,
    );
  }

  /** Where the revisions cannot be read there is none to make: the one before stays the current one. */
  async #revision(obtained: ObtainedContract, read: ReadOk): Promise<RevisionPlan | undefined> {
    const { sha256, resolvedRef, digest } = obtained;
    try {
      const existing = await this.#view.revisions(this.#pacto);
      const contract = {
        serviceName: read.service.name,
        version: read.service.version,
        sha256,
        resolvedRef,
        digest,
      };
      return planRevision(this.#pacto, contract, existing, this.#nowMs);
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#log('revisions not read', { err: error });
      return undefined;
    }
  }

  /** There is no contract to look at (operator.md §3.2, fail path). */
  #failed(
    { failure, message, isOfSecret }: NoContract,
    said?: { readonly path: string; readonly message: string } | NonNullable<PactoStatus['validation']>,
  ): PassResult {
    const before = this.#pacto.status;
    const isBroken = failure === 'broken';
    const status = contractStatus({
      failure,
      structural: [],
      reference: false,
      findings: [],
      coverage: { evaluated: 0, required: 0 },
    });
    const validation =
      said !== undefined && 'valid' in said ? said : { valid: false, errors: [said ?? { message }] };
    const condition = isBroken ? contractInvalid(message) : contractUnavailable(message);
    const next: PactoStatus = {
      contractStatus: status,
      ...(isOfSecret !== true && this.#resolution()),
      ...(isBroken && { validation }),
      summary: {
        errorCount: isBroken ? 1 : 0,
        warningCount: 0,
        infoCount: 0,
        unknownCount: isBroken ? 0 : 1,
      },
      ...(before.currentRevision !== undefined && { currentRevision: before.currentRevision }),
      ...windowsField(before.observationWindows ?? []),
      conditions: this.#conditions([condition], ['ReadinessSatisfied']),
    };
    const reason = isBroken ? 'ContractInvalid' : 'ContractUnavailable';
    return this.#result(next, {
      revision: undefined,
      events: contractEvents({
        before: before.contractStatus,
        now: status,
        errors: isBroken ? 1 : 0,
        warnings: 0,
        failure: { reason, message },
      }),
    });
  }

  #reference(obtained: ObtainedContract, read: ReadOk, revision: RevisionPlan | undefined): PassResult {
    const readiness = readinessOf(read.contract, this.#nowMs);
    const condition = referenceParsed(read.contract.service);
    const next: PactoStatus = {
      ...this.#ofContract(obtained, read, readiness, revision),
      contractStatus: 'Reference',
      summary: summaryOf([]),
      ...windowsField(this.#pacto.status.observationWindows ?? []),
      conditions: this.#conditions([condition, ...(readiness === undefined ? [] : [readiness.condition])]),
    };
    return this.#result(next, { revision, readiness, events: this.#events(next, readiness) });
  }

  async #observed(
    obtained: ObtainedContract,
    read: ReadOk,
    revision: RevisionPlan | undefined,
    target: Target,
  ): Promise<PassResult> {
    const { contract, validation } = read;
    const windows = new Windows(
      this.#pacto.status.observationWindows ?? [],
      this.#nowMs,
      this.#parts.stabilizationMs,
    );
    const surveyed = this.#surveyed(read, obtained, target, windows);
    const [evidence, sight] = await Promise.all([
      collect(surveyed, {
        resolvedRef: obtained.resolvedRef,
        onFault: (dimension, err) => this.#log('dimension failed', { dimension, err }),
      }),
      survey(surveyed),
    ]);
    const left = boundedWindows(windows.left(declares(contract)));
    for (const window of left) this.#due.at(windows.endsMs(window));
    const structural = structuralFindings(validation);
    const { findings, coverage } = evaluate(contract, evidence);
    const all = [...structural, ...findings];
    const readiness = readinessOf(contract, this.#nowMs);
    const next: PactoStatus = {
      ...this.#ofContract(obtained, read, readiness, revision),
      contractStatus: contractStatus({ structural, reference: false, findings, coverage }),
      summary: summaryOf(all),
      ...(all.length > 0 && { findings: statusFindings(all) }),
      evaluationCoverage: { evaluated: coverage.evaluated, required: coverage.required },
      ...windowsField(left),
      resources: sight.resources,
      ...(sight.runtime !== undefined && { observedRuntime: sight.runtime }),
      conditions: this.#conditions([
        contractParsed(contract.service),
        ...(readiness === undefined ? [] : [readiness.condition]),
        runtimeObserved(sight.failure),
      ]),
    };
    return this.#result(next, { revision, readiness, events: this.#events(next, readiness) });
  }

  #surveyed(read: ReadOk, obtained: ObtainedContract, target: Target, windows: Windows): Surveyed {
    const { settings, prober, schemas } = this.#parts;
    return {
      contract: read.contract,
      target,
      files: obtained.files,
      view: this.#view,
      windows,
      nowMs: this.#nowMs,
      settings,
      prober,
      schemas,
      due: (atMs, by) => this.#due.at(atMs, by),
      signal: this.#signal,
    };
  }

  #ofContract(
    obtained: ObtainedContract,
    read: ReadOk,
    readiness: AssessedReadiness | undefined,
    revision: RevisionPlan | undefined,
  ): PactoStatus {
    const { files, resolvedRef } = obtained;
    const current = revision?.object.metadata.name ?? this.#pacto.status.currentRevision;
    return {
      ...projectionOf({
        contract: read.contract,
        files,
        resolvedRef,
        overridden: overriddenKeys(this.#pacto.spec.overrides),
        metadataAsWritten: read.metadataAsWritten,
        configurationsAsWritten: read.configurationsAsWritten,
      }),
      ...this.#resolution(),
      validation: validationOf(read.validation),
      ...(readiness !== undefined && { readiness: readiness.readiness }),
      ...(current !== undefined && { currentRevision: current }),
    };
  }

  #log(message: string, fields: { readonly dimension?: string; readonly err: unknown }): void {
    const { namespace, name } = this.#pacto;
    this.#parts.log.error(message, { namespace, name, ...fields });
  }

  #resolution(): Pick<PactoStatus, 'resolutionPolicy'> {
    const policy = resolutionPolicyOf(this.#pacto.spec.contractRef);
    return policy === undefined ? {} : { resolutionPolicy: policy };
  }

  #conditions(
    now: readonly NewCondition[],
    kept: readonly 'ReadinessSatisfied'[] = [],
  ): NonNullable<PactoStatus['conditions']> {
    const at = inSeconds(this.#nowMs);
    return nextConditions(this.#pacto.status.conditions ?? [], now, {
      generation: this.#pacto.generation,
      at,
      kept,
    });
  }

  /** Readiness is said last: it changes no verdict. */
  #events(next: PactoStatus, readiness: AssessedReadiness | undefined): PassResult['events'] {
    const { contractStatus: before, conditions = [] } = this.#pacto.status;
    return [
      ...contractEvents({
        before,
        now: next.contractStatus ?? 'Unknown',
        errors: next.summary?.errorCount ?? 0,
        warnings: next.summary?.warningCount ?? 0,
        failure: undefined,
      }),
      ...readinessEvents(conditions, readiness?.condition),
    ];
  }

  #result(
    next: PactoStatus,
    {
      revision,
      readiness,
      events,
    }: {
      readonly revision: RevisionPlan | undefined;
      readonly readiness?: AssessedReadiness | undefined;
      readonly events: PassResult['events'];
    },
  ): PassResult {
    this.#due.at(readiness?.nextChangeMs);
    const status = bounded({
      ...next,
      observedGeneration: this.#pacto.generation,
      lastReconciledAt: inSeconds(this.#nowMs),
    });
    return {
      pacto: this.#pacto,
      status,
      changed: !isSameStatus(this.#pacto.status, status),
      revision,
      events,
      nextLookMs: this.#due.nextLookMs,
      nextChangeMs: this.#due.nextChangeMs,
    };
  }
}

/** By configuration: one may be named more than once. */
function overriddenKeys(overrides: Pacto['spec']['overrides']): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, Set<string>>();
  for (const { name, values } of overrides)
    keys.set(name, new Set([...(keys.get(name) ?? []), ...Object.keys(values)]));
  return new Map([...keys].map(([name, all]) => [name, [...all]]));
}

function windowsField(windows: readonly ObservationWindow[]): Pick<PactoStatus, 'observationWindows'> {
  return windows.length === 0 ? {} : { observationWindows: windows };
}
