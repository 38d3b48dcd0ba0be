/** One budget, and how it is written. */

export interface BudgetRow {
  readonly what: string;
  readonly budget: string;
  readonly measured: string;
  readonly met: boolean;
}

export function atMost(what: string, limit: number, value: number, unit: string): BudgetRow {
  return { what, budget: `≤ ${limit}${unit}`, measured: `${digits(value)}${unit}`, met: value <= limit };
}

export function below(what: string, limit: number, value: number, unit: string): BudgetRow {
  return { what, budget: `< ${limit}${unit}`, measured: `${digits(value)}${unit}`, met: value < limit };
}

export function atLeast(what: string, limit: number, value: number, unit: string): BudgetRow {
  return { what, budget: `≥ ${limit}${unit}`, measured: `${digits(value)}${unit}`, met: value >= limit };
}

/** Three significant digits, and no exponent. */
export function digits(value: number): string {
  const magnitude = Math.abs(value);
  return value.toFixed(magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3);
}
