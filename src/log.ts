/** The log: one line of JSON for each event, to stdout. The message is constant, what varies is a field. */
import { destination, pino, stdTimeFunctions, type Logger } from 'pino';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/**
 * Every field there is. Identities only: never an object, a body, a header, a value of `userInfo.extra`, a token or
 * Secret data. What is not in `FIELDS` below is left out of the line, whatever a caller managed to pass.
 */
export interface LogFields {
  /** Constant name of the webhook, and the name of its entry in the webhook configuration. */
  readonly webhook?: string | undefined;
  readonly entry?: string | undefined;
  /** Of the review: the id of the request. */
  readonly uid?: string | undefined;
  readonly operation?: string | undefined;
  readonly kind?: string | undefined;
  readonly subResource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly user?: string | undefined;
  readonly dryRun?: boolean | undefined;
  /** `allowed`, `denied`, `failed-open`, `failed-closed`. */
  readonly verdict?: string | undefined;
  readonly codes?: readonly string[] | undefined;
  /** Name of a ValidatingAdmissionPolicy, and where in it, by which binding, something was found wrong. */
  readonly policy?: string | undefined;
  readonly violations?: readonly string[] | undefined;
  readonly durationMs?: number | undefined;
  /** HTTP status of an answer that is no review. */
  readonly status?: number | undefined;
  /** Of a reconciler: what is reconciled, how often it was tried, when it is tried again. */
  readonly key?: string | undefined;
  readonly attempt?: number | undefined;
  readonly requeueMs?: number | undefined;
  readonly dimension?: string | undefined;
  /** Of the process: which listener, where it listens, which file, which version. */
  readonly listener?: string | undefined;
  readonly url?: string | undefined;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly count?: number | undefined;
  readonly version?: string | undefined;
  readonly signal?: string | undefined;
  /** Code of an error or finding (src/errors.ts, src/policies/finding.ts). */
  readonly code?: string | undefined;
  /** Written as type, code, message, and its causes. */
  readonly err?: unknown;
}

const FIELDS = {
  webhook: true,
  entry: true,
  uid: true,
  operation: true,
  kind: true,
  subResource: true,
  namespace: true,
  name: true,
  user: true,
  dryRun: true,
  verdict: true,
  codes: true,
  policy: true,
  violations: true,
  durationMs: true,
  status: true,
  key: true,
  attempt: true,
  requeueMs: true,
  dimension: true,
  listener: true,
  url: true,
  file: true,
  line: true,
  column: true,
  count: true,
  version: true,
  signal: true,
  code: true,
  err: true,
} as const satisfies Record<keyof LogFields, true>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose every line has these fields too. */
  child(fields: LogFields): Log;
}

export interface RootLog extends Log {
  /** Writes out what is buffered, before the process ends; gives up after half a second on a reader that stopped. */
  flush(): Promise<void>;
  /** Lines lost because nobody read stdout fast enough. */
  lost(): number;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** `auto`: pretty where stdout is a terminal. */
  readonly format: 'json' | 'pretty' | 'auto';
  /** Where lines go, each with its line feed; left out: stdout, buffered. */
  readonly destination?: { write(line: string): void };
}

/** Lines are written in blocks of this size, the usual page, … */
const BLOCK_BYTES = 4_096;
/** … or after this time, so that a quiet log is not late. */
const FLUSH_MS = 250;
/** What the end of a process waits for its last lines. */
const LAST_FLUSH_MS = 500;
/** Held at most while stdout does not take them: some thousand lines. Beyond it lines are lost, never the process. */
const MAX_BUFFER_BYTES = 1024 * 1024;

/**
 * Makes the log of a process. Writing is buffered: lines of the last quarter of a second are lost when the process
 * crashes hard (SIGKILL, out of memory), and written when it ends by itself.
 */
export function createLog(options: LogOptions): RootLog {
  const sink = options.destination === undefined ? toStdout() : { ...noBuffer, to: options.destination };
  const pretty = options.format === 'pretty' || (options.format === 'auto' && process.stdout.isTTY);
  const root = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: writeError },
    },
    { write: (line: string) => sink.to.write(pretty ? prettyLine(line) : safeLine(line)) },
  );
  return Object.assign(wrap(root), { flush: sink.flush, lost: sink.lost });
}

const noBuffer = { flush: (): Promise<void> => Promise.resolve(), lost: (): number => 0 } as const;

