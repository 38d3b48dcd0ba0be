/** A cluster whose lists and watches a test scripts, for the reflector. */
import { onTestFinished } from 'vitest';
import type { Cluster, ListOptions, Page, WatchEvent, WatchOptions } from '../../../src/cluster/cluster.ts';
import type { KubeObject } from '../../../src/cluster/objects.ts';
import { POD } from '../../../src/cluster/kinds.ts';
import {
  createReflector,
  type Change,
  type Reflector,
  type ReflectorOptions,
  type ReflectorReport,
} from '../../../src/cluster/watch.ts';
import { GateError } from '../../../src/errors.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { aPod } from '../../support/rest-cluster.ts';
import { until } from '../../support/until.ts';

export function pod(name: string, version: string, rest: Partial<KubeObject> = {}): KubeObject {
  const made = aPod(name, 'web', rest);
  return { ...made, metadata: { ...made.metadata, resourceVersion: version } };
}

export function page(version: string, items: KubeObject[], continueToken?: string): Page {
  return { items, resourceVersion: version, ...(continueToken !== undefined && { continueToken }) };
}

export function refused(
  code: 'GATE_CLUSTER_GONE' | 'GATE_CLUSTER_UNREACHABLE' | 'GATE_CLUSTER_ANSWER',
  fields = {},
): GateError {
  return new GateError(code, 'scripted', { fields });
}

type WatchStep = WatchEvent | Error | 'end';

/** A watch that the test feeds. */
class ScriptedWatch {
  readonly options: WatchOptions;
  readonly #steps: WatchStep[] = [];
  #wake: () => void = () => undefined;

  constructor(options: WatchOptions) {
    this.options = options;
    options.signal?.addEventListener('abort', () => this.send(options.signal?.reason as Error));
  }

  send(...steps: WatchStep[]): void {
    this.#steps.push(...steps);
    this.#wake();
  }

  async *events(): AsyncGenerator<WatchEvent, void> {
    for (;;) {
      const step = this.#steps.shift();
      if (step === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else if (step === 'end') return;
      else if (step instanceof Error) throw step;
      else yield step;
    }
  }
}

/** Answers lists one after the other (the last again and again), and hands watches to the test. */
export class ScriptedCluster implements Pick<Cluster, 'list' | 'watch'> {
  readonly lists: ListOptions[] = [];
  readonly watches: ScriptedWatch[] = [];
  readonly #answers: (Page | Error)[];

  constructor(...answers: (Page | Error)[]) {
    this.#answers = answers;
  }

  list(_kind: unknown, options: ListOptions = {}): Promise<Page> {
    this.lists.push(options);
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    return answer instanceof Error || answer === undefined
      ? Promise.reject(answer ?? new Error('no list is scripted'))
      : Promise.resolve(answer);
  }

  watch(_kind: unknown, options: WatchOptions): AsyncIterable<WatchEvent> {
    const watch = new ScriptedWatch(options);
    this.watches.push(watch);
    return watch.events();
  }

  /** The n-th watch, as soon as it is open. */
  async nextWatch(n: number): Promise<ScriptedWatch> {
    await until(`watch ${n} is open`, () => this.watches.length >= n);
    return this.watches[n - 1]!;
  }
}

/** A running reflector of Pods, until the test ends. */
export function reflect(
  cluster: ScriptedCluster,
  options: Partial<ReflectorOptions> = {},
): { reflector: Reflector; clock: FakeClock; changes: Change[]; reports: ReflectorReport[] } {
  const clock = new FakeClock();
  const changes: Change[] = [];
  const reports: ReflectorReport[] = [];
  const reflector = createReflector({
    cluster,
    kind: POD,
    clock,
    random: () => 0,
    onChange: (change) => changes.push(change),
    report: (report) => reports.push(report),
    ...options,
  });
  onTestFinished(() => reflector.stop());
  reflector.start();
  return { reflector, clock, changes, reports };
}
