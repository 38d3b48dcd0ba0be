import type { Comparer } from './case.ts';

export const comparers: Readonly<Record<string, Comparer>> = {};
