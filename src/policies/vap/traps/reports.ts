/** What is said of fields that may be absent: the same once, with all the places and kinds. */
import { finding, type LintCode, type LintFinding } from '../lint-finding.ts';
import type { Policy } from '../types.ts';
import type { Scene } from './scenes.ts';

export interface Report {
  readonly code: LintCode;
  /** Of a message: what the code would be of an expression. */
  readonly of: LintCode;
  readonly field: string;
  /** As it is written. */
  readonly text: string;
  /** The object, list or map that it is read from. */
  readonly parent: string;
  readonly name: string;
}

interface Found {
  readonly report: Report;
  readonly scenes: Scene[];
  readonly fields: Set<string>;
  readonly texts: Set<string>;
}

/** What is said once of a policy, whatever is read: whoever mends one of it looks at the others. */
const ONCE: ReadonlySet<LintCode> = new Set<LintCode>([
  'LINT_OBJECT_NULL',
  'LINT_OLD_OBJECT_NULL',
  'LINT_PARAMS_UNGUARDED',
]);

/** Fields that are named where the same is found in many. */
const MAX_FIELDS = 3;

function listed(fields: readonly string[]): string {
  const rest = fields.length - MAX_FIELDS;
  return fields.slice(0, MAX_FIELDS).join(', ') + (rest > 0 ? ` and ${String(rest)} more` : '');
}

export class Reports {
  readonly #failurePolicy: string;
  readonly #paramKind: string;
  readonly #found = new Map<string, Found>();

  constructor({ failurePolicy, paramKind }: Pick<Policy, 'failurePolicy' | 'paramKind'>) {
    this.#failurePolicy = failurePolicy;
    this.#paramKind = paramKind?.kind ?? '';
  }

  /** The same is said once, with all places. */
  add(report: Report, scene: Scene): void {
    const key = ONCE.has(report.code) ? report.code : `${report.code} ${report.text}`;
    const known = this.#found.get(key);
    if (known === undefined) {
      this.#found.set(key, {
        report,
        scenes: [scene],
        fields: new Set([report.field]),
        texts: new Set([report.text]),
      });
      return;
    }
    known.scenes.push(scene);
    known.fields.add(report.field);
    known.texts.add(report.text);
  }

  findings(): readonly LintFinding[] {
    return [...this.#found.values()].map(({ report, scenes, fields, texts }) => {
      const all = report.code === 'LINT_PARAMS_UNGUARDED' ? texts : fields;
      const others = [...all].filter((one) => one !== report.field && one !== report.text);
      const also = others.length === 0 ? '' : ` (also ${listed(others)})`;
      return finding(report.code, report.field, this.#message(report, scenes) + also);
    });
  }

  #message({ code, of, text, parent, name }: Report, scenes: readonly Scene[]): string {
    const then =
      this.#failurePolicy === 'Ignore'
        ? 'there is no result then, and the failure policy Ignore lets the request pass'
        : 'there is no result then, and the failure policy Fail denies the request';
    switch (code) {
      case 'LINT_MESSAGE_UNGUARDED':
        return `reads ${text}, ${whyAbsent(of, scenes, this.#paramKind)}: the message has no result then, and whoever is denied reads the plain message or the expression; look at has(…) first, or read ${parent}.?…`;
      case 'LINT_OBJECT_NULL':
        return `reads ${text}, and object is null when something is deleted: ${then}; read oldObject there, or leave DELETE out of the rules`;
      case 'LINT_OLD_OBJECT_NULL':
        return `reads ${text}, and oldObject is null when something is created: ${then}; look at request.operation or oldObject != null first`;
      case 'LINT_USER_EXTRA_UNGUARDED':
        return `reads ${text}, which users may be without: ${then}; read request.userInfo.?extra[?KEY].orValue([])`;
      case 'LINT_REQUEST_FIELD_UNGUARDED':
        return `reads ${text}, which requests may be without: ${then}; look at has(${text}) first`;
      case 'LINT_PARAMS_UNGUARDED':
        return `reads ${text}, which ${withArticle(this.#paramKind)} may be without: ${then}; read ${parent}.?${name} with orValue(…), or look at it first`;
      case 'LINT_KEY_UNGUARDED':
        return `reads ${text}, a key that ${kindsIn(scenes)}may be without: ${then}; look at ${name} in ${parent} first, or read ${parent}[?${name}].orValue(…)`;
      default:
        return `reads ${text}, which ${kindsIn(scenes)}may be without: ${then}; look at has(${text}) first, or read ${parent}.?${name}.orValue(…)`;
    }
  }
}

function whyAbsent(code: LintCode, scenes: readonly Scene[], paramKind: string): string {
  switch (code) {
    case 'LINT_PARAMS_UNGUARDED':
      return `which ${withArticle(paramKind)} may be without`;
    case 'LINT_OBJECT_NULL':
      return 'and object is null when something is deleted';
    case 'LINT_OLD_OBJECT_NULL':
      return 'and oldObject is null when something is created';
    case 'LINT_USER_EXTRA_UNGUARDED':
    case 'LINT_REQUEST_FIELD_UNGUARDED':
      return 'which requests may be without';
    default:
      return `which ${kindsIn(scenes)}may be without`;
  }
}

/** `a Deployment or CronJob `. */
function kindsIn(scenes: readonly Scene[]): string {
  const names = [...new Set(scenes.flatMap(({ kind }) => (kind === undefined ? [] : [kind.kind])))].sort();
  const [first, ...rest] = names;
  if (first === undefined) return 'objects ';
  if (rest.length === 0) return `${withArticle(first)} `;
  if (rest.length > 3) return `${withArticle(first)} or one of ${String(rest.length)} other kinds `;
  return `${[withArticle(first), ...rest].slice(0, -1).join(', ')} or ${names.at(-1) ?? ''} `;
}

function withArticle(kind: string): string {
  return `${/^[AEIOU]/.test(kind) ? 'an' : 'a'} ${kind}`;
}
