import { load, readDocument } from '../../../src/policies/contract/load.ts';
import { override } from '../../../src/policies/contract/overrides.ts';
import type { Comparer } from './case.ts';
import { differs, plain } from './compare.ts';

/** The text that is written back is compared byte for byte; of refusals only that they are. */
export const comparers: Readonly<Record<string, Comparer>> = {
  override({ input, answer }) {
    const { base, values, set } = input as { base: string; values: string[]; set: string[] };
    const result = override(readDocument(base), { values, set });
    const refused = answer?.['error'] !== undefined;
    if (!result.ok || refused) return differs('applies', !refused, result.ok, result);
    const { generic } = load(result.text).document;
    const recorded = answer?.['generic'];
    const validation = answer?.['inlineValidation'] as { genericError?: string };
    const json = validation.genericError === undefined;
    return [
      ...differs('text', answer?.['yaml'], result.text),
      ...differs('is JSON', json, generic.ok, generic),
      ...(generic.ok && json ? differs('generic view', plain(recorded), plain(generic.value)) : []),
    ];
  },
};
