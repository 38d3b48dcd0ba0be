import { describe, expect, it } from 'vitest';
import { Interests } from '../../src/reconcile/interests.ts';

const API = { namespace: 'shop', name: 'api' };
const CART = { namespace: 'shop', name: 'cart' };

const names = (interests: Interests, ...reads: readonly string[]): readonly string[] =>
  interests
    .of(reads)
    .map(({ name }) => name)
    .toSorted();

describe('who is interested', () => {
  it('is whoever read it in the last look, each once', () => {
    const interests = new Interests();
    for (const [key, reads] of [
      [API, ['a', 'b']],
      [CART, ['b', 'c']],
    ] as const) {
      const look = interests.begin(key);
      for (const read of reads) look.note(read);
      look.end();
    }
    expect(names(interests, 'a')).toEqual(['api']);
    expect(names(interests, 'b', 'c')).toEqual(['api', 'cart']);
    expect(names(interests, 'd')).toEqual([]);
  });

  it('is nobody who reads it no more', () => {
    const interests = new Interests();
    const first = interests.begin(API);
    first.note('old');
    first.note('both');
    first.end();
    const second = interests.begin(API);
    second.note('both');
    second.note('new');
    second.end();
    expect([names(interests, 'old'), names(interests, 'both'), names(interests, 'new')]).toEqual([
      [],
      ['api'],
      ['api'],
    ]);
    expect(interests.size).toBe(2);
  });

  it('counts old and new reads while a look is under way, so that no change falls between them', () => {
    const interests = new Interests();
    const first = interests.begin(API);
    first.note('old');
    first.end();
    interests.begin(API).note('new');
    expect([names(interests, 'old'), names(interests, 'new')]).toEqual([['api'], ['api']]);
  });

  it('keeps the reads of a look that never ended until a later one ends', () => {
    const interests = new Interests();
    interests.begin(API).note('lost');
    const next = interests.begin(API);
    next.note('new');
    expect(names(interests, 'lost')).toEqual(['api']);
    next.end();
    expect([names(interests, 'lost'), names(interests, 'new')]).toEqual([[], ['api']]);
  });

  it('ends with the look that began last, not with an earlier one', () => {
    const interests = new Interests();
    const first = interests.begin(API);
    const second = interests.begin(API);
    second.note('new');
    first.end();
    expect(names(interests, 'new')).toEqual(['api']);
    second.end();
    expect(names(interests, 'new')).toEqual(['api']);
  });

  it('counts what a look reads after its end until the next one ends', () => {
    const interests = new Interests();
    const look = interests.begin(API);
    look.end();
    look.note('late');
    expect(names(interests, 'late')).toEqual(['api']);
    interests.begin(API).end();
    expect(interests.size).toBe(0);
  });
});

describe('a Pacto that is gone', () => {
  it('is interested in nothing, and nothing is kept of it', () => {
    const interests = new Interests();
    const look = interests.begin(API);
    look.note('a');
    look.end();
    interests.forget(API);
    expect([names(interests, 'a'), interests.size]).toEqual([[], 0]);
  });

  it('does not come back through a look that was under way', () => {
    const interests = new Interests();
    const look = interests.begin(API);
    look.note('a');
    interests.forget(API);
    look.note('b');
    look.end();
    expect(interests.size).toBe(0);
  });

  it('comes back through a new look', () => {
    const interests = new Interests();
    const old = interests.begin(API);
    interests.forget(API);
    const look = interests.begin(API);
    look.note('a');
    old.end();
    look.end();
    expect(names(interests, 'a')).toEqual(['api']);
  });
});
