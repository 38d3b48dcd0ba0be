/**
 * A cluster that is a directory of YAML and JSON files: a memory cluster that follows what the files say. Writes to it
 * stay in memory and are never written to anybody's files; a file that changes later wins over them.
 *
 * What cannot be read is a Problem and never stops the rest. A file (or directory) that was good before and is not now
 * keeps its last good objects until it is mended or removed: half-written is not deleted. Of one that was never good
 * nobody knows what it holds: until it is mended or removed, an object that is nowhere else is not absent but unknown,
 * and `get` throws GATE_UNSYNCED.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import { GateError, messageOf, quote } from '../errors.ts';
import { readObjects } from './directory-file.ts';
import type { FileReading, FoundObject } from './directory-file.ts';
import { KindIndex, groupVersionOf } from './directory-kinds.ts';
import type { DirectoryLimits, FoundFile, Problem, Scan } from './directory-scan.ts';
import { DIRECTORY_LIMITS, codeOf, problemOf, scanDirectory } from './directory-scan.ts';
import { DirectoryWatch } from './directory-watch.ts';
import type { ObjectName } from './cluster.ts';
import type { Kind } from './kinds.ts';
import type { MemoryCluster, MemoryClusterOptions } from './memory.ts';
import { createMemoryCluster } from './memory.ts';
import type { KubeObject } from './objects.ts';

export type { Problem } from './directory-scan.ts';

/**
 * What a problem does to what is served: nothing is known of what cannot be read; its last good state is; or the rest
 * of the directory is whole without it.
 */
export type Consequence = 'unknown' | 'last-good' | 'ignored';

export interface DirectoryClusterOptions extends Omit<MemoryClusterOptions, 'onClose' | 'doubtAbsence'> {
  /** Follow changes of the files; left out or false: read once, and again by refresh(). */
  readonly watch?: boolean;
  /** Called for each problem when it appears, not again while it stays. */
  readonly onProblem?: (problem: Problem, consequence: Consequence) => void;
  /** Called for each file, named as in problems, when its last problem has gone. */
  readonly onMended?: (file: string) => void;
  readonly limits?: Partial<DirectoryLimits>;
}

export interface DirectoryCluster {
  /** Its close() closes this too. */
  readonly cluster: MemoryCluster;
  /** What cannot be read at this moment, by file. */
  problems(): readonly Problem[];
  /** Reads what changed, now. Resolves when the cluster shows it. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads files `*.yaml`, `*.yml` and `*.json` below a directory, in the order of their names; hidden ones are left out.
 * Of several objects of one kind, namespace and name the first is taken. A kind that is not known is taken from the
 * CustomResourceDefinitions in the directory, or guessed; a namespaced object without a namespace is in `default`.
 * @throws GateError GATE_DIRECTORY where there is no such directory.
 */
export async function createDirectoryCluster(
  path: string,
  options: DirectoryClusterOptions,
): Promise<DirectoryCluster> {
  await checkDirectory(path);
  const source = new DirectorySource(path, options);
  await source.refresh();
  return source;
}

async function checkDirectory(path: string): Promise<void> {
  let found: string;
  try {
    if ((await stat(path)).isDirectory()) return;
    found = 'a file';
  } catch (error) {
    found = codeOf(error);
  }
  throw new GateError(
    'GATE_DIRECTORY',
    `cluster directory ${quote(path)}: cannot be read (found ${found}, need a directory); check the path`,
  );
}

/** Of a file that is broken all over. */
const MAX_PROBLEMS_OF_FILE = 25;
/** Objects looked at between two turns of the event loop: some milliseconds. */
const OBJECTS_PER_TURN = 500;

/** What is known of one file. */
interface KnownFile {
  readonly stamp: string;
  /** The objects of its last reading, and with a problem those of the one before that are missing now. */
  readonly objects: readonly FoundObject[];
  readonly problems: readonly Problem[];
  /** Whether it was read without a problem at any time: then nothing of it is unknown. */
  readonly wasWhole: boolean;
}

/** What is wrong with objects that are whole by themselves. */
interface Loading {
  /** Of one object several; the first counts. */
  readonly duplicates: readonly Problem[];
  readonly refused: readonly Problem[];
  /** Files with an object that was refused and never taken. */
  readonly unknown: ReadonlySet<string>;
}

/** What the cluster was last told about one object. */
interface Loaded {
  readonly kind: Kind;
  readonly object: KubeObject;
}

class DirectorySource implements DirectoryCluster {
  readonly cluster: MemoryCluster;
  readonly #path: string;
  readonly #limits: DirectoryLimits;
  readonly #onProblem: DirectoryClusterOptions['onProblem'];
  readonly #onMended: DirectoryClusterOptions['onMended'];
  readonly #watch: DirectoryWatch | undefined;
  #files = new Map<string, KnownFile>();
  readonly #loaded = new Map<string, Loaded>();
  #problems: readonly Problem[] = [];
  /** Directories that were looked at whole at any time. */
  #wholeDirectories = new Set<string>();
  /** Files and directories of which nobody knows what they hold. */
  #unknown: ReadonlySet<string> = new Set();
  #reading: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;
  #isClosed = false;

