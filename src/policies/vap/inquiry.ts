/** What one evaluation found out: it asks everything once, and gives others a turn now and then. */
import type { GroupVersionKind, KubeObject } from '../../cluster/objects.ts';
import type { AuthorizationAnswer, AuthorizationQuery } from '../cel/signals.ts';
import {
  PAUSE,
  type AnswerTo,
  type Answers,
  type Conversion,
  type Need,
  type ParamsNeed,
  type Pause,
} from './needs.ts';
import type { ParamKind } from './types.ts';

/** What an evaluation gives away while it runs. */
export type Step = Need | Pause;

/** A part of an evaluation: it yields what it needs, and is resumed with the answer. */
export type Steps<Result> = Generator<Step, Result, unknown>;

/** Cost after which others get a turn: some 3 ms of work. */
const COST_BETWEEN_PAUSES = 100_000;
/** What an expression is worth beside its cost, so that many cheap ones add up too. */
const COST_OF_EXPRESSION = 200;

export class Inquiry {
  readonly #namespaces = new Map<string, KubeObject | null>();
  readonly #paramKinds = new Map<string, Answers['paramKind']>();
  readonly #conversions = new Map<string, Conversion>();
  readonly #authorizations = new Map<string, AuthorizationAnswer>();
  #work = 0;

  *namespace(name: string): Steps<KubeObject | null> {
    let namespace = this.#namespaces.get(name);
    if (namespace === undefined) {
      namespace = yield* ask({ need: 'namespace', name });
      this.#namespaces.set(name, namespace);
    }
    return namespace;
  }

  *paramKind(kind: ParamKind): Steps<Answers['paramKind']> {
    const key = `${kind.apiVersion} ${kind.kind}`;
    let served = this.#paramKinds.get(key);
    if (served === undefined) {
      served = yield* ask({ need: 'paramKind', apiVersion: kind.apiVersion, kind: kind.kind });
      this.#paramKinds.set(key, served);
    }
    return served;
  }

  *conversion(to: GroupVersionKind): Steps<Conversion> {
    const key = `${to.group} ${to.version} ${to.kind}`;
    let conversion = this.#conversions.get(key);
    if (conversion === undefined) {
      conversion = yield* ask({ need: 'conversion', to });
      this.#conversions.set(key, conversion);
    }
    return conversion;
  }

  /** Not remembered: each binding asks for its own. */
  params(read: ParamsNeed): Steps<readonly KubeObject[]> {
    return ask(read);
  }

  /** What is known of a question of an expression; `findOut` makes it known. */
  authorization(query: AuthorizationQuery): AuthorizationAnswer | undefined {
    return this.#authorizations.get(JSON.stringify(query));
  }

  *findOut(query: AuthorizationQuery): Steps<void> {
    this.#authorizations.set(JSON.stringify(query), yield* ask({ need: 'authorize', query }));
  }

  /** After each expression. */
  *worked(cost: number): Steps<void> {
    this.#work += cost + COST_OF_EXPRESSION;
    if (this.#work < COST_BETWEEN_PAUSES) return;
    this.#work = 0;
    yield PAUSE;
  }
}

function* ask<N extends Need>(need: N): Steps<AnswerTo<N>> {
  return (yield need) as AnswerTo<N>;
}
