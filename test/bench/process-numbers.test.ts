import { describe, expect, test } from 'vitest';

import { bytesOfStatus, cpuMsOfStat } from './process-numbers.ts';

describe('the numbers of a process', () => {
  test('add user and system time, also where the name of the program holds blanks and parentheses', () => {
    const rest = 'S 1 1 1 0 -1 4194560 900 0 5 0 123 45 0 0 20 0 11 0 100 1000 200';
    expect(cpuMsOfStat(`42 (node) ${rest}`, 100)).toBe(1680);
    expect(cpuMsOfStat(`42 (a) S 9 (b) ${rest}`, 100)).toBe(1680);
  });

  test('read kibibytes as bytes and do not take one field for another', () => {
    const status = 'Name:\tVmRSS\nVmHWM:\t   80896 kB\nVmRSS:\t   59392 kB\nRssAnon:\t 1 kB\n';
    expect(bytesOfStatus(status, 'VmRSS')).toBe(59392 * 1024);
    expect(bytesOfStatus(status, 'VmHWM')).toBe(80896 * 1024);
  });

  test('refuse a status without the field, as that of a process that has ended', () => {
    expect(() => bytesOfStatus('Name:\tnode\nState:\tZ (zombie)\n', 'VmRSS')).toThrow('no field VmRSS');
  });
});
