import { describe, expect, it } from 'vitest';
import { isExposition } from '../../../src/reconcile/observe/exposition.ts';

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

function judge(text: string, { type = TEXT, isCut = false } = {}): boolean {
  return isExposition(type, Buffer.from(text), isCut);
}

describe('an exposition', () => {
  it.each([
    ['a sample', 'up 1\n'],
    ['a sample without a last line end', 'up 1'],
    ['a family', '# HELP x Things.\n# TYPE x counter\nx_total{a="b",c="d\\"e}\\n"} 1.5e3 1700000000000\n'],
    ['an empty set of labels', 'up{} 1\n'],
    ['a comma behind the last label', 'up{a="b",} 1\n'],
    ['spaces where they may be', '\tup { a = "b" , c="" }   1  \n'],
    ['no space behind the labels', 'up{a="b"}1\n'],
    ['no number', 'a NaN\nb +Inf\nc -Inf\nd 0x1f\ne .5\nf 1.\n'],
    ['colons', 'job:up:sum 1\n'],
    ['lines of another system', 'up 1\r\ndown 0\r\n'],
    ['an exemplar', 'x_bucket{le="1"} 3 # {trace_id="a"} 0.5\n# EOF\n'],
    ['a text in UTF-8', 'up{city="Zürich"} 1\n'],
  ])('of %s: metrics', (_what, text) => {
    expect(judge(text)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['blank lines', '\n\n'],
    ['comments alone', '# HELP x Things.\n# TYPE x counter\n'],
    ['a greeting', 'hello there, this is no metric\n'],
    ['a word', 'ok'],
    ['a name and no number', 'up one\n'],
    ['a number and no name', '1 1\n'],
    ['a list of files', 'total 4\ndrwxr-xr-x 2 root root 4096 .\n'],
    ['broken labels', 'up{a=b} 1\n'],
    ['labels that do not end', 'up{a="b" 1\n'],
    ['text behind a sample', 'up 1 and running\n'],
    ['a sample, then something else', 'up 1\nhello there\n'],
    ['JSON', '{"up":1}\n'],
    ['HTML', '<html><body>up 1</body></html>'],
    ['bytes', '\u0000\u0001\u0002'],
  ])('of %s: no metrics', (_what, text) => {
    expect(judge(text)).toBe(false);
  });

  it.each([
    ['text/plain', true],
    ['Text/Plain ; charset=utf-8', true],
    ['application/openmetrics-text; version=1.0.0', true],
    ['application/json', false],
    ['text/html', false],
    ['text/plainish', false],
    ['', false],
  ])('as %j: %s', (type, wanted) => {
    expect(judge('up 1\n', { type })).toBe(wanted);
  });

  it('is cut back to its last whole line, where it was cut', () => {
    expect(judge('up 1\nhalf{a="', { isCut: true })).toBe(true);
    expect(judge('up 1\nhalf{a="')).toBe(false);
    expect(judge('up 1', { isCut: true })).toBe(false);
  });

  it.each([
    ['digits', '1'.repeat(4_095)],
    ['a number', `up ${'1'.repeat(4_000)}x`],
    ['labels', `up{${'a="b",'.repeat(680)}`],
    ['spaces', `up${' '.repeat(4_000)}x`],
    ['quotes', `up{a="${'\\"'.repeat(2_000)}`],
  ])('takes no time over endless %s', (_what, text) => {
    const startMs = performance.now();
    expect(judge(text)).toBe(false);
    expect(performance.now() - startMs).toBeLessThan(250);
  });
});
