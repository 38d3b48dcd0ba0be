/** A log for commands: what the server would warn about is said on standard error. */
import { GateError, messageOf } from '../errors.ts';
import type { Log, LogFields } from '../log.ts';
import { plain, say } from './output.ts';
import type { Surroundings } from './surroundings.ts';

export function sayingLog(around: Pick<Surroundings, 'stderr'>): Log {
  const nothing = (): void => undefined;
  const tell = (message: string, { kind, name, err }: LogFields = {}): void => {
    const what = [kind, name].filter((part) => part !== undefined).join(' ');
    const why = err === undefined ? '' : `: ${messageOf(err)}`;
    say(
      around,
      plain(`${what}${what === '' ? '' : ': '}${message}${why}`),
      err instanceof GateError ? err.code : undefined,
    );
  };
  const log: Log = { debug: nothing, info: nothing, warn: tell, error: tell, child: () => log };
  return log;
}
