import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMAND_FINDINGS } from '../src/cli/contract-findings.ts';
import { readExplanations } from '../src/cli/explanations.ts';
import { decodeEvidence, evidenceProblems } from '../src/policies/contract/evidence.ts';
import { CONTRACT_FINDINGS } from '../src/policies/contract/findings.ts';
import { CONTRACT_STATUSES } from '../src/policies/contract/status-ladder.ts';
import { OBSERVATION_KINDS } from '../src/policies/observation.ts';

const { contracts, commands, statuses } = await readExplanations();

describe('docs/findings.md', () => {
  it('explains each code of contracts, in the same order, and no other', () => {
    expect([...contracts.keys()]).toEqual(Object.keys(CONTRACT_FINDINGS));
  });

  it('explains each code of commands, and no other', () => {
    expect([...commands.keys()]).toEqual(Object.keys(COMMAND_FINDINGS));
  });

  it('explains each status, in the same order, and no other', () => {
    expect([...statuses.keys()]).toEqual([...CONTRACT_STATUSES]);
  });

  it.each(Object.entries(CONTRACT_FINDINGS))('says of %s what the list says, and what to do', (code, row) => {
    const [meaning = '', remedy = ''] = contracts.get(code)?.text.split('\n\n') ?? [];
    const severity = row.severity.replace(/^./, (letter) => letter.toUpperCase());
    expect(meaning).toMatch(new RegExp(`^${severity} \\(\`${row.category}\`\\)\\. [A-Z\`].*\\.$`));
    expect(remedy).toMatch(/^[A-Z`].*\.$/);
  });
});

describe('what docs/findings.md says of evidence', () => {
  const page = readFileSync('docs/findings.md', 'utf8');

  it('lists each kind of observation, and no other', () => {
    const [, chapter = ''] = page.split('\n## Evidence\n');
    const rows = chapter.split('\n## ')[0]?.matchAll(/^\| `(\w+)` +\| `(\w+)` +\|/gm) ?? [];
    const kinds = [...rows].map(([, kind = '', subject = '']) => [kind, subject] as const);
    expect(kinds.map(([kind]) => kind)).toEqual([...OBSERVATION_KINDS]);
    for (const [kind, subject] of kinds) {
      const observation = {
        kind,
        subject: { kind: subject, name: 'n' },
        outcome: 'Failed',
        provenance: { collector: 'c', detectedAt: '2027-01-01T12:00:00Z' },
      };
      expect(decodeEvidence({ observations: [observation] })).toMatchObject({ ok: true });
    }
  });

  it('shows a set that is one', () => {
    const [, example = ''] = /```json\n(.*?)```/s.exec(page) ?? [];
    const decoded = decodeEvidence(JSON.parse(example));
    expect(decoded.ok ? evidenceProblems(decoded.evidence) : decoded.reason).toEqual([]);
  });
});

describe('the codes of contracts', () => {
  /** Our own layer 1 has no way to fail that is not a finding (contract.md §3.2). */
  const NEVER_SAID: ReadonlySet<string> = new Set(['SCHEMA_ERROR']);

  it('are each said somewhere', () => {
    const sources = globSync('src/policies/contract/*.ts')
      .filter((path) => !path.endsWith('/findings.ts'))
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n');
    const unsaid = Object.keys(CONTRACT_FINDINGS).filter((code) => !sources.includes(`'${code}'`));
    expect(new Set(unsaid)).toEqual(NEVER_SAID);
  });
});
