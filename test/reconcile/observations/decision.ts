/** Rows of docs/observations.md: what the real dimensions, and the real evaluation, make of one situation. */
import { evaluate } from '../../../src/policies/contract/evaluate.ts';
import type { Observation, ObservationKind, ObservedValue } from '../../../src/policies/observation.ts';
import type { Dimension } from '../../../src/reconcile/observe/dimension.ts';
import { look, NO_CONTRACT, WINDOW_MS, type Scene, type Seen } from '../observe/survey.ts';

export interface DecisionTable {
  /** Of the page: the section that has the table. */
  readonly heading: string;
  readonly dimension: Dimension;
  readonly kind: ObservationKind;
  /** One that is only judged where it proves a contradiction: what is missing beside it is another table's. */
  readonly beside?: boolean;
  /** The streak that an absence has; left out where nothing waits for a window. */
  readonly streak?: string;
  /** Situations, by the words that the page has for them; several where a row is about several, which end alike. */
  readonly scenes: Readonly<Record<string, Scene | readonly Scene[]>>;
}

/** Cells of one row, behind the situation: what is observed, which findings, what happens to the streak. */
export async function cellsOf(table: DecisionTable, scene: Scene): Promise<readonly string[]> {
  const { dimension, streak } = table;
  const first = await look(dimension, scene);
  if (streak === undefined) return [observedText(ofKind(table, first)), findingText(table, scene, first)];
  const later = await look(dimension, { ...scene, streaks: { [streak]: WINDOW_MS } });
  return [
    inTurn(observedText(ofKind(table, first)), observedText(ofKind(table, later))),
    inTurn(findingText(table, scene, first), findingText(table, scene, later)),
    streakText(streak, first, later),
  ];
}

function inTurn(first: string, later: string): string {
  return first === later ? first : `${first}, then ${later}`;
}

function streakText(streak: string, first: Seen, later: Seen): string {
  if (streak in first.streaks) return 'begins';
  return streak in later.streaks ? 'stays' : 'ends';
}

function ofKind({ kind }: DecisionTable, { observations }: Seen): readonly Observation[] {
  return observations.filter((one) => one.kind === kind);
}

function observedText(observations: readonly Observation[]): string {
  const texts = observations.map(({ outcome, value }) =>
    value === undefined ? `\`${outcome}\`` : valueText(value),
  );
  return texts.length === 0 ? 'no observation' : texts.join(', ');
}

function valueText({
  type,
  present,
  conformant,
  reachable,
  durable,
  protocol,
  exposure,
  versions,
}: ObservedValue): string {
  if (present === false) return 'absent';
  if (conformant !== undefined) return conformant ? 'conforms' : 'does not conform';
  if (present !== undefined) return 'present';
  if (reachable !== undefined) return reachable ? 'reachable' : 'unreachable';
  if (durable !== undefined) return durable ? 'durable' : 'not durable';
  return [protocol ?? exposure ?? type ?? versions?.map((one) => (one === '' ? 'not known' : one)) ?? '']
    .flat()
    .join(' and ');
}

function findingText(table: DecisionTable, { contract }: Scene, seen: Seen): string {
  const judged = (observations: readonly Observation[]): readonly string[] => {
    const evidence = {
      subject: { kind: 'service', name: 'shop/web' },
      contractRef: '',
      source: 'k8s',
      observedAt: '2026-01-01T00:00:00Z',
      observations,
    };
    return evaluate({ ...NO_CONTRACT, ...contract }, evidence).findings.map(
      ({ code, severity }) => `\`${code}\`${severity === 'warning' ? ' (warning)' : ''}`,
    );
  };
  const without = table.beside === true ? judged([]) : [];
  const found = judged(ofKind(table, seen)).filter((one) => !without.includes(one));
  return found.length === 0 ? '–' : found.join(', ');
}