function toStdout(): { to: { write(line: string): void }; flush: () => Promise<void>; lost: () => number } {
  let lost = 0;
  let ended = false;
  const stdout = destination({
    dest: 1,
    // Else a write that a full pipe put off is tried again for ever, and keeps the process alive.
    retryEAGAIN: () => !ended,
    sync: false,
    minLength: BLOCK_BYTES,
    maxLength: MAX_BUFFER_BYTES,
    periodicFlush: FLUSH_MS,
  });
  stdout.on('drop', () => lost++);
  // A reader that went away (`pacto-gate serve | head`) or a full disk must not end the process; at least one line is lost.
  stdout.on('error', () => lost++);
  return {
    to: {
      write(line) {
        if (ended) lost++;
        else stdout.write(line);
      },
    },
    flush() {
      // Never synchronously: a full pipe that nobody reads would hold up the end of the process for good.
      return new Promise((resolve) => {
        const giveUp = setTimeout(() => {
          // The library would try again at the exit, synchronously and for ever.
          ended = true;
          // It forgets what is buffered and not how much: a write under way would be followed by empty ones without end.
          Object.assign(stdout, { minLength: Number.MAX_SAFE_INTEGER });
          stdout.destroy();
          resolve();
        }, LAST_FLUSH_MS);
        stdout.flush((error) => {
          // A pipe has nothing to synchronise: what was to be written is written all the same.
          if (error && (error as NodeJS.ErrnoException).syscall !== 'fsync') return;
          clearTimeout(giveUp);
          resolve();
        });
      });
    },
    lost: () => lost,
  };
}

/** A log that writes nothing. */
export function silentLog(): RootLog {
  const nothing = (): void => undefined;
  const log: RootLog = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: nothing,
    child: () => log,
    flush: () => Promise.resolve(),
    lost: () => 0,
  };
  return log;
}

function wrap(logger: Logger): Log {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void => {
      if (logger.isLevelEnabled(level)) logger[level](known(fields), message);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => wrap(logger.child(known(fields))),
  };
}

/** Characters kept of one field: the longest Kubernetes name has 253. */
const FIELD_LENGTH = 512;
/** Entries kept of a list. */
const LIST_LENGTH = 20;

/** The second net: what may be in a line is listed, so that nothing else can be, under whatever name it comes. */
function known(fields: LogFields): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (!Object.hasOwn(FIELDS, name)) continue;
    if (name === 'err') kept[name] = value;
    else if (typeof value === 'string') kept[name] = cut(value);
    else if (typeof value === 'number' || typeof value === 'boolean') kept[name] = value;
    else if (Array.isArray(value)) kept[name] = value.slice(0, LIST_LENGTH).map((item) => cut(String(item)));
  }
  return kept;
}

function cut(value: string, length = FIELD_LENGTH): string {
  return value.length > length ? `${value.slice(0, length)}…` : value;
}

const MESSAGE_LENGTH = 1_024;
const CAUSES = 5;
const FRAMES = 8;

/** Type, code, message, facts and causes; where it came from only for an error without a code, which is a defect. */
function writeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: cut(String(error), MESSAGE_LENGTH) };
  const { code, fields, cause } = error as { code?: unknown; fields?: unknown; cause?: unknown };
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at '));
  return {
    type: error.name,
    ...(typeof code === 'string' && { code }),
    message: cut(error.message, MESSAGE_LENGTH),
    ...(isFacts(fields) && { fields }),
    ...(typeof code !== 'string' && frames !== undefined && { stack: frames.slice(0, FRAMES).join('\n') }),
    ...(cause !== undefined && depth < CAUSES && { cause: writeError(cause, depth + 1) }),
  };
}

function isFacts(fields: unknown): fields is Readonly<Record<string, string | number | boolean>> {
  if (typeof fields !== 'object' || fields === null) return false;
  const values = Object.values(fields);
  return values.length > 0 && values.every((value) => ['string', 'number', 'boolean'].includes(typeof value));
}

/**
 * What JSON leaves as it is and a terminal does not: delete, C1 controls, Unicode's marks of direction (UAX #9),
 * separators, annotations, and what is never drawn (Default_Ignorable_Code_Point of UAX #44), among it tags.
 */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\ufff9-\ufffb\p{DI}]/u;

/** In a line of JSON such characters stand in strings only, so that they can be written as escapes without a loss. */
function safeLine(line: string): string {
  if (!UNSAFE.test(line)) return line;
  return line.replace(new RegExp(UNSAFE, 'gu'), inEscapes);
}

/** `12:00:00.000 info  admission decision webhook="node-identity" …` */
function prettyLine(line: string): string {
  const { level, time, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const parts = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const head = `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${String(message)}`;
  return safeLine(`${[head, ...parts].join(' ')}\n`);
}

/** Beyond 16 bits, in two halves as JSON writes them. */
function inEscapes(mark: string): string {
  return mark
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
