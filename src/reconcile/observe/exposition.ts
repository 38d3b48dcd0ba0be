/** Whether a text is metrics (operator.md §5.7): what Prometheus would read at least one sample or family of. */

/** The media types that Prometheus asks for. */
const MEDIA_TYPES: ReadonlySet<string> = new Set(['text/plain', 'application/openmetrics-text']);

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABELS = String.raw`\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\}`;
const NUMBER = String.raw`[+-]?(?:Inf|NaN|0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)`;
const SAMPLE = new RegExp(
  `^${NAME}(?:${LABELS})?[ \\t]+${NUMBER}(?:[ \\t]+[+-]?[\\d.]+)?(?:[ \\t]+#.*)?$`,
  'i',
);
const TYPE = new RegExp(
  `^# TYPE ${NAME} (?:counter|gauge|histogram|summary|untyped|unknown|info|stateset|gaugehistogram)$`,
);
/** Blank, a comment, or the mark of an end. */
const SILENT = /^(?:#.*)?$/;
/** Longer ones are cut off before they are looked at: a pattern takes time by length. */
const LINE_LENGTH = 4_096;

export function isExposition(contentType: string, body: Uint8Array, isCut: boolean): boolean {
  const mediaType = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  if (!MEDIA_TYPES.has(mediaType)) return false;
  const text = Buffer.from(body).toString('utf8');
  // The last line of a body that was cut may be half of one.
  const whole = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  const lines = whole.split('\n').map((line) => line.replace(/\r$/, '').slice(0, LINE_LENGTH));
  let samples = 0;
  for (const line of lines) {
    if (SAMPLE.test(line) || TYPE.test(line)) samples += 1;
    else if (!SILENT.test(line)) return false;
  }
  return samples > 0;
}
