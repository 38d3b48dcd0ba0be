/** Reads the text of the identity policy (delivery.md §3.4): strictly, since a slip in it would open or shut a gate. */
import { parseDuration } from '../cel/go-time.ts';
import { compilePattern } from '../cel/libraries/patterns.ts';
import { CelError } from '../cel/values.ts';
import type { YamlNode } from '../contract/yaml-nodes.ts';
import { YamlProblem } from '../contract/yaml-nodes.ts';
import { parseYaml } from '../contract/yaml-parse.ts';
import { FreeForm } from '../contract/yaml-values.ts';
import { YamlWalk } from '../contract/yaml-walk.ts';
import { at, isRecord, type ForeignRecord } from '../identity/foreign.ts';
import { quote } from '../quote.ts';
import type { IdentityPolicy, PolicyRule, Role, StageAction, Subject } from './identity-policy.ts';

/** In UTF-16 units, which are never more than the bytes. */
const MAX_TEXT = 256 * 1024;
const MAX_PATTERN = 256;
const MAX_DURATION_MS = 3_600_000;
const NANOSECONDS_PER_MS = 1_000_000n;

const ACTIONS: readonly StageAction[] = ['promote', 'approve', 'rollback', 'breakGlass', 'admin'];
const SERVICE_ACCOUNT = /^[a-z0-9.-]{1,253}\/[a-z0-9.-]{1,253}$/;

/** What is wrong with the text; never leaves this file. */
class PolicyProblem extends Error {
  override readonly name = 'PolicyProblem';
}

/**
 * The policy that a text states, or in one line what is wrong with it. Never throws.
 *
 * @param text YAML of at most 256 KiB without aliases.
 */
export function readIdentityPolicy(text: string): { policy: IdentityPolicy } | { error: string } {
  if (text.length > MAX_TEXT) return { error: 'it is longer than 256 KiB' };
  try {
    const node = parseYaml(text);
    if (node === undefined) return { error: 'it is empty' };
    if (holdsAlias(node)) return { error: 'it has an alias (*name): write out what it stands for' };
    return { policy: policyOf(new FreeForm(new YamlWalk(), { dates: 'verbatim', json: true }).read(node)) };
  } catch (error) {
    if (error instanceof YamlProblem || error instanceof PolicyProblem) return { error: error.message };
    throw error;
  }
}

/** As deep as the parser lets a nest be. */
function holdsAlias(node: YamlNode): boolean {
  if (node.kind === 'alias') return true;
  if (node.kind === 'sequence') return node.items.some(holdsAlias);
  return node.kind === 'mapping' && node.entries.some(([key, value]) => holdsAlias(key) || holdsAlias(value));
}

function policyOf(value: unknown): IdentityPolicy {
  const fields = mapping(value, 'the policy', ['version', 'roles', 'rules', 'crossNamespace']);
  if (at(fields, 'version') === undefined || Number(at(fields, 'version')) !== 1) {
    throw new PolicyProblem('version is not 1');
  }
  const named = mapping(at(fields, 'roles'), 'roles');
  const roles = new Map(Object.keys(named).map((name) => [name, roleOf(at(named, name), `roles.${name}`)]));
  const listed = list(at(fields, 'rules'), 'rules');
  const rules = listed.map((rule, index) => ruleOf(rule, `rules[${String(index)}]`, roles));
  const last = rules.at(-1);
  if (last === undefined || !last.namespaces.includes('*') || !last.stages.includes('*')) {
    throw new PolicyProblem(
      'the last of rules is not the default, which has namespaces ["*"] and stages ["*"]',
    );
  }
  return { roles, rules, crossNamespace: crossingsOf(at(fields, 'crossNamespace')) };
}

function crossingsOf(value: unknown): IdentityPolicy['crossNamespace'] {
  if (value === undefined || value === null) return [];
  return list(value, 'crossNamespace').map((entry, index) => {
    const path = `crossNamespace[${String(index)}]`;
    const fields = mapping(entry, path, ['fromStage', 'toNamespace']);
    const fromStage = name(at(fields, 'fromStage'), `${path}.fromStage`);
    // A Stage without its namespace would be that of any team.
    if (!fromStage.includes('/')) throw new PolicyProblem(`${path}.fromStage is not namespace/stage`);
    return { fromStage, toNamespace: name(at(fields, 'toNamespace'), `${path}.toNamespace`) };
  });
}

