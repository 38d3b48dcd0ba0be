/** What ajv's own keywords do differently here. */
import { _, type Ajv, type CodeKeywordDefinition, type KeywordErrorDefinition } from 'ajv';
import names from 'ajv/dist/compile/names.js';
import { areUnique } from './unique-items.ts';

/** Keywords that fail because schemas below them failed, whose errors stand right before theirs. */
const WITH_CHILDREN = ['anyOf', 'oneOf', 'contains'] as const;

/** @param ajv fresh: its keyword definitions are its own copies, and are changed. */
export function adaptKeywords(ajv: Ajv): void {
  for (const keyword of WITH_CHILDREN) {
    const definition = definitionOf(ajv, keyword);
    if (definition?.error !== undefined) definition.error = countingChildren(definition.error);
  }
  const unique = definitionOf(ajv, 'uniqueItems');
  if (unique !== undefined) {
    unique.error = { message: '' };
    unique.code = (cxt) => {
      if (cxt.schema !== true) return;
      const check = cxt.gen.scopeValue('func', { ref: areUnique, code: _`areUnique` });
      cxt.pass(_`${check}(${cxt.data})`);
    };
  }
}

function definitionOf(ajv: Ajv, keyword: string): CodeKeywordDefinition | undefined {
  const rule = ajv.RULES.all[keyword];
  return typeof rule === 'object' && 'code' in rule.definition ? rule.definition : undefined;
}

/** Adds to the parameters of an error how many errors right before it are its children's. */
function countingChildren(error: KeywordErrorDefinition): KeywordErrorDefinition {
  return {
    ...error,
    params: (cxt) => {
      const own = typeof error.params === 'function' ? error.params(cxt) : (error.params ?? _`{}`);
      return _`{...${own}, children: ${names.default.errors} - ${cxt.errsCount ?? _`0`}}`;
    },
  };
}
