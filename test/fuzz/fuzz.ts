/** Random cases on both sides, until one differs or the time is over; what differs is then made smaller. */
import { setTimeout as delay } from 'node:timers/promises';
import { Peer } from '../bench/peer.ts';
import { difference } from './compare.ts';
import { damage, grow, render, shorter, smaller, type Tree } from './expression.ts';
import { randomInputs } from './inputs.ts';
import { PRODUCTIONS } from './productions.ts';
import { Random } from './random.ts';
import { askPeer, Ours, type Case, type Surroundings } from './sides.ts';

const DEPTH = 4;
const VARIABLES_CHANCE = 0.15;
const DAMAGE_CHANCE = 0.12;
const NEW_MODE_CHANCE = 0.25;
const MINORS = [28, 29, 30, 31, 32, 33, 34, 35, 36];

/** So often Go evaluates what differed at first: it goes over maps in another order each time. */
const REPEAT = 100;
/** An answer that takes longer is a hang. The limit of cost lets nothing run for seconds. */
const OUR_LIMIT_MS = 2000;
const PEER_LIMIT_MS = 30_000;
/** Smaller forms that are tried at most. */
const MOST_ATTEMPTS = 400;
/** Cases under way, so that both sides work at the same time. */
const TOGETHER = 16;

export interface Finding {
  readonly found: Case;
  readonly what: string;
}

export interface FuzzResult {
  readonly cases: number;
  /** Of them, those that compile. */
  readonly compiled: number;
  /** Those on which Go took too long, or longer than it is waited for. */
  readonly undecided: number;
  readonly finding?: Finding;
}

interface RandomCase {
  readonly asked: Case;
  /** Undefined for a damaged source, which is no tree any more. */
  readonly tree: Tree | undefined;
}

export class Fuzzer {
  readonly #program: string;
  readonly #surroundings: Surroundings;
  readonly #ours: Ours;
  #peer: Peer;
  #cases = 0;
  #compiled = 0;
  #undecided = 0;

  constructor(program: string, surroundings: Surroundings) {
    this.#program = program;
    this.#surroundings = surroundings;
    this.#ours = new Ours(surroundings);
    this.#peer = new Peer(program);
  }

  /** @param until of the monotonic clock, milliseconds */
  async run(seed: number, until: number): Promise<FuzzResult> {
    const random = new Random(seed);
    try {
      while (performance.now() < until) {
        const batch = Array.from({ length: TOGETHER }, () => randomCase(random));
        const findings = await Promise.all(batch.map(async ({ asked }) => await this.#differs(asked, true)));
        for (const [index, what] of findings.entries()) {
          const one = batch[index];
          if (what === undefined || one === undefined) continue;
          return { ...this.#counts(), finding: await this.#minimise(one, what) };
        }
      }
      return this.#counts();
    } finally {
      this.#peer.close();
    }
  }

  #counts(): Omit<FuzzResult, 'finding'> {
    return { cases: this.#cases, compiled: this.#compiled, undecided: this.#undecided };
  }

  /** @returns what differs; undefined: nothing, or Go did not answer in time. */
  async #differs(asked: Case, isCounted: boolean): Promise<string | undefined> {
    const peer = this.#peer;
    const answering = this.#ask(peer, asked, 1);
    const began = performance.now();
    let ours;
    try {
      ours = this.#ours.answer(asked);
    } catch (thrown) {
      await answering;
      return `crash: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`;
    }
    const took = performance.now() - began;
    const theirs = await answering;
    if (isCounted) {
      this.#cases += 1;
      if (ours.compile.ok) this.#compiled += 1;
    }
    if (took > OUR_LIMIT_MS) return `hang: it took ${Math.round(took)} ms`;
    if (theirs === undefined) {
      this.#undecided += isCounted ? 1 : 0;
      return undefined;
    }
    if (difference(ours, theirs) === undefined) return undefined;
    const again = await this.#ask(this.#peer, asked, REPEAT);
    return again === undefined ? undefined : difference(ours, again);
  }

  async #ask(
    peer: Peer,
    asked: Case,
    repeat: number,
  ): Promise<Awaited<ReturnType<typeof askPeer>> | undefined> {
    const timer = new AbortController();
    const late = delay(PEER_LIMIT_MS, undefined, { signal: timer.signal }).catch(() => undefined);
    try {
      const answer = await Promise.race([askPeer(peer, asked, this.#surroundings, repeat), late]);
      if (answer === undefined && peer === this.#peer) this.#restart();
      return answer;
    } catch {
      // It ended, for one by a stack overflow, which Go code cannot catch; what else it was asked is undecided too.
      if (peer === this.#peer) this.#restart();
      return undefined;
    } finally {
      timer.abort();
    }
  }

  #restart(): void {
    this.#peer.close();
    this.#peer = new Peer(this.#program);
  }

  async #minimise({ asked, tree }: RandomCase, what: string): Promise<Finding> {
    let finding: Finding = { found: asked, what };
    let attempts = MOST_ATTEMPTS;
    for (let form: Tree | string | undefined = tree ?? asked.source; form !== undefined;) {
      const candidates: Iterable<Tree | string> = typeof form === 'string' ? shorter(form) : smaller(form);
      form = undefined;
      for (const candidate of candidates) {
        if (attempts === 0) return finding;
        attempts -= 1;
        const found = { ...asked, source: typeof candidate === 'string' ? candidate : render(candidate) };
        const again = await this.#differs(found, false);
        if (again === undefined) continue;
        finding = { found, what: again };
        form = candidate;
        break;
      }
    }
    return finding;
  }
}

function randomCase(random: Random): RandomCase {
  const scope = new Map<string, string>();
  const variables: { name: string; expression: string }[] = [];
  const types = Object.keys(PRODUCTIONS).filter((type) => !['any', 'pattern', 'zone'].includes(type));
  if (random.chance(VARIABLES_CHANCE)) {
    for (const name of ['first', 'second']) {
      const type = random.pick(types);
      variables.push({ name, expression: render(grow(random, type, 2, scope)) });
      scope.set(`variables.${name}`, type);
    }
  }
  const tree = grow(random, random.pick(types), 1 + random.below(DEPTH), scope);
  const source = render(tree);
  const isDamaged = random.chance(DAMAGE_CHANCE);
  const isNew = random.chance(NEW_MODE_CHANCE);
  return {
    asked: {
      source: isDamaged ? damage(random, source) : source,
      minor: isNew ? random.pick(MINORS) : 36,
      mode: isNew ? 'new' : 'stored',
      variables,
      inputs: randomInputs(random),
    },
    tree: isDamaged ? undefined : tree,
  };
}
