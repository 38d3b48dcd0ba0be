/** The authorizer of test/golden/cel: answers by a table, and remembers what it was asked. */
import type {
  AuthorizationAnswer,
  AuthorizationQuery,
  AuthorizationSelector,
  Authorize,
} from '../../src/policies/cel/signals.ts';

interface Rule {
  readonly match: Readonly<Record<string, string>>;
  readonly decision: AuthorizationAnswer['decision'];
  readonly reason?: string;
  readonly error?: string;
}

export type Question = Readonly<Record<string, string | boolean>>;

export interface ScriptedAuthorizer {
  readonly authorize: Authorize;
  /** In the order in which they were asked. */
  readonly questions: Question[];
}

/** @param rules of a table of inputs.json; none: no opinion on anything. */
export function scriptedAuthorizer(rules: unknown): ScriptedAuthorizer {
  const questions: Question[] = [];
  const authorize: Authorize = (query) => {
    const question = questionOf(query);
    questions.push(question);
    for (const rule of (rules ?? []) as readonly Rule[]) {
      if (!Object.entries(rule.match).every(([key, wanted]) => (question[key] ?? '') === wanted)) continue;
      return {
        decision: rule.decision,
        reason: rule.reason ?? '',
        ...(rule.error === undefined ? {} : { error: rule.error }),
      };
    }
    return { decision: 'noopinion', reason: '' };
  };
  return { authorize, questions };
}

/** The question in the words of the recording: an empty attribute is left out. */
function questionOf(query: AuthorizationQuery): Question {
  const question: Record<string, string | boolean> = {};
  const set = (key: string, value: string): void => {
    if (value !== '') question[key] = value;
  };
  set('user', query.user.username);
  set('groups', query.user.groups.join(','));
  set('verb', query.verb);
  question['resourceRequest'] = query.kind === 'resource';
  if (query.kind === 'path') {
    set('path', query.path);
    return question;
  }
  for (const key of ['group', 'version', 'resource', 'subresource', 'namespace', 'name'] as const) {
    set(key, query[key]);
  }
  selector('fieldSelector', query.fieldSelector);
  selector('labelSelector', query.labelSelector);
  return question;

  function selector(key: string, parsed: AuthorizationSelector | undefined): void {
    if (parsed === undefined) return;
    set(key, parsed.terms.map((term) => term.text).join('; '));
    if (parsed.error !== undefined) set(`${key}Error`, parsed.error);
  }
}
