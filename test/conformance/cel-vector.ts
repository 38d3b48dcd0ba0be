/** One line of test/golden/cel/<family>.jsonl, as its README describes it. */
import { readJson } from '../../src/json.ts';

export interface Outcome {
  readonly value?: unknown;
  readonly valueSha256?: string;
  readonly valueBytes?: number;
  readonly error?: unknown;
  readonly fatal?: string;
}

export interface Vector {
  readonly id: string;
  readonly expr?: string;
  readonly exprGen?: readonly (readonly [text: string, count: number])[];
  readonly env: string;
  readonly mode: 'new' | 'stored';
  readonly vars?: Readonly<Record<string, string | { readonly json: unknown }>>;
  readonly declares?: readonly string[];
  readonly unbound?: readonly string[];
  readonly returns?: readonly string[];
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly authz?: string;
  readonly compile:
    | { readonly ok: true; readonly type: string }
    | { readonly ok: false; readonly phase: string; readonly error: unknown };
  readonly result?: Outcome;
  readonly alternatives?: readonly Outcome[];
  readonly unordered?: boolean;
  readonly cost?: number;
  readonly costRange?: readonly [number, number];
  readonly estimate?: { readonly min: number | string; readonly max: number | string };
  readonly authzCalls?: readonly Readonly<Record<string, string | boolean>>[];
}

/** Numbers and half surrogate pairs matter in the inputs, so the API server's way of reading is the only one. */
export function readVectors(bytes: Uint8Array): readonly Vector[] {
  const vectors: Vector[] = [];
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end > start) vectors.push(readVector(bytes.subarray(start, end)));
    start = end + 1;
  }
  return vectors;
}

function readVector(line: Uint8Array): Vector {
  return readJson(line, { negativeZero: 'int' }) as Vector;
}

export function sourceOf(vector: Vector): string {
  return vector.expr ?? (vector.exprGen ?? []).map(([text, count]) => text.repeat(count)).join('');
}
