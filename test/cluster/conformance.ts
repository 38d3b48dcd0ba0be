/**
 * What every Cluster does, told once: memory.ts, directory.ts and rest.ts on a real API server run this suite (design
 * decision 11). It uses kinds that every API server has, in namespaces of its own, and removes what it made. It
 * tolerates other objects and controllers, and takes nothing for granted that a controller would have to do.
 */
import { afterAll, beforeAll, describe } from 'vitest';

import { applyTests } from './conformance/applies.ts';
import type { ConformanceTarget } from './conformance/fixture.ts';
import { Fixture } from './conformance/fixture.ts';
import { getTests, listTests, pageTests, selectorTests } from './conformance/reads.ts';
import { closeTests, reviewTests } from './conformance/reviews.ts';
import { watchEndTests, watchTests } from './conformance/watches.ts';
import { createTests, deleteTests, replaceStatusTests, replaceTests } from './conformance/writes.ts';

/**
 * @param makeTarget called twice: for the suite, and for the test that closes a cluster. The suite closes both.
 */
export function describeConformance(name: string, makeTarget: () => Promise<ConformanceTarget>): void {
  describe(`${name} cluster`, () => {
    const fixture = new Fixture(makeTarget);
    beforeAll(() => fixture.open());
    afterAll(() => fixture.close());

    describe('get', () => {
      getTests(fixture);
    });
    describe('create', () => {
      createTests(fixture);
    });
    describe('replace', () => {
      replaceTests(fixture);
    });
    describe('replaceStatus', () => {
      replaceStatusTests(fixture);
    });
    describe('delete', () => {
      deleteTests(fixture);
    });
    describe('apply', () => {
      applyTests(fixture);
    });
    describe('list', () => {
      listTests(fixture);
    });
    describe('list by selectors', () => {
      selectorTests(fixture);
    });
    describe('list by pages', () => {
      pageTests(fixture);
    });
    describe('watch', () => {
      watchTests(fixture);
    });
    describe('end of a watch', () => {
      watchEndTests(fixture);
    });
    describe('reviews and version', () => {
      reviewTests(fixture);
    });
    describe('close', () => {
      closeTests(fixture);
    });
  });
}
