/**
 * A fast answer to "does it match somewhere": re2js's own program of a pattern, run as a deterministic automaton over
 * ASCII texts, whose states are made when first reached and never forgotten. re2js answers where this cannot: other
 * texts, assertions about words and lines, too many states. Both agree by test, so an update of re2js that changes its
 * programs is noticed.
 */
import type { RE2JS } from 're2js';

/** Instructions of re2js 2.10 (its class Inst). */
const ALTERNATIVE = 1;
const ALTERNATIVE_MATCH = 2;
const CAPTURE = 3;
const EMPTY_WIDTH = 4;
const FAIL = 5;
const MATCH = 6;
const NOTHING = 7;
const CHARACTERS = 8;
const CHARACTER = 9;
const ANY_CHARACTER = 10;
const ANY_BUT_NEW_LINE = 11;

/** Assertions of `EMPTY_WIDTH`. */
const BEGIN_TEXT = 4;
const END_TEXT = 8;

const ASCII_CODES = 128;
const NEW_LINE = 10;
const MAX_INSTRUCTIONS = 1000;
/** Their numbers fit a byte. */
const MAX_STATES = 255;

interface Instruction {
  readonly op: number;
  readonly out: number;
  /** The other branch, or the assertions. */
  readonly arg: number;
  matchRune(rune: number): boolean;
}

interface Program {
  readonly inst: readonly Instruction[];
  readonly start: number;
}

interface State {
  /** Instructions that want a character. */
  readonly waiting: readonly number[];
  /** Whether it matches where the text ends here. */
  readonly matchesAtEnd: boolean;
}

/** No state: a step that was not made yet. */
const UNKNOWN = 0;
const MATCHED = 1;

export class AsciiAutomaton {
  readonly #program: Program;
  readonly #numbers = new Map<string, number>();
  /** By number. */
  readonly #states: State[] = [
    { waiting: [], matchesAtEnd: false },
    { waiting: [], matchesAtEnd: true },
  ];
  /** Number of the next state: of each state, by the code of the character. */
  #steps = new Uint8Array(4 * ASCII_CODES);
  readonly #start: number;

  private constructor(program: Program) {
    this.#program = program;
    this.#start = this.#numberOf([], BEGIN_TEXT);
  }

  /** @returns undefined for a pattern that it cannot answer for. */
  static of({ re2Input }: RE2JS): AsciiAutomaton | undefined {
    const program = re2Input.prog as Program;
    if (program.inst.length > MAX_INSTRUCTIONS) return undefined;
    return program.inst.every(isSupported) ? new AsciiAutomaton(program) : undefined;
  }

  /** @returns undefined where it does not know. */
  test(text: string): boolean | undefined {
    let state = this.#start;
    let steps = this.#steps;
    for (let i = 0; i < text.length; i++) {
      if (state === MATCHED) return true;
      const code = text.charCodeAt(i);
      if (code >= ASCII_CODES) return undefined;
      let next = steps[state * ASCII_CODES + code] ?? UNKNOWN;
      if (next === UNKNOWN) {
        next = this.#step(state, code);
        if (next === UNKNOWN) return undefined;
        steps = this.#steps;
      }
      state = next;
    }
    return this.#states[state]?.matchesAtEnd;
  }

  #step(from: number, code: number): number {
    const reached: number[] = [];
    for (const place of this.#states[from]?.waiting ?? []) {
      const instruction = this.#program.inst[place];
      if (instruction !== undefined && takes(instruction, code)) reached.push(instruction.out);
    }
    const next = this.#numberOf(reached, 0);
    this.#steps[from * ASCII_CODES + code] = next;
    return next;
  }

  /**
   * The state of being at some places; a match may begin anywhere, so the start is always among them.
   *
   * @returns UNKNOWN where that would be one state too many
   */
  #numberOf(places: readonly number[], assertions: number): number {
    const waiting: number[] = [];
    const atEnd: number[] = [];
    if (this.#follow([...places, this.#program.start], assertions, waiting, atEnd)) return MATCHED;
    const matchesAtEnd = this.#follow(atEnd, assertions | END_TEXT, [], []);
    waiting.sort((left, right) => left - right);
    const key = `${matchesAtEnd ? '$' : ''}${waiting.join(' ')}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.#states.length;
    if (number > MAX_STATES) return UNKNOWN;
    this.#states.push({ waiting, matchesAtEnd });
    this.#numbers.set(key, number);
    if (this.#steps.length < this.#states.length * ASCII_CODES) {
      const larger = new Uint8Array(2 * this.#steps.length);
      larger.set(this.#steps);
      this.#steps = larger;
    }
    return number;
  }

  /**
   * Goes from places to those that are reached without a character.
   *
   * @param waiting gets the instructions that want a character
   * @param atEnd gets those that want the end of the text
   * @returns whether a match is reached
   */
  #follow(places: readonly number[], assertions: number, waiting: number[], atEnd: number[]): boolean {
    const seen = new Set<number>();
    const open = [...places];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      const instruction = this.#program.inst[place];
      if (instruction === undefined || seen.has(place)) continue;
      seen.add(place);
      switch (instruction.op) {
        case MATCH:
          return true;
        case ALTERNATIVE:
        case ALTERNATIVE_MATCH:
          open.push(instruction.out, instruction.arg);
          break;
        case CAPTURE:
        case NOTHING:
          open.push(instruction.out);
          break;
        case EMPTY_WIDTH:
          if ((instruction.arg & ~assertions) === 0) open.push(instruction.out);
          else if ((instruction.arg & ~assertions) === END_TEXT) atEnd.push(place);
          break;
        case FAIL:
          break;
        default:
          waiting.push(place);
      }
    }
    return false;
  }
}

function isSupported({ op, arg }: Instruction): boolean {
  return op === EMPTY_WIDTH
    ? (arg & ~(BEGIN_TEXT | END_TEXT)) === 0
    : op >= ALTERNATIVE && op <= ANY_BUT_NEW_LINE;
}

function takes(instruction: Instruction, code: number): boolean {
  switch (instruction.op) {
    case CHARACTERS:
    case CHARACTER:
      return instruction.matchRune(code);
    case ANY_CHARACTER:
      return true;
    default:
      return code !== NEW_LINE;
  }
}
