/** Random expressions as trees, so that one that shows something can be made smaller. */
import { PRODUCTIONS } from './productions.ts';
import type { Random } from './random.ts';

export interface Tree {
  readonly type: string;
  /** One more than there are children: what stands before, between and behind them. */
  readonly texts: readonly string[];
  readonly children: readonly Tree[];
}

/** Variables within reach, and their types. */
export type Scope = ReadonlyMap<string, string>;

const HOLE = /\$([a-z]+)(?:\(([a-z:,]+)\))?/g;

/** Where a dyn stands instead of what is wanted, where a variable does, and where anything at all does. */
const DYN_CHANCE = 0.12;
const VARIABLE_CHANCE = 0.5;
const MISFIT_CHANCE = 0.015;

export function render({ texts, children }: Tree): string {
  return texts
    .map((text, index) => text + (children[index] === undefined ? '' : render(children[index])))
    .join('');
}

/** @param depth of calls within calls, at most */
export function grow(random: Random, type: string, depth: number, scope: Scope): Tree {
  const given = random.chance(MISFIT_CHANCE) ? random.pick(Object.keys(PRODUCTIONS)) : type;
  const variables = [...scope].filter(([, known]) => known === given || known === 'dyn');
  if (variables.length > 0 && random.chance(VARIABLE_CHANCE)) {
    return { type, texts: [random.pick(variables)[0]], children: [] };
  }
  if (depth > 0 && given !== 'dyn' && given !== 'pattern' && random.chance(DYN_CHANCE)) {
    return { ...grow(random, 'dyn', depth, scope), type };
  }
  const all = PRODUCTIONS[given] ?? [];
  const leaves = all.filter((template) => !template.includes('$'));
  const template = random.pick(depth <= 0 && leaves.length > 0 ? leaves : all);
  return { ...fill(random, template, depth - 1, scope), type };
}

function fill(random: Random, template: string, depth: number, scope: Scope): Omit<Tree, 'type'> {
  const texts: string[] = [];
  const children: Tree[] = [];
  let from = 0;
  for (const hole of template.matchAll(HOLE)) {
    texts.push(template.slice(from, hole.index));
    from = hole.index + hole[0].length;
    const within = new Map(scope);
    for (const variable of hole[2]?.split(',') ?? []) {
      const [name = '', type = ''] = variable.split(':');
      within.set(name, type);
    }
    children.push(grow(random, hole[1] ?? '', depth, within));
  }
  texts.push(template.slice(from));
  return { texts, children };
}

/** Trees that are smaller than this one, the smallest first: parts of it, and itself with a part made simpler. */
export function* smaller(tree: Tree): Iterable<Tree> {
  const simplest = PRODUCTIONS[tree.type]?.[0];
  if (simplest !== undefined && !simplest.includes('$') && render(tree) !== simplest) {
    yield { type: tree.type, texts: [simplest], children: [] };
  }
  yield* tree.children;
  for (const [index, child] of tree.children.entries()) {
    for (const less of smaller(child)) yield { ...tree, children: tree.children.with(index, less) };
  }
}

const MISTAKES = Array.from('()[]{}.,?:!&|<>=+-*/%"\'u1e $@#`\\');

/** A source with a mistake in it: a few characters are gone, twice there, or from elsewhere. */
export function damage(random: Random, source: string): string {
  const characters = Array.from(source);
  const at = random.below(characters.length + 1);
  switch (random.below(3)) {
    case 0:
      characters.splice(at, 1 + random.below(3));
      break;
    case 1:
      characters.splice(at, 0, ...characters.slice(at, at + 1 + random.below(4)));
      break;
    default:
      characters.splice(at, 0, random.pick(MISTAKES));
  }
  return characters.join('');
}

/** Sources that lack a part of this one, larger parts first. */
export function* shorter(source: string): Iterable<string> {
  const characters = Array.from(source);
  for (let span = characters.length >> 1; span >= 1; span >>= 1) {
    for (let at = 0; at + span <= characters.length; at += span) {
      yield characters.toSpliced(at, span).join('');
    }
  }
}