function roleOf(value: unknown, path: string): Role {
  const fields = mapping(value, path, ['subjects', 'mayApprove', 'ticketPattern', 'maxDuration']);
  const mayApprove = at(fields, 'mayApprove') ?? true;
  if (typeof mayApprove !== 'boolean')
    throw new PolicyProblem(`${path}.mayApprove is neither true nor false`);
  return {
    subjects: list(at(fields, 'subjects'), `${path}.subjects`).map((subject, index) =>
      subjectOf(subject, `${path}.subjects[${String(index)}]`),
    ),
    mayApprove,
    ticketPattern: patternOf(at(fields, 'ticketPattern'), `${path}.ticketPattern`),
    maxDurationMs: durationOf(at(fields, 'maxDuration'), `${path}.maxDuration`),
  };
}

function subjectOf(value: unknown, path: string): Subject {
  const fields = mapping(value, path, ['group', 'user', 'serviceAccount']);
  const [kind, ...others] = Object.keys(fields);
  if (kind === undefined || others.length > 0) {
    throw new PolicyProblem(`${path} is not exactly one of group, user and serviceAccount`);
  }
  const text = name(at(fields, kind), `${path}.${kind}`);
  if (kind === 'group') return { group: text };
  if (kind === 'user') return { user: text };
  if (!SERVICE_ACCOUNT.test(text)) throw new PolicyProblem(`${path}.serviceAccount is not namespace/name`);
  return { serviceAccount: text };
}

function patternOf(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const pattern = name(value, path);
  if (pattern.length > MAX_PATTERN) {
    throw new PolicyProblem(`${path} has more than ${String(MAX_PATTERN)} characters`);
  }
  if (compilePattern(pattern) instanceof CelError) {
    throw new PolicyProblem(`${path} is no regular expression of RE2`);
  }
  return pattern;
}

function durationOf(value: unknown, path: string): number {
  if (value === undefined || value === null) return MAX_DURATION_MS;
  const duration = typeof value === 'string' ? parseDuration(value) : undefined;
  if (duration === undefined) throw new PolicyProblem(`${path} is no duration such as 30m`);
  const milliseconds = Number(duration.nanoseconds / NANOSECONDS_PER_MS);
  if (milliseconds <= 0 || milliseconds > MAX_DURATION_MS) {
    throw new PolicyProblem(`${path} is not between nothing and 1h`);
  }
  return milliseconds;
}

function ruleOf(value: unknown, path: string, roles: ReadonlyMap<string, Role>): PolicyRule {
  const fields = mapping(value, path, ['match', ...ACTIONS]);
  const match = mapping(at(fields, 'match'), `${path}.match`, ['namespaces', 'stages']);
  const globs = (key: string): readonly string[] => names(at(match, key), `${path}.match.${key}`);
  const named = (action: StageAction): readonly string[] => {
    const listed = names(at(fields, action) ?? [], `${path}.${action}`);
    const unknown = listed.find((role) => !roles.has(role));
    if (unknown === undefined) return listed;
    throw new PolicyProblem(`${path}.${action} names ${quote(unknown)}, which is none of roles`);
  };
  return {
    namespaces: globs('namespaces'),
    stages: globs('stages'),
    roles: {
      promote: named('promote'),
      approve: named('approve'),
      rollback: named('rollback'),
      breakGlass: named('breakGlass'),
      admin: named('admin'),
    },
  };
}

/** @param keys all that may be there; left out: any. */
function mapping(value: unknown, path: string, keys?: readonly string[]): ForeignRecord {
  if (!isRecord(value)) throw new PolicyProblem(`${path} is no mapping`);
  const unknown = keys && Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) throw new PolicyProblem(`${path} has the unknown field ${quote(unknown)}`);
  return value;
}

function list(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new PolicyProblem(`${path} is no list`);
  return value;
}

function names(value: unknown, path: string): readonly string[] {
  return list(value, path).map((item, index) => name(item, `${path}[${String(index)}]`));
}

function name(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') throw new PolicyProblem(`${path} is no text`);
  return value;
}
