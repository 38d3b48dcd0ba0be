/** What the rounds of the installer came to, in the log (each problem once, while it lasts) and in the metrics. */
import { GateError } from '../errors.ts';
import type { RoundOutcome } from '../install/installer.ts';
import type { RoundResult } from '../install/round.ts';
import type { Log } from '../log.ts';
import type { InstallerFacts } from '../metrics.ts';

export class RoundLog {
  readonly #log: Log;
  readonly #leads: () => boolean;
  readonly #rounds = { done: 0, contested: 0, failed: 0 };
  #enforced: InstallerFacts['enforced'] = { Native: 0, Webhook: 0, None: 0 };
  #problems: ReadonlySet<string> = new Set();

  constructor(log: Log, leads: () => boolean) {
    this.#log = log;
    this.#leads = leads;
  }

  facts(): InstallerFacts {
    return {
      leads: this.#leads(),
      enforced: this.#enforced,
      problems: this.#problems.size,
      rounds: this.#rounds,
    };
  }

  note(outcome: RoundOutcome): void {
    if (!outcome.ok) {
      this.#rounds.failed += 1;
      this.#log.warn('installer failed, and tries again', { requeueMs: outcome.retryMs, err: outcome.error });
      return;
    }
    const { result, contested } = outcome;
    this.#rounds[contested ? 'contested' : 'done'] += 1;
    if (contested)
      this.#log.warn('somebody else changes what the installer writes', {
        name: result.written.map(({ what }) => what).join(', '),
      });
    else for (const { what } of result.written) this.#log.info('installer wrote', { name: what });
    this.#noteProblems(result);
    const before = this.#enforced;
    const enforced = { Native: 0, Webhook: 0, None: 0 };
    for (const { by } of result.enforced.values()) enforced[by] += 1;
    this.#enforced = enforced;
    for (const by of ['Native', 'Webhook', 'None'] as const)
      if (enforced[by] !== before[by])
        this.#log.info('policies enforced', { dimension: by, count: enforced[by] });
  }

  #noteProblems({ problems }: RoundResult): void {
    const now = new Set(problems);
    for (const problem of now)
      if (!this.#problems.has(problem))
        this.#log.warn('installer', { err: new GateError('GATE_INSTALL_INCOMPLETE', problem) });
    if (now.size === 0 && this.#problems.size > 0) this.#log.info('installer has no problem any more', {});
    this.#problems = now;
  }
}
