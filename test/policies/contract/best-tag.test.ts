import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bestTag } from '../../../src/policies/contract/best-tag.ts';
import { compareVersions, parseVersion } from '../../../src/policies/contract/version.ts';
import { constraint } from './versions.ts';

describe('the best tag', () => {
  it.each([
    [[], undefined, undefined],
    [['latest', 'main'], undefined, undefined],
    [['1.0.0', '10.0.0', '9.0.0'], undefined, '10.0.0'],
    [['1.9.0', '2.0.0-rc.1'], undefined, '2.0.0-rc.1'],
    [['1.9.0', '2.0.0-rc.1'], '>=1', '1.9.0'],
    [['1.9.0', '2.0.0-rc.1'], '>=1.0.0-0', '2.0.0-rc.1'],
    [['1.0.0', 'v1.0.0', '1.0'], undefined, '1.0'],
    [['1.0', 'v1.0.0', '1.0.0'], '^1', '1.0.0'],
    [['1.0.0', '1.5.0'], '>1', undefined],
    [['0123456', 'abcdef1'], undefined, '0123456'],
  ])('of %j under %j is %j', (tags, text, best) => {
    expect(bestTag(tags, text === undefined ? undefined : constraint(text))).toBe(best);
  });

  it.each([
    [['1.9.0', '2.0.0_build.5'], '2.0.0_build.5'],
    [['2.0.0_build.5', '2.0.1'], '2.0.1'],
    [['2.0.0-rc.1_b', '1.0.0'], '2.0.0-rc.1_b'],
    [['1.0.0', '2.0.0_a_b', '3_', '_4'], '1.0.0'],
  ])('of %j reads an underline as build metadata: %j', (tags, best) => {
    expect(bestTag(tags)).toBe(best);
  });

  it('is that of a naive maximum', () => {
    const tag = fc.oneof(
      fc.constantFrom('latest', 'sha-9f', '1.2.3.4'),
      fc
        .tuple(
          fc.constantFrom('', 'v'),
          fc.nat(3),
          fc.nat(3),
          fc.nat(3),
          fc.constantFrom('', '-rc.1', '-rc.2', '-0', '+b'),
        )
        .map(([v, major, minor, patch, rest]) => `${v}${major}.${minor}.${patch}${rest}`),
    );
    const range = fc.option(fc.constantFrom('^1', '~2.1', '>=1.0.0-0', '1.x || >=3', '!=2', '>9'), {
      nil: undefined,
    });
    fc.assert(
      fc.property(fc.array(tag, { maxLength: 12 }), range, (tags, text) => {
        const allowed = text === undefined ? undefined : constraint(text);
        const left = tags
          .flatMap((each, index) => {
            const parsed = parseVersion(each);
            return parsed === undefined ? [] : [{ each, index, parsed }];
          })
          .filter(({ parsed }) => allowed?.matches(parsed) ?? true)
          .sort((a, b) => compareVersions(a.parsed, b.parsed) || a.index - b.index);
        expect(bestTag(tags, allowed)).toBe(left.at(-1)?.each);
      }),
      { numRuns: 1_000 },
    );
  });
});
