import { describe, expect, it } from 'vitest';

import { createLog, silentLog, type LogFields, type LogOptions, type RootLog } from '../src/log.ts';

function captured(options: Partial<LogOptions> = {}): { log: RootLog; lines: string[] } {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { log: createLog({ level: 'debug', format: 'json', destination, ...options }), lines };
}

const fieldsOf = (line: string | undefined): Record<string, unknown> =>
  JSON.parse(line ?? '') as Record<string, unknown>;

describe('a line', () => {
  it('is one object of level, ISO time, fields and constant message', () => {
    const { log, lines } = captured();
    log.warn('watch broke', { key: 'payments/web', attempt: 2 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{.*\}\n$/);
    expect(fieldsOf(lines[0])).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      key: 'payments/web',
      attempt: 2,
      message: 'watch broke',
    });
  });

  it('is written from its level up', () => {
    const { log, lines } = captured({ level: 'warn' });
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(lines.map((line) => fieldsOf(line)['message'])).toEqual(['c', 'd']);
  });

  it('has the fields of its parents', () => {
    const { log, lines } = captured();
    log.child({ webhook: 'test' }).child({ uid: 'u' }).info('decided', { name: 'a' });
    expect(fieldsOf(lines[0])).toMatchObject({ webhook: 'test', uid: 'u', name: 'a' });
  });

  it('leaves out what is in no list, whatever it is called, and what is no plain value', () => {
    const { log, lines } = captured();
    const poisoned = {
      name: 'a',
      token: 'poison',
      object: { data: 'poison' },
      authorization: 'poison',
      extra: { a: ['poison'] },
      user: { username: 'poison' },
      __proto__: { kind: 'poison' },
    } as unknown as LogFields;
    log.info('decided', poisoned);
    log.child(poisoned).info('decided');
    expect(lines.join('')).not.toContain('poison');
    expect(lines.map((line) => fieldsOf(line)['name'])).toEqual(['a', 'a']);
  });

  it('is cut where a value or a list is long', () => {
    const { log, lines } = captured();
    log.info('decided', { name: 'a'.repeat(10_000), codes: Array<string>(100).fill('ONE') });
    expect(fieldsOf(lines[0])).toMatchObject({ name: `${'a'.repeat(512)}…`, codes: Array(20).fill('ONE') });
  });

  it.each(['json', 'pretty'] as const)('stays one harmless line whatever a name holds (%s)', (format) => {
    const { log, lines } = captured({ format });
    const name = 'a\nforged\u0000\u001b[31m\u202ebc\u2066\u200b\u009b\u2028\ufeff\u061c\u115f\u180e\u{e0041}';
    log.info('decided', { name });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[^\p{Cc}\p{DI}\u2028\u2029]+\n$/u);
    expect(lines[0]).toContain(String.raw`\u202ebc`);
  });

  it('gives back a hostile name unchanged to who reads the JSON', () => {
    const { log, lines } = captured();
    const name = 'a\n\u202ebc\u009b"\\';
    log.info('decided', { name });
    expect(fieldsOf(lines[0])['name']).toBe(name);
  });
});

describe('an error', () => {
  class CodedError extends Error {
    override readonly name = 'CodedError';
    readonly code = 'GATE_TEST';
    readonly fields = { file: 'a.yaml' };
  }

  it('is written with code, facts and its chain of causes', () => {
    const { log, lines } = captured();
    const root = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    log.error('failed', {
      err: new CodedError('cannot read', { cause: new Error('no answer', { cause: root }) }),
    });
    expect(fieldsOf(lines[0])['err']).toEqual({
      type: 'CodedError',
      code: 'GATE_TEST',
      message: 'cannot read',
      fields: { file: 'a.yaml' },
      cause: {
        type: 'Error',
        message: 'no answer',
        stack: expect.stringMatching(/^ {4}at .*log\.test\.ts/) as string,
        cause: { type: 'Error', code: 'ECONNREFUSED', message: 'refused' },
      },
    });
  });

  it('is bounded, also where it is its own cause', () => {
    const { log, lines } = captured();
    const loop = new Error('x'.repeat(10_000));
    loop.cause = loop;
    log.error('failed', { err: loop });
    expect(lines[0]!.length).toBeLessThan(20_000);
  });

  it.each([
    ['text', 'text'],
    ['undefined', undefined],
  ])('may be %s', (_name, thrown) => {
    const { log, lines } = captured();
    log.error('failed', { err: thrown });
    expect(fieldsOf(lines[0])['message']).toBe('failed');
  });
});

describe('the pretty form', () => {
  it('has time, level, message and fields', () => {
    const { log, lines } = captured({ format: 'pretty' });
    log.info('decided', { name: 'a', codes: ['ONE'] });
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info {2}decided name="a" codes=\["ONE"\]\n$/);
  });
});

describe('the silent log', () => {
  it('takes everything and writes nothing', async () => {
    const log = silentLog();
    log.child({ name: 'a' }).error('failed', { err: new Error('x') });
    await log.flush();
    expect(log.lost()).toBe(0);
  });
});
