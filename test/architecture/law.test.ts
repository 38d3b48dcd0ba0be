import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { violations } from './law.ts';

function sources(): ReadonlyMap<string, string> {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name}`);
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

describe('import law', () => {
  it('holds for every file of src', () => {
    const files = sources();
    expect(files.has('src/clock.ts')).toBe(true);
    expect(violations(files)).toEqual([]);
  });

  it.each([
    [
      'a pure room that reaches for the cluster',
      'src/policies/a.ts',
      `import { x } from '../cluster/cluster.ts';`,
    ],
    [
      'values of cluster/objects in a pure room',
      'src/policies/a.ts',
      `import { x } from '../cluster/objects.ts';`,
    ],
    ['a node module in a pure room', 'src/policies/a.ts', `import { readFileSync } from 'node:fs';`],
    ['a foreign package in a pure room', 'src/policies/a.ts', `import { request } from 'undici';`],
    ['an error of ours in a pure room', 'src/policies/a.ts', `import { GateError } from '../errors.ts';`],
    ['randomness in a pure room', 'src/policies/a.ts', `export const f = () => Math.random();`],
    [
      'a webhook that calls the reconciler',
      'src/webhooks/a.ts',
      `import { x } from '../reconcile/queue.ts';`,
    ],
    ['the reconciler calling a webhook', 'src/reconcile/a.ts', `import { x } from '../webhooks/edge.ts';`],
    [
      'the cluster door knowing a policy',
      'src/cluster/a.ts',
      `import type { V } from '../policies/verdict.ts';`,
    ],
    ['a leaf file importing a room', 'src/log.ts', `import { x } from './cluster/cluster.ts';`],
    ['a leaf file importing a leaf file', 'src/log.ts', `import { x } from './errors.ts';`],
    ['a room importing the composition root', 'src/http/a.ts', `import { startApp } from '../app.ts';`],
    ['a room importing a part of it', 'src/http/a.ts', `import { openState } from '../app/state.ts';`],
    [
      'a dynamic import across rooms',
      'src/cluster/a.ts',
      `export const f = () => import('../webhooks/edge.ts');`,
    ],
    ['a type import across rooms', 'src/cluster/a.ts', `export type T = import('../webhooks/edge.ts').T;`],
    ['a re-export across rooms', 'src/cluster/a.ts', `export { x } from '../webhooks/edge.ts';`],
    ['an import from the tests', 'src/cluster/a.ts', `import { x } from '../../test/support/fake-clock.ts';`],
    ['a room nobody knows', 'src/misc/a.ts', `import { x } from '../errors.ts';`],
    ['a barrel', 'src/cluster/a.ts', `export * from './b.ts';`],
    ['a grab-bag', 'src/cluster/utils.ts', `export const x = 1;`],
    ['process.env outside config.ts', 'src/http/a.ts', `export const f = () => process.env['X'];`],
    ['process.env by a computed name', 'src/http/a.ts', `export const f = () => process['env'];`],
    ['Date.now outside clock.ts', 'src/http/a.ts', `export const f = () => Date.now();`],
    ['new Date() outside clock.ts', 'src/http/a.ts', `export const f = () => new Date();`],
    ['process.exit outside main.ts', 'src/cli/a.ts', `export const f = () => process.exit(1);`],
    ['module-level state', 'src/http/a.ts', `let calls = 0; export const f = () => calls++;`],
    ['work at import', 'src/http/a.ts', `setTimeout(() => undefined, 1);`],
  ])('is broken by %s', (_what, path, source) => {
    expect(violations(new Map([[path, source]]))).toHaveLength(1);
  });

  it.each([
    [
      'types of cluster/objects in a pure room',
      'src/policies/a.ts',
      `import type { X } from '../cluster/objects.ts';`,
    ],
    [
      'a webhook reading a policy and the cluster',
      'src/webhooks/a.ts',
      `import { x } from '../policies/p.ts'; import { y } from '../cluster/c.ts';`,
    ],
    ['a date made from a value', 'src/http/a.ts', `export const f = (ms: number) => new Date(ms);`],
    [
      'the words in a comment',
      'src/http/a.ts',
      `// process.env and Date.now() are not for here\nexport const x = 'Date.now()';`,
    ],
    ['a leaf file in two parts', 'src/config.ts', `import { KEYS } from './config-keys.ts';`],
    ['time in clock.ts', 'src/clock.ts', `export const f = () => Date.now();`],
    [
      'the command line importing all',
      'src/cli/a.ts',
      `import { x } from '../webhooks/edge.ts'; import { y } from '../app.ts';`,
    ],
  ])('allows %s', (_what, path, source) => {
    expect(violations(new Map([[path, source]]))).toEqual([]);
  });
});
