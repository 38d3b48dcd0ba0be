/** What ajv's own keywords do differently here. */
import {
  _,
  Name,
  type Ajv,
  type CodeKeywordDefinition,
  type KeywordCxt,
  type KeywordErrorDefinition,
} from 'ajv';
import { areEqual, isAmong } from './equal-values.ts';
import { isMultipleOf } from './multiple-of.ts';
import { areUnique } from './unique-items.ts';

/** Keywords that fail because schemas below them failed, whose errors stand right before theirs. */
const WITH_CHILDREN = ['anyOf', 'oneOf', 'contains'] as const;

/** @param ajv fresh: its keyword definitions are its own copies, and are changed. */
export function adaptKeywords(ajv: Ajv): void {
  for (const keyword of WITH_CHILDREN) {
    const definition = definitionOf(ajv, keyword);
    if (definition?.error !== undefined) definition.error = countingChildren(definition.error);
  }
  const condition = definitionOf(ajv, 'if');
  if (condition !== undefined) condition.code = countingIfOnlyWhereItFits(condition.code);
  const unevaluated = definitionOf(ajv, 'unevaluatedItems');
  if (unevaluated !== undefined) unevaluated.code = countingFromZero(unevaluated.code);
  const unique = definitionOf(ajv, 'uniqueItems');
  if (unique !== undefined) {
    unique.error = { message: '' };
    unique.code = (cxt) => {
      if (cxt.schema !== true) return;
      const check = cxt.gen.scopeValue('func', { ref: areUnique, code: _`areUnique` });
      cxt.pass(_`${check}(${cxt.data})`);
    };
  }
  passIf(ajv, 'const', areEqual);
  passIf(ajv, 'enum', isAmong);
  passIf(ajv, 'multipleOf', isMultipleOf);
}

/** Lets a keyword hold where a function of the value and of what the schema says does. */
function passIf(ajv: Ajv, keyword: string, holds: (value: never, wanted: never) => boolean): void {
  const definition = definitionOf(ajv, keyword);
  if (definition === undefined) return;
  definition.code = (cxt) => {
    const check = cxt.gen.scopeValue('func', { ref: holds });
    cxt.pass(_`${check}(${cxt.data}, ${cxt.schemaCode})`);
  };
}

function definitionOf(ajv: Ajv, keyword: string): CodeKeywordDefinition | undefined {
  const rule = ajv.RULES.all[keyword];
  return typeof rule === 'object' && 'code' in rule.definition ? rule.definition : undefined;
}

/** What `if` looked at counts as evaluated only where it fits; to ajv it always does. */
function countingIfOnlyWhereItFits(code: CodeKeywordDefinition['code']): CodeKeywordDefinition['code'] {
  return (cxt: KeywordCxt, ruleType) => {
    const subschema = cxt.subschema.bind(cxt);
    const mergeEvaluated = cxt.mergeEvaluated.bind(cxt);
    let fits: Name | undefined;
    cxt.subschema = (applied, valid) => {
      if (applied.keyword === 'if') fits = valid;
      return subschema(applied, valid);
    };
    cxt.mergeEvaluated = (schema, toName) => {
      if (toName === undefined && fits !== undefined) cxt.mergeValidEvaluated(schema, fits);
      else mergeEvaluated(schema, toName);
    };
    code(cxt, ruleType);
  };
}

/** ajv's count of evaluated items is undefined, and everything passes, where no branch that counts was taken. */
function countingFromZero(code: CodeKeywordDefinition['code']): CodeKeywordDefinition['code'] {
  return (cxt: KeywordCxt, ruleType) => {
    const { gen, it } = cxt;
    if (it.items instanceof Name) it.items = gen.const('items', _`${it.items} ?? 0`);
    code(cxt, ruleType);
  };
}

/** Adds to the parameters of an error how many errors right before it are its children's. */
function countingChildren(error: KeywordErrorDefinition): KeywordErrorDefinition {
  return {
    ...error,
    params: (cxt) => {
      const own = typeof error.params === 'function' ? error.params(cxt) : (error.params ?? _`{}`);
      // `errors` is how the generated code counts what it found.
      return _`{...${own}, children: errors - ${cxt.errsCount ?? _`0`}}`;
    },
  };
}