  constructor(path: string, { watch, onProblem, onMended, limits, ...options }: DirectoryClusterOptions) {
    this.#path = path;
    this.#limits = { ...DIRECTORY_LIMITS, ...limits };
    this.#onProblem = onProblem;
    this.#onMended = onMended;
    this.cluster = createMemoryCluster({
      ...options,
      onClose: () => this.#stop(),
      doubtAbsence: (kind, name) => this.#doubt(kind, name),
    });
    this.#watch = watch === true ? new DirectoryWatch(options.clock, () => void this.refresh()) : undefined;
  }

  problems(): readonly Problem[] {
    return this.#problems;
  }

  refresh(): Promise<void> {
    // One reading at a time; whoever asks while it runs shares the next one, which sees what they know of.
    this.#waiting ??= this.#reading.then(() => {
      this.#waiting = undefined;
      this.#reading = this.#read();
      return this.#reading;
    });
    return this.#waiting;
  }

  async close(): Promise<void> {
    await this.cluster.close();
  }

  async #stop(): Promise<void> {
    this.#isClosed = true;
    this.#watch?.close();
    await this.#reading;
  }

  /** Never rejects: what goes wrong is a problem. */
  async #read(): Promise<void> {
    if (this.#isClosed) return;
    try {
      const scan = await scanDirectory(this.#path, this.#limits);
      // Before the files are read: a change while they are is told and read again.
      this.#watch?.follow(scan.directories);
      const files = await this.#readFiles(scan);
      if (this.#isClosed) return;
      this.#files = files;
      const { duplicates, refused, unknown } = await this.#load(files);
      if (this.#isClosed) return;
      this.#unknown = new Set([...this.#unknownBy(scan), ...unknown]);
      this.#setProblems([...scan.problems, ...problemsOf(files), ...refused], duplicates);
    } catch (error) {
      this.#setProblems([problemOf('.', `cannot be read: ${messageOf(error)}`)], []);
    }
  }

  /** What cannot be read now and never could. */
  #unknownBy(scan: Scan): string[] {
    const before = [...this.#wholeDirectories].filter((directory) => scan.mayHold(directory));
    this.#wholeDirectories = new Set([...scan.whole, ...before]);
    const unread = scan.unread.filter((path) => !this.#wholeDirectories.has(path) && !this.#files.has(path));
    return [...unread, ...[...this.#files].flatMap(([file, { wasWhole }]) => (wasWhole ? [] : [file]))];
  }

  #doubt(kind: Kind, name: ObjectName | undefined): GateError | undefined {
    const [first, ...more] = this.#unknown;
    if (first === undefined) return undefined;
    const others = more.length === 0 ? '' : ` (and ${String(more.length)} more)`;
    return new GateError(
      'GATE_UNSYNCED',
      `cannot ${objectOf(kind, name)}: ${quote(join(this.#path, first))}${others} may hold ${name === undefined ? 'some' : 'it'} and cannot be read; mend or remove it`,
    );
  }

  async #readFiles(scan: Scan): Promise<Map<string, KnownFile>> {
    const files = new Map<string, KnownFile>();
    for (const found of scan.files) {
      const before = this.#files.get(found.file);
      const isSame = before?.stamp === found.stamp;
      files.set(found.file, isSame ? before : knownFile(found, await this.#readFile(found), before));
    }
    for (const [file, { objects, wasWhole }] of this.#files) {
      // Its stamp is forgotten, so that it is read when it can be.
      if (!files.has(file) && scan.mayHold(file))
        files.set(file, { stamp: '', objects, problems: [], wasWhole });
    }
    return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #readFile(found: FoundFile): Promise<FileReading> {
    return readObjects(found, this.#limits.fileBytes);
  }

  /** Makes the cluster show what the files say. */
  async #load(files: ReadonlyMap<string, KnownFile>): Promise<Loading> {
    const turns = new Turns();
    const kinds = new KindIndex(files.values().flatMap(({ objects }) => objects.map(({ object }) => object)));
    const duplicates: Problem[] = [];
    const wanted = new Map<string, { file: string; found: FoundObject; loaded: Loaded }>();
    for (const [file, { objects }] of files) {
      for (const found of objects) {
        await turns.next();
        const kind = kinds.kindOf(found.object);
        const object = inItsNamespace(kind, found.object);
        const key = identityOf(object);
        const first = wanted.get(key);
        if (first === undefined) wanted.set(key, { file, found, loaded: { kind, object } });
        else
          duplicates.push(
            problemAt(
              file,
              found,
              `${nameFor(object)} is in ${placeOf(first)} already: that one counts and this one is ignored; remove one`,
            ),
          );
      }
    }
    for (const [key, { kind, object }] of this.#loaded) {
      if (wanted.has(key)) continue;
      this.cluster.unload(kind, nameOf(object));
      this.#loaded.delete(key);
    }
    const refused: Problem[] = [];
    const unknown = new Set<string>();
    for (const [key, { file, found, loaded }] of wanted) {
      await turns.next();
      if (this.#isClosed) break;
      const problem = this.#loadOne(key, loaded);
      if (problem === undefined) continue;
      refused.push(problemAt(file, found, problem));
      if (!this.#loaded.has(key)) unknown.add(file);
    }
    return { duplicates, refused, unknown };
  }

  #loadOne(key: string, wanted: Loaded): string | undefined {
    const before = this.#loaded.get(key);
    if (before !== undefined && isDeepStrictEqual(before, wanted)) return undefined;
    try {
      this.cluster.load(wanted.kind, wanted.object);
      this.#loaded.set(key, wanted);
      return undefined;
    } catch (error) {
      if (!(error instanceof GateError)) throw error;
      return `${nameFor(wanted.object)}: ${error.message}`;
    }
  }

  #setProblems(problems: readonly Problem[], duplicates: readonly Problem[]): void {
    const before = this.#problems;
    const known = new Set(before.map(textOf));
    const ignored = new Set(duplicates.map(textOf));
    this.#problems = fewOfEachFile(
      [...problems, ...duplicates].toSorted(
        (a, b) => compare(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0),
      ),
    );
    for (const problem of this.#problems) {
      if (known.has(textOf(problem))) continue;
      const consequence = this.#unknown.has(problem.file) ? 'unknown' : 'last-good';
      this.#onProblem?.(problem, ignored.has(textOf(problem)) ? 'ignored' : consequence);
    }
    const bad = new Set(this.#problems.map(({ file }) => file));
    for (const file of new Set(before.map((problem) => problem.file)))
      if (!bad.has(file)) this.#onMended?.(file);
  }
}

function objectOf(kind: Kind, at: ObjectName | undefined): string {
  if (at === undefined) return `list ${kind.resource}`;
  const { namespace, name } = at;
  return `read ${kind.resource} ${quote(namespace === undefined ? name : `${namespace}/${name}`)}`;
}

function knownFile({ stamp }: FoundFile, reading: FileReading, before: KnownFile | undefined): KnownFile {
  const { objects, problems } = reading;
  const wasWhole = problems.length === 0 || before?.wasWhole === true;
  if (problems.length === 0 || before === undefined) return { stamp, objects, problems, wasWhole };
  const names = new Set(objects.map(({ object }) => identityOf(object)));
  const last = before.objects.filter(({ object }) => !names.has(identityOf(object)));
  return { stamp, objects: [...objects, ...last], problems, wasWhole };
}

/** What is beyond is told by its number: each problem has its line in the log. */
function fewOfEachFile(sorted: readonly Problem[]): Problem[] {
  const counts = new Map<string, number>();
  const few = sorted.filter(({ file }) => {
    const count = (counts.get(file) ?? 0) + 1;
    counts.set(file, count);
    return file === '.' || count <= MAX_PROBLEMS_OF_FILE;
  });
  for (const [file, count] of counts) {
    const more = count - MAX_PROBLEMS_OF_FILE;
    if (file !== '.' && more > 0) few.push(problemOf(file, `has ${more} more problems; mend these first`));
  }
  return few;
}

/** Lets others have their turn in a loop over many objects. */
class Turns {
  #steps = 0;

  async next(): Promise<void> {
    if (++this.#steps % OBJECTS_PER_TURN === 0) await nextTurn();
  }
}

function problemsOf(files: ReadonlyMap<string, KnownFile>): Problem[] {
  return [...files.values()].flatMap(({ problems }) => problems);
}

/** Versions of a kind share their objects. */
function identityOf({ apiVersion, kind, metadata }: KubeObject): string {
  const { group } = groupVersionOf(apiVersion);
  return JSON.stringify([group, kind, metadata.namespace ?? '', metadata.name]);
}

/** As kubectl does without `--namespace`. */
function inItsNamespace(kind: Kind, object: KubeObject): KubeObject {
  const { namespace } = object.metadata;
  const isMissing = namespace === undefined || namespace === null || namespace === '';
  if (!kind.namespaced || !isMissing) return object;
  return { ...object, metadata: { ...object.metadata, namespace: 'default' } };
}

function nameOf({ metadata }: KubeObject): { name: string; namespace?: string } {
  const { name = '', namespace } = metadata;
  return { name, ...(namespace !== undefined && { namespace }) };
}

function nameFor({ kind, metadata }: KubeObject): string {
  const where = metadata.namespace === undefined ? '' : `${metadata.namespace}/`;
  return `${quote(kind)} ${quote(`${where}${metadata.name}`)}`;
}

function problemAt(file: string, { line }: FoundObject, message: string): Problem {
  return problemOf(file, message, line === undefined ? {} : { line });
}

function placeOf({ file, found }: { file: string; found: FoundObject }): string {
  return found.line === undefined ? quote(file) : `${quote(file)} line ${found.line}`;
}

function textOf(problem: Problem): string {
  return JSON.stringify(problem);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
