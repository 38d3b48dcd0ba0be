import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PREFLIGHT_CODES } from '../src/install/preflight/preflight-finding.ts';

const MARKS = { problem: 'Problem.', warning: 'Warning.', note: 'Note.' } as const;

describe('docs/preflight.md', () => {
  const page = readFileSync('docs/preflight.md', 'utf8');
  const sections = page.split('\n### ').slice(1);
  const codes = sections.map((section) => section.split('\n', 1)[0] ?? '');

  it('explains each code, and no other', () => {
    expect(codes.toSorted()).toEqual(Object.keys(PREFLIGHT_CODES).toSorted());
  });

  it.each(Object.entries(PREFLIGHT_CODES))('says how severe %s is: %s', (code, level) => {
    const section = sections.find((one) => one.startsWith(`${code}\n`)) ?? '';
    expect(section.slice(code.length).trim().startsWith(MARKS[level])).toBe(true);
  });
});
