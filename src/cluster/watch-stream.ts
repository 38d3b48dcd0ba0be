/** The bytes of a watch: lines of JSON to events. */
import { errorFromAnswer, isRecord, malformedAnswer, type Question } from './answers.ts';
import type { WatchEvent } from './cluster.ts';
import { parseJson } from './exact-json.ts';
import type { KubeObject } from './objects.ts';

const NEWLINE = 0x0a;

/**
 * Splits at the byte 0x0A alone. A reader of text lines would also split at U+2028 inside of a string and lose the
 * event (platform.md §2.3).
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Bytes of a line that has not ended yet. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  /**
   * The lines that end in `chunk`, without their newline.
   *
   * @returns undefined where a line is longer than the limit; the splitter is of no use then.
   */
  push(chunk: Buffer): readonly Buffer[] | undefined {
    const lines: Buffer[] = [];
    let from = 0;
    for (;;) {
      const to = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, to === -1 ? chunk.length : to);
      if (this.#bytes + piece.length > this.#maxLineBytes) return undefined;
      if (to === -1) {
        if (piece.length > 0) this.#pieces.push(piece);
        this.#bytes += piece.length;
        return lines;
      }
      lines.push(this.#pieces.length === 0 ? piece : Buffer.concat([...this.#pieces, piece]));
      this.#pieces = [];
      this.#bytes = 0;
      from = to + 1;
    }
  }
}

/**
 * @param adopt checks an object and gives it the asked kind's apiVersion and kind.
 * @param exact as ReadOptions.exact.
 * @throws GateError of an ERROR event (410: GATE_CLUSTER_GONE), or GATE_CLUSTER_ANSWER.
 */
export function parseWatchLine(
  line: Buffer,
  question: Question,
  adopt: (value: unknown) => KubeObject,
  exact?: boolean,
): WatchEvent {
  let event: unknown;
  try {
    event = parseJson(line, exact);
  } catch {
    throw malformedAnswer(question, `a line of ${line.length} bytes that is not JSON`);
  }
  if (!isRecord(event)) throw malformedAnswer(question, 'a line that is not an event');
  const { type, object } = event;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const adopted = adopt(object);
      if (!isVersion(adopted.metadata.resourceVersion))
        throw malformedAnswer(question, 'an event without metadata.resourceVersion');
      return { type, object: adopted };
    }
    case 'BOOKMARK': {
      const metadata = isRecord(object) ? object['metadata'] : undefined;
      const version = isRecord(metadata) ? metadata['resourceVersion'] : undefined;
      if (!isVersion(version)) throw malformedAnswer(question, 'a bookmark without metadata.resourceVersion');
      return { type, resourceVersion: version };
    }
    case 'ERROR': {
      const code = isRecord(object) ? object['code'] : undefined;
      throw errorFromAnswer(question, typeof code === 'number' ? code : 500, object);
    }
    default:
      throw malformedAnswer(question, 'an event of unknown type');
  }
}

function isVersion(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
