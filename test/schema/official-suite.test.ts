import { describe, expect, it } from 'vitest';
import { Checker } from '../../src/schema/checker.ts';
import { groupsOf, refusedGroups, schemaTextOf, suiteFiles } from './suite.ts';

describe('the official JSON Schema test suite', () => {
  const checker = new Checker();
  const refused = refusedGroups();
  const met = new Set<string>();

  it.each(suiteFiles())('comes out as it says: %s %s', (draft, file) => {
    const different: string[] = [];
    for (const group of groupsOf(draft, file)) {
      const name = `${draft}: ${file}: ${group.description.replaceAll('`', '')}`;
      const isListed = refused.has(name);
      if (isListed) met.add(name);
      const text = schemaTextOf(draft, group);
      for (const test of group.tests) {
        const { outcome } = checker.check(text, [structuredClone(test.data)], () => undefined);
        // A wrong verdict cannot be listed: only that there is none.
        const wanted = isListed ? ['refused', 'not-a-schema'] : [test.valid ? 'valid' : 'invalid'];
        if (!wanted.includes(outcome)) different.push(`${name}: ${test.description}: ${outcome}`);
      }
    }
    expect(different).toEqual([]);
  });

  it('has each group that docs/conformance.md lists', () => {
    expect([...refused].filter((name) => !met.has(name))).toEqual([]);
    expect(met.size).toBeGreaterThan(0);
  });
});
