/** The cache of `npm run controlplane`: nothing half built is ever used, and one build works at a time. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  acquireLock,
  beginFolder,
  binariesDirectory,
  cacheDirectory,
  completeFolder,
  contentKey,
  isComplete,
} from '../../../scripts/controlplane/cache.ts';
import { KUBERNETES_VERSIONS, RECIPES, type Recipe } from '../../../scripts/controlplane/recipes.ts';

/** No process has this id: above the largest that Linux gives (PID_MAX_LIMIT, 2^22). */
const DEAD_PID = 5_000_000;

let root: string;
let recipe: Recipe;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pacto-gate-build-cache-'));
  const moduleDirectory = join(root, 'module');
  mkdirSync(moduleDirectory);
  writeFileSync(join(moduleDirectory, 'go.mod'), 'module example.invalid\n');
  writeFileSync(join(moduleDirectory, 'go.sum'), '');
  recipe = { ...RECIPES['1.29'], moduleDirectory };
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

/** Does what a successful build does. */
function buildInto(directory: string): void {
  const building = beginFolder(directory);
  for (const { name } of recipe.binaries) writeFileSync(join(building, name), 'binary');
  completeFolder(recipe, building, directory, { release: recipe.release });
}

describe('cache folder', () => {
  it.each([
    ['PACTO_GATE_CACHE first', { PACTO_GATE_CACHE: '/own', XDG_CACHE_HOME: '/xdg' }, '/own/controlplane'],
    ['XDG_CACHE_HOME next', { PACTO_GATE_CACHE: '', XDG_CACHE_HOME: '/xdg' }, '/xdg/pacto-gate/controlplane'],
  ])('is named by %s', (_case, env, want) => {
    expect(cacheDirectory(env)).toBe(want);
  });

  it('is below the home folder otherwise', () => {
    expect(cacheDirectory({ XDG_CACHE_HOME: '' })).toMatch(/\/\.cache\/pacto-gate\/controlplane$/);
  });

  it('has another key when a module file or a build flag changes', () => {
    const keys = new Set([contentKey(recipe), contentKey({ ...recipe, buildFlags: ['-race'] })]);
    writeFileSync(join(recipe.moduleDirectory, 'go.sum'), 'example.org/x v1.0.0 h1:x=\n');
    keys.add(contentKey(recipe));
    writeFileSync(join(recipe.moduleDirectory, 'go.mod'), 'module other.invalid\n');
    keys.add(contentKey(recipe));
    expect(keys.size).toBe(4);
  });

  it('is complete only after the last step of a build', () => {
    const directory = binariesDirectory(recipe, root);
    const building = beginFolder(directory);
    writeFileSync(join(building, 'kube-apiserver'), 'binary');
    expect(isComplete(recipe, directory)).toBe(false);
    completeFolder(recipe, building, directory, {});
    expect(isComplete(recipe, directory)).toBe(true);
  });

  it('is incomplete again when a binary was removed, and can be rebuilt', () => {
    const directory = binariesDirectory(recipe, root);
    buildInto(directory);
    rmSync(join(directory, 'kube-apiserver'));
    expect(isComplete(recipe, directory)).toBe(false);
    buildInto(directory);
    expect(isComplete(recipe, directory)).toBe(true);
  });

  it('loses what an interrupted build left when the next one begins', () => {
    const directory = binariesDirectory(recipe, root);
    mkdirSync(`${directory}.building-${DEAD_PID}`);
    buildInto(directory);
    expect(readdirSync(root).filter((name) => name.includes('building'))).toEqual([]);
  });

  it('keeps the folder of a build that still runs', () => {
    const directory = binariesDirectory(recipe, root);
    mkdirSync(`${directory}.building-${process.ppid}`);
    buildInto(directory);
    expect(existsSync(`${directory}.building-${process.ppid}`)).toBe(true);
  });

  it('stays as it is when a second build of the same ends later', () => {
    const directory = binariesDirectory(recipe, root);
    buildInto(directory);
    const first = statSync(join(directory, 'kube-apiserver')).ino;
    buildInto(directory);
    expect(statSync(join(directory, 'kube-apiserver')).ino).toBe(first);
    expect(readdirSync(root).filter((name) => name.includes('building'))).toEqual([]);
  });
});

describe('build lock', () => {
  it('lets a second build wait until the first is done', async () => {
    const directory = join(root, 'locked');
    const release = await acquireLock(directory, () => undefined);
    const order: string[] = [];
    const second = acquireLock(directory, (owner) => {
      order.push(`waits for ${owner.replace(/ on .*/, '')}`);
      release();
    });
    (await second)();
    expect(order).toEqual([`waits for process ${process.pid}`]);
    expect(existsSync(`${directory}.lock`)).toBe(false);
  });

  it('is taken over at once from a process of this machine that is gone', async () => {
    const directory = join(root, 'dead');
    const release = await acquireLock(directory, () => undefined);
    const mine = readFileSync(`${directory}.lock`, 'utf8');
    release();
    writeFileSync(`${directory}.lock`, mine.replace(String(process.pid), String(DEAD_PID)));
    const waited: string[] = [];
    (await acquireLock(directory, (owner) => waited.push(owner)))();
    expect(waited).toEqual([]);
  });

  it('is taken over from another machine that has not renewed it for a minute', async () => {
    const directory = join(root, 'elsewhere');
    writeFileSync(`${directory}.lock`, JSON.stringify({ host: 'elsewhere.invalid', pid: process.pid }));
    const old = new Date(Date.now() - 61_000);
    utimesSync(`${directory}.lock`, old, old);
    const waited: string[] = [];
    (await acquireLock(directory, (owner) => waited.push(owner)))();
    expect(waited).toEqual([]);
  });
});

describe('recipes', () => {
  it.each(KUBERNETES_VERSIONS)('build the release of %s that its go.mod requires', (version) => {
    const { release, moduleDirectory, buildFlags } = RECIPES[version];
    const goMod = readFileSync(join(moduleDirectory, 'go.mod'), 'utf8');
    expect(goMod).toMatch(new RegExp(`k8s\\.io/kubernetes v${release.replaceAll('.', '\\.')}\\n`));
    expect(release.startsWith(`${version}.`)).toBe(true);
    expect(buildFlags.join(' ')).toContain(`gitVersion=v${release} `);
    // Every staging module is replaced by the one released with it: 1.36.3 goes with 0.36.3.
    const replaced = [...goMod.matchAll(/^\tk8s\.io\/[a-z-]+ => k8s\.io\/[a-z-]+ (v\S+)$/gm)].map(
      ([, to]) => to,
    );
    expect(new Set(replaced)).toEqual(new Set([`v0${release.slice(1)}`]));
  });

  it.each(KUBERNETES_VERSIONS)('of %s build what tools.go keeps in the module', (version) => {
    const { moduleDirectory, binaries } = RECIPES[version];
    const tools = readFileSync(join(moduleDirectory, 'tools.go'), 'utf8');
    const imported = [...tools.matchAll(/_ "([^"]+)"/g)].map(([, path]) => path);
    expect(new Set(imported)).toEqual(new Set(binaries.map(({ goPackage }) => goPackage)));
  });
});
