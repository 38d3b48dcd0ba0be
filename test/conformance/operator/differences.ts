/** What differs between a recorded scenario and a played one; texts count where upstream's wording is fixed. */
import { isDeepStrictEqual } from 'node:util';
import { textOf, type Played } from './played.ts';
import type { Scenario, Transition } from './scenario.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Conditions and events whose messages dashboards and people know (operator.md §7.1, §7.2); errors are told in our own words. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'Invalid',
  'Unavailable',
  'ObservationFailed',
  'ContractInvalid',
  'ContractUnavailable',
]);

/** How much later than recorded something may be seen: both sides look at intervals, and write whole seconds. */
const LATER_SECONDS = 1.5;

export function differences(scenario: Scenario, given: Played): readonly string[] {
  const [answer, played] = [scenario.answer, given].map((side) => withoutForeignHash(scenario, side)) as [
    Scenario['answer'],
    Played,
  ];
  const lines: string[] = [];
  const compare = (what: string, recorded: unknown, found: unknown): void => {
    if (!isDeepStrictEqual(recorded, found))
      lines.push(`${what}: recorded ${JSON.stringify(recorded)}\n  found ${JSON.stringify(found)}`);
  };
  const recorded = comparable(answer.status);
  const found = comparable(played.status);
  for (const key of new Set([...Object.keys(recorded), ...Object.keys(found)]))
    compare(`status.${key}`, recorded[key], found[key]);
  compare('generation', answer.generation, played.generation);
  lines.push(...transitionDifferences(answer.transitions, played.transitions));
  compare('revisions', sorted(answer.revisions.map(withoutTime)), sorted(played.revisions));
  compare('events', sorted(answer.events.map(eventText)), sorted(played.events.map(eventText)));
  compare('metrics', sorted(answer.metrics.map(lineText)), sorted(played.metrics.map(lineText)));
  return lines;
}

/**
 * The recording's registry had another name, which the set writes as `registry.test` (its README): where a contract's own
 * text names it, what was hashed is not what is here.
 */
function withoutForeignHash<T>({ input }: Scenario, side: T): T {
  const { inline } = (input.pacto['contractRef'] ?? {}) as { inline?: string };
  if (inline?.includes('registry.test') !== true) return side;
  const text = JSON.stringify(side)
    .replaceAll(/("?p-\d+-\d+-\d+)-[0-9a-f]{7}/g, '$1-hash')
    .replaceAll(/"contractHash":"[0-9a-f]{64}"/g, '"contractHash":"hash"');
  return JSON.parse(text) as T;
}

function transitionDifferences(
  recorded: readonly Transition[],
  found: readonly Transition[],
): readonly string[] {
  const [one, other] = [recorded, found].map((list) => list.map((each) => textOf(withoutOrder(each))));
  if (!isDeepStrictEqual(one, other))
    return [
      `transitions: recorded\n    ${one?.join('\n    ') ?? ''}\n  found\n    ${other?.join('\n    ') ?? ''}`,
    ];
  return recorded.flatMap(({ at }, index) => {
    const ours = found[index]?.at ?? 0;
    return ours > at + LATER_SECONDS
      ? [`transition ${String(index)}: recorded at ${String(at)} s, found at ${String(ours)} s`]
      : [];
  });
}

/** A structural finding has no subject, which upstream writes as a slash. */
function withoutOrder(transition: Transition): Transition {
  return { ...transition, windows: [...transition.windows].sort() };
}

function comparable({ lastReconciledAt: _at, ...status }: Fields): Fields {
  return Object.fromEntries(
    Object.entries(status)
      .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
      .map(([key, value]) => [key, field(key, value)]),
  );
}

function field(key: string, value: unknown): unknown {
  switch (key) {
    case 'conditions':
      return sorted((value as readonly Fields[]).map(conditionText));
    case 'findings':
      return (value as readonly Fields[]).map(({ code, severity, category, subject = '/', contractPath }) =>
        JSON.stringify([code, severity, category, subject, contractPath]),
      );
    case 'observationWindows':
      return sorted(
        (value as readonly Fields[]).map(({ kind, subject }) => `${String(kind)}/${String(subject)}`),
      );
    case 'validation':
      return validationOf(value as Fields);
    default:
      return value;
  }
}

function conditionText({ type, status, reason, message, observedGeneration }: Fields): string {
  const text = OWN_WORDS.has(String(reason)) ? '' : message;
  return JSON.stringify([type, status, reason, observedGeneration, text]);
}

/** Codes and paths, each once: how often one is said is a matter of words. */
function validationOf({ valid, errors, warnings }: Fields): unknown {
  const issues = (list: unknown): readonly string[] => {
    const texts = ((list ?? []) as readonly Fields[]).map(({ code, path }) => JSON.stringify([code, path]));
    return [...new Set(texts)].sort();
  };
  return { valid, errors: issues(errors), warnings: issues(warnings) };
}

function withoutTime({ status, ...revision }: Fields): Fields {
  const { createdAt: _createdAt, ...rest } = (status ?? {}) as Fields;
  return { ...revision, status: rest };
}

function eventText({ type, reason, message, count }: Fields | Played['events'][number]): string {
  const text = OWN_WORDS.has(String(reason)) ? '' : message;
  return JSON.stringify([type, reason, text, count]);
}

/** Labels in any order. */
function lineText(line: string): string {
  const [, name = '', labels = '', value = ''] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
  return `${name} ${labels.split(',').sort().join(',')} ${value}`;
}

function sorted<T>(list: readonly T[]): readonly T[] {
  return [...list].sort((a, b) => {
    const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
    return one < other ? -1 : one > other ? 1 : 0;
  });
}
