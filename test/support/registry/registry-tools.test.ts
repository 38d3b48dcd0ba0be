/** The recipe of `npm run registrytools` says one thing in all the places where it is written. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  ORAS_PACKAGE,
  ORAS_VERSION,
  RECIPE,
  findRegistryTools,
} from '../../../scripts/registrytools/tools.ts';

const module = (name: string): string => readFileSync(join(RECIPE.moduleDirectory, name), 'utf8');

describe('registry tools', () => {
  it('build the release of oras that go.mod requires', () => {
    expect(module('go.mod')).toContain(`\nrequire oras.land/oras v${ORAS_VERSION}\n`);
  });

  it('build the command that tools.go keeps in the module', () => {
    expect([...module('tools.go').matchAll(/_ "([^"]+)"/g)].map(([, path]) => path)).toEqual([ORAS_PACKAGE]);
  });

  it('say where they were looked for, and what to run, when they are not there', () => {
    const { directory, skopeo, problem } = findRegistryTools({ PACTO_GATE_CACHE: '/nowhere' });
    expect(directory).toMatch(/^\/nowhere\/registrytools\/[\w.]+-[0-9a-f]{16}$/);
    expect(skopeo).toBe(join(directory, 'skopeo'));
    expect(problem).toContain(directory);
    expect(problem).toContain('npm run registrytools');
  });
});
