/** A temporary directory of manifests and the clusters opened on it, both gone after each test. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

import type {
  Consequence,
  DirectoryCluster,
  DirectoryClusterOptions,
  Problem,
} from '../../src/cluster/directory.ts';
import { createDirectoryCluster } from '../../src/cluster/directory.ts';
import type { Kind } from '../../src/cluster/kinds.ts';
import { CONFIG_MAP } from '../../src/cluster/kinds.ts';
import type { KubeObject } from '../../src/cluster/objects.ts';
import { FakeClock } from './fake-clock.ts';
import { until } from './until.ts';

export class DirectoryFixture {
  root = '';
  clock = new FakeClock();
  /** What onMended was called with. */
  mended: string[] = [];
  /** What onProblem was called with second. */
  consequences: Consequence[] = [];
  /** What onProblem was called with. */
  seen: Problem[] = [];
  readonly #opened: DirectoryCluster[] = [];

  async start(): Promise<void> {
    this.root = await mkdtemp(join(tmpdir(), 'gate-directory-'));
    this.clock = new FakeClock();
    this.seen = [];
    this.mended = [];
    this.consequences = [];
  }

  async stop(): Promise<void> {
    for (const directory of this.#opened.splice(0)) await directory.close();
    await rm(this.root, { recursive: true, force: true });
  }

  path(file: string): string {
    return join(this.root, file);
  }

  async put(file: string, contents: string | Buffer): Promise<void> {
    await mkdir(dirname(this.path(file)), { recursive: true });
    await writeFile(this.path(file), contents);
  }

  /** Replaces a file at once, as editors do: a reader never sees half of it. */
  async swap(file: string, contents: string): Promise<void> {
    await writeFile(this.path('.new'), contents);
    await rename(this.path('.new'), this.path(file));
  }

  async open(options: Partial<DirectoryClusterOptions> = {}): Promise<DirectoryCluster> {
    const onProblem = (problem: Problem, consequence: Consequence): void => {
      this.seen.push(problem);
      this.consequences.push(consequence);
    };
    const onMended = (file: string): void => void this.mended.push(file);
    const directory = await createDirectoryCluster(this.root, {
      clock: this.clock,
      onProblem,
      onMended,
      ...options,
    });
    this.#opened.push(directory);
    return directory;
  }

  /** Turns the clock until what the files say has come through. */
  async turnUntil(what: string, condition: () => Promise<boolean>): Promise<void> {
    let holds = false;
    let isTurning = false;
    const turn = async (): Promise<void> => {
      await this.clock.advance(100);
      holds = await condition();
      isTurning = false;
    };
    await until(what, () => {
      if (!isTurning && !holds) {
        isTurning = true;
        void turn();
      }
      return holds;
    });
  }
}

export function useDirectory(): DirectoryFixture {
  const fixture = new DirectoryFixture();
  beforeEach(() => fixture.start());
  afterEach(() => fixture.stop());
  return fixture;
}

/** YAML of a ConfigMap. */
export function map(name: string, value = '1', namespace = 'web'): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {value: "${value}"}\n`;
}

export async function namesIn({ cluster }: DirectoryCluster, kind: Kind = CONFIG_MAP): Promise<string> {
  const { items } = await cluster.list(kind);
  return items.map(({ metadata }) => metadata.name).join(' ');
}

export function getMap({ cluster }: DirectoryCluster, name: string): Promise<KubeObject | undefined> {
  return cluster.get(CONFIG_MAP, { namespace: 'web', name });
}

export async function valueOf(directory: DirectoryCluster, name: string): Promise<unknown> {
  const data = (await getMap(directory, name))?.['data'] as { value?: string } | undefined;
  return data?.value;
}
