/**
 * Policies mean the same to us as to the API server: requests drawn from the recorded ones are answered by a real API
 * server with the policies in force, and by us from the reviews of the same requests.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readExceptions } from '../conformance/exceptions.ts';
import { requestDifferences } from '../conformance/vap-differences.ts';
import { createApiClient, type ApiClient } from './support/api-client.ts';
import { clusterSuite } from './support/cluster-suite.ts';
import { startControlPlane, type ControlPlane } from './support/control-plane.ts';
import { countByFamily, draw, readPolicyCases, type PolicyCase } from './support/policy-cases.ts';
import { answerBothWays, AUDIT_POLICY, type Parity } from './support/policy-parity.ts';

const REQUESTS = 200;
const PER_FAMILY = 5;

/** Repeats a draw. */
const seed = numberFrom('PACTO_GATE_SEED') ?? randomInt(2 ** 32);
/** By hand: more requests than that, up to all. */
const count = numberFrom('PACTO_GATE_REQUESTS') ?? REQUESTS;

clusterSuite('policies on 1.36 and with us', { versions: ['1.36'] }, () => {
  const drawn = draw(readPolicyCases(), { seed, count, perFamily: PER_FAMILY });
  const summary = `PACTO_GATE_SEED=${seed} draws ${drawn.length} requests: ${countByFamily(drawn)}`;
  let plane: ControlPlane | undefined;
  let api: ApiClient | undefined;
  let parities: ReadonlyMap<string, Parity>;

  beforeAll(async () => {
    process.stdout.write(`\n${summary}\n`);
    plane = await startControlPlane({ version: '1.36', auditPolicy: AUDIT_POLICY });
    api = createApiClient(plane, 16);
    parities = await answerBothWays(plane, api, drawn);
    const answers = [...parities.values()].map(({ native }) => native);
    const refused = answers.filter(({ allowed }) => !allowed).length;
    const warned = answers.filter(({ warnings }) => warnings.length > 0).length;
    process.stdout.write(`${answers.length} answered, ${refused} of them refused, ${warned} with warnings\n`);
  });
  afterAll(async () => {
    await api?.close();
    await plane?.stop();
  });

  // In the title, so that a failure tells how to repeat it.
  describe(`drawn by PACTO_GATE_SEED=${seed}`, () => {
    it.each(drawn.map((one) => ({ one, id: one.id, family: one.family })))(
      'answers $family/$id as the API server does',
      ({ one }) => {
        const { native, outcomes, outcomeByEntry } = parityOf(one);
        const live = { ...one, answer: native };
        const byEntry = outcomeByEntry === undefined ? outcomes : [outcomeByEntry];
        expect(requestDifferences(live, outcomes).join('\n')).toBe('');
        expect(requestDifferences(live, byEntry).join('\n')).toBe('');
      },
    );

    it('is answered by the API server as it was recorded, so that each case is what it was', () => {
      // What the recording server knew wrong, this one knows.
      const excepted = readExceptions(readFileSync('docs/conformance.md', 'utf8'));
      const different = drawn
        .filter((one) => one.unordered !== true && !excepted.has(one.id))
        .filter((one) => factsOf(parityOf(one).nativeAsRecorded) !== factsOf(one.answer))
        .map((one) => ({
          id: one.id,
          wanted: factsOf(one.answer),
          got: factsOf(parityOf(one).nativeAsRecorded),
        }));
      expect(different).toEqual([]);
    });
  });

  function parityOf(one: PolicyCase): Parity {
    const parity = parities.get(one.id);
    if (parity === undefined) throw new Error(`${one.id} was not answered`);
    return parity;
  }
});

function numberFrom(variable: string): number | undefined {
  const text = process.env[variable];
  if (text === undefined || text === '') return undefined;
  if (!/^\d+$/.test(text)) throw new Error(`${variable} is no whole number`);
  return Number(text);
}

function factsOf({ allowed, status, warnings }: Parity['native']): string {
  const { message, reason, code } = status ?? {};
  return JSON.stringify({ allowed, message, reason, code, warnings });
}
