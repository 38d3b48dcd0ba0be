import { decodeEvidence, evidenceProblems } from '../../../src/policies/contract/evidence.ts';
import { evaluate } from '../../../src/policies/contract/evaluate.ts';
import type { Finding, Severity } from '../../../src/policies/contract/findings.ts';
import { load } from '../../../src/policies/contract/load.ts';
import { contractStatus, deriveStatus, type Coverage } from '../../../src/policies/contract/status-ladder.ts';
import { structuralFindings, validate } from '../../../src/policies/contract/validate.ts';
import { SchemaPool } from '../../../src/schema/schema-pool.ts';
import type { Comparer, ContractCase } from './case.ts';
import { fieldDifferences } from './fields.ts';

/** Texts of messages are informative, the place that a problem of a set names is not (README). */
export const comparers: Readonly<Record<string, Comparer>> = {
  evaluate: compareEvaluate,

  evidence({ input, answer }: ContractCase): readonly string[] {
    const decoded = decodeEvidence(input['evidence']);
    const ours = decoded.ok
      ? { setErrors: places(evidenceProblems(decoded.evidence)) }
      : { evidenceError: true };
    return fieldDifferences(withoutTexts(answer), ours);
  },

  ladder({ input, answer }: ContractCase): readonly string[] {
    const { severities, coverage } = input as { severities: readonly Severity[]; coverage: Coverage };
    const findings = severities.map((severity) => ({ severity }));
    return fieldDifferences(answer ?? {}, { status: deriveStatus(findings, coverage) });
  },
};

async function compareEvaluate({ input, answer }: ContractCase): Promise<readonly string[]> {
  const decoded = decodeEvidence(input['evidence']);
  if (!decoded.ok) return fieldDifferences(withoutTexts(answer), { evidenceError: true });
  const loaded = load(input['contract'] as string);
  if (!loaded.ok) return [`the contract does not load: ${loaded.reason}`];

  const structural = input['withStructural'] === true ? await structuralOf(loaded) : [];
  const { findings, coverage } = evaluate(loaded.contract, decoded.evidence);
  return fieldDifferences(withoutTexts(answer), {
    findings: [...structural, ...findings].map(recordedShape),
    coverage,
    status: contractStatus({ structural, reference: false, findings, coverage }),
    setErrors: places(evidenceProblems(decoded.evidence)),
  });
}

/** As the operator does it with a contract that has no bundle. */
async function structuralOf(loaded: Parameters<typeof validate>[0]): Promise<readonly Finding[]> {
  const schemas = new SchemaPool();
  try {
    return structuralFindings(await validate(loaded, { schemas }));
  } finally {
    await schemas.close();
  }
}

/** A finding in the recording's words, without its message. */
function recordedShape({
  code,
  severity,
  category,
  subject = { kind: '', name: '' },
  contractPath,
  evidenceRefs,
}: Finding): unknown {
  return { category, code, contractPath, evidenceRefs, severity, subject };
}

function withoutTexts(answer: ContractCase['answer']): Readonly<Record<string, unknown>> {
  const { findings, setErrors, evidenceError, ...rest } = answer ?? {};
  return {
    ...rest,
    ...(findings !== undefined && { findings: (findings as readonly Finding[]).map(recordedShape) }),
    ...(setErrors !== undefined && { setErrors: places(setErrors as readonly string[]) }),
    ...(evidenceError !== undefined && { evidenceError: true }),
  };
}

/** `observation[1]` of a problem with one of them, nothing of one with the set. */
function places(problems: readonly string[]): readonly string[] {
  return problems.map((problem) => /^observation\[\d+\]/.exec(problem)?.[0] ?? '');
}
