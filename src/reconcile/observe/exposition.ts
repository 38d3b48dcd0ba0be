/**
 * Whether a text is metrics (operator.md §5.7): of one of the media types that Prometheus takes, with at least one sample that
 * it would read, and nothing before or behind it that it would refuse. Upstream lets any text pass whose first word could be
 * the name of a metric, as it drops what its parser says (recorded): `hello there` is no metric here.
 */

const MEDIA_TYPES: ReadonlySet<string> = new Set(['text/plain', 'application/openmetrics-text']);

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SPACE = String.raw`[ \t]`;
const LABEL = String.raw`[a-zA-Z_][a-zA-Z0-9_]*${SPACE}*=${SPACE}*"(?:[^"\\]|\\.)*"${SPACE}*`;
const LABELS = String.raw`\{${SPACE}*(?:${LABEL}(?:,${SPACE}*|(?=\})))*\}`;
/** As Go reads one (`strconv.ParseFloat`). */
const NUMBER = String.raw`[+-]?(?:inf(?:inity)?|nan|0x[0-9a-f]+(?:\.[0-9a-f]*)?(?:p[+-]?\d+)?|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)`;
/** Milliseconds in one format, seconds in the other. */
const TIME = String.raw`[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?`;
/** OpenMetrics has exemplars behind a sample. */
const EXEMPLAR = String.raw`${SPACE}+# \{.*`;
const SAMPLE = new RegExp(
  `^${SPACE}*${NAME}${SPACE}*(?:${LABELS}${SPACE}*|${SPACE})${NUMBER}(?:${SPACE}+${TIME})?(?:${EXEMPLAR})?${SPACE}*$`,
  'i',
);
/** A comment, of which `# TYPE`, `# HELP` and `# EOF` are some. */
const SILENT = /^[ \t]*(?:#.*)?$/;

/**
 * @param body at most 4,096 bytes of it.
 * @param isCut there may have been more: what stands behind the last line end is left out.
 */
export function isExposition(contentType: string, body: Uint8Array, isCut: boolean): boolean {
  const mediaType = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (!MEDIA_TYPES.has(mediaType)) return false;
  const text = Buffer.from(body).toString('utf8');
  const whole = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  const lines = whole.split(/\r?\n/).filter((line) => !SILENT.test(line));
  return lines.length > 0 && lines.every((line) => SAMPLE.test(line));
}
