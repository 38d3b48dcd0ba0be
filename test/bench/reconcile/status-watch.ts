/** What is written of Pactos, as anybody may watch it: the last status of each, and when it came. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import type { PactoStatus } from '../../../src/reconcile/api/pacto.ts';
import { credentialsOf } from '../../cluster/support/api-client.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import type { Place } from './fleet.ts';

export interface Written {
  readonly status: PactoStatus;
  /** performance.now() */
  readonly atMs: number;
}

interface Waiting {
  readonly isWanted: (status: PactoStatus) => boolean;
  readonly resolve: (written: Written) => void;
}

interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly namespace: string; readonly name: string };
    readonly status?: PactoStatus;
  };
}

export class StatusWatch {
  readonly #written = new Map<string, Written>();
  readonly #waiting = new Map<string, Waiting>();
  #answer: IncomingMessage | undefined;
  /** performance.now() of the last event of a status. */
  lastMs = 0;

  /** From now on; what there was before comes first. */
  static async open(plane: Pick<ControlPlane, 'url' | 'adminKubeconfigPath'>): Promise<StatusWatch> {
    const watch = new StatusWatch();
    const { admin, ca } = credentialsOf(plane.adminKubeconfigPath);
    const asking = request(`${plane.url}/apis/pacto.trianalab.io/v1alpha1/pactos?watch=1`, {
      ...admin,
      ca,
      agent: false,
    });
    asking.end();
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    if (answer.statusCode !== 200) throw new Error(`Pactos are not watched: ${answer.statusCode}`);
    watch.#answer = answer;
    answer.on('error', () => undefined);
    createInterface({ input: answer }).on('line', (line) => watch.#take(JSON.parse(line) as WatchEvent));
    return watch;
  }

  /** How many Pactos there are. */
  get size(): number {
    return this.#written.size;
  }

  /** Of how many the status is as wanted. */
  count(isWanted: (status: PactoStatus) => boolean): number {
    return this.#written
      .values()
      .filter(({ status }) => isWanted(status))
      .toArray().length;
  }

  /** How often each verdict is given. */
  verdicts(): Readonly<Record<string, number>> {
    const all = Map.groupBy(this.#written.values(), ({ status }) => status.contractStatus ?? 'none');
    return Object.fromEntries([...all].map(([verdict, { length }]) => [verdict, length]));
  }

  of({ namespace, name }: Place): Written | undefined {
    return this.#written.get(`${namespace}/${name}`);
  }

  /** The next status that is as wanted. @throws where none comes in time. */
  next(
    { namespace, name }: Place,
    isWanted: (status: PactoStatus) => boolean,
    timeoutMs = 20_000,
  ): Promise<Written> {
    const key = `${namespace}/${name}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(key);
        reject(
          new Error(`the status of ${key} did not come: ${JSON.stringify(this.#written.get(key)?.status)}`),
        );
      }, timeoutMs);
      this.#waiting.set(key, {
        isWanted,
        resolve(written) {
          clearTimeout(timer);
          resolve(written);
        },
      });
    });
  }

  close(): void {
    this.#answer?.destroy();
  }

  #take({ type, object: { metadata, status = {} } }: WatchEvent): void {
    if (type !== 'ADDED' && type !== 'MODIFIED') return;
    const key = `${metadata.namespace}/${metadata.name}`;
    const written = { status, atMs: performance.now() };
    if (status.contractStatus !== undefined) this.lastMs = written.atMs;
    this.#written.set(key, written);
    const waiting = this.#waiting.get(key);
    if (waiting?.isWanted(status) !== true) return;
    this.#waiting.delete(key);
    waiting.resolve(written);
  }
}
