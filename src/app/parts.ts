import type { Clock } from '../clock.ts';
import type { RootLog } from '../log.ts';

/** What the composition root is given from outside: a test gives others. */
export interface AppParts {
  readonly clock: Clock;
  readonly log: RootLog;
}
