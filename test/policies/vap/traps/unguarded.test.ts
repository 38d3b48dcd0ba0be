import { describe, expect, it } from 'vitest';
import { unguardedTraps } from '../../../../src/policies/vap/traps/unguarded.ts';
import { rule } from '../support.ts';
import { DEPLOYMENTS, LISTS, PODS, policyOf, short, subject, traps, TYPES } from './support.ts';

const ALL = rule({ apiGroups: ['apps'], resources: ['deployments'], operations: ['*'] });
const BOTH = [DEPLOYMENTS, PODS];
const CRON = rule({ apiGroups: ['batch'], resources: ['cronjobs'], operations: ['CREATE'] });
const POD = 'object.spec.template.spec';

describe('fields that may be absent', () => {
  it.each([
    ['an optional field', 'object.spec.paused == true', 'FIELD object.spec.paused'],
    ['one behind an optional field', `${POD}.affinity.nodeAffinity != null`, `FIELD ${POD}.affinity`],
    ['by its name in brackets', "object.spec['paused'] == true", 'FIELD object.spec["paused"]'],
    ['the range of a loop', `${POD}.volumes.all(v, v.name != '')`, `FIELD ${POD}.volumes`],
    ['of an element', `${POD}.containers.all(c, c.securityContext != null)`, 'FIELD c.securityContext'],
    [
      'of an element that was selected by something else',
      `${POD}.containers.filter(c, has(c.env)).all(d, d.args.size() > 0)`,
      'FIELD d.args',
    ],
    ['of an index', `${POD}.containers[0].env.size() > 0`, `FIELD ${POD}.containers[0].env`],
    [
      'that is looked at in the other branch only',
      'has(object.spec.paused) ? true : object.spec.paused',
      'FIELD object.spec.paused',
    ],
    [
      'tested the wrong way round',
      'has(object.spec.paused) || object.spec.paused',
      'FIELD object.spec.paused',
    ],
    [
      'where one of two tests may do',
      '(has(object.spec.paused) || has(object.spec.minReadySeconds)) && object.spec.paused == true',
      'FIELD object.spec.paused',
    ],
    [
      'below what a test goes through',
      `has(${POD}.securityContext.seccompProfile.type)`,
      `FIELD ${POD}.securityContext.seccompProfile`,
    ],
    [
      'below what two tests go through, one on each side',
      `has(${POD}.affinity.podAffinity) && has(${POD}.affinity.nodeAffinity)`,
      `FIELD ${POD}.affinity`,
    ],
    ['in a message of format', "'%s'.format([object.spec.paused]) != ''", 'FIELD object.spec.paused'],
    ['a label', "object.metadata.labels['a'] == 'b'", 'FIELD object.metadata.labels'],
    [
      'a key of labels that are there',
      "has(object.metadata.labels) && object.metadata.labels['a'] == 'b'",
      'KEY object.metadata.labels["a"]',
    ],
    [
      'another key than the one that was looked for',
      "has(object.metadata.labels) && 'b' in object.metadata.labels && object.metadata.labels.a == 'b'",
      'KEY object.metadata.labels.a',
    ],
    [
      'of a loop variable that hides another',
      `${POD}.containers.all(c, has(c.env) && ${POD}.containers.all(c, c.env.size() > 0))`,
      'FIELD c.env',
    ],
    [
      'of one of two objects',
      `(object.spec.?paused.orValue(false) ? ${POD} : ${POD}).volumes.size() > 0`,
      `FIELD (object.spec.?paused.orValue(false) ? ${POD} : ${POD}).volumes`,
    ],
    [
      'of what may be empty',
      `${POD}.?securityContext.orValue({}).runAsNonRoot == true`,
      `FIELD ${POD}.?securityContext.orValue({}).runAsNonRoot`,
    ],
    [
      'a list that a loop over it or none shows nothing of',
      `${POD}.?volumes.orValue([]).all(v, v.name != '') && ${POD}.volumes.size() > 0`,
      `FIELD ${POD}.volumes`,
    ],
    ['extra of the user', "request.userInfo.extra['a'].size() > 0", 'USER_EXTRA request.userInfo.extra'],
    ['the subresource', "request.subResource == 'scale'", 'REQUEST_FIELD request.subResource'],
  ])('finds %s', (_what, expression, found) => {
    expect(short(traps(expression))).toEqual([found]);
  });

  it.each(LISTS)('knows the elements of %s', (_what, list, good, bad) => {
    const variables = [{ name: 'cs', expression: list }];
    for (const range of [`(${list})`, 'variables.cs']) {
      expect(short(traps(`${range}.all(c, ${good})`, { variables }, BOTH))).toEqual([]);
      const [, field = ''] = /^(c\.\w+)/.exec(bad) ?? [];
      expect(short(traps(`${range}.all(c, ${bad})`, { variables }, BOTH))).toEqual([`FIELD ${field}`]);
      const twice = `${range}.all(c, has(${field})) && ${range}.all(c, ${bad})`;
      expect(short(traps(twice, { variables }, BOTH))).toEqual([]);
    }
  });

  it.each([
    ['a field that is required', `${POD}.containers.size() > 0`],
    ['one that the API server fills in', "object.spec.replicas < 5 && object.metadata.uid != ''"],
    ['one that the API server demands', `${POD}.containers.all(c, c.image != '')`],
    ['one of which nothing is known', 'object.spec.nothing == 1'],
    ['has before', 'has(object.spec.paused) && object.spec.paused'],
    [
      'has behind, which makes up for an error as well',
      'object.spec.paused == true && has(object.spec.paused)',
    ],
    ['has, negated, with ||', '!has(object.spec.paused) || object.spec.paused'],
    ['has, negated twice', '!(!has(object.spec.paused)) && object.spec.paused'],
    ['has, compared', 'has(object.spec.paused) == true && object.spec.paused'],
    ['?:', 'has(object.spec.paused) ? object.spec.paused : true'],
    ['?:, negated', '!has(object.spec.paused) ? true : object.spec.paused'],
    ['a test within ?:', '(has(object.spec.paused) ? object.spec.paused : false) && object.spec.paused'],
    ['tests of each step', `has(${POD}.affinity) && has(${POD}.affinity.nodeAffinity)`],
    ['in', "'paused' in object.spec && object.spec.paused == true"],
    ['an optional', 'object.spec.?paused.orValue(true)'],
    ['a chain that is optional from some step on', `${POD}.?affinity.nodeAffinity.hasValue()`],
    ['hasValue', 'object.spec.?paused.hasValue() && object.spec.paused'],
    ['orValue(false)', 'object.spec.?paused.orValue(false) && object.spec.paused'],
    [
      'a default that is not what came',
      "object.metadata.?labels.a.orValue('') != '' && object.metadata.labels.a == 'x'",
    ],
    ['optMap', 'object.spec.?paused.optMap(p, p == true).orValue(true)'],
    ['orValue of a list', `${POD}.?volumes.orValue([]).all(v, v.name != '')`],
    ['a list or none', `(has(${POD}.volumes) ? ${POD}.volumes : []).all(v, v.name != '')`],
    ['lists put together', `(${POD}.containers + ${POD}.?initContainers.orValue([])).all(c, c.name != '')`],
    [
      'a key that was looked for',
      "'a' in object.metadata.?labels.orValue({}) && object.metadata.labels['a'] == 'b'",
    ],
    [
      'a key that was looked for, by another spelling',
      "has(object.metadata.labels) && has(object.metadata.labels.a) && object.metadata.labels['a'] == 'b'",
    ],
    [
      'a key of a loop',
      "!has(object.metadata.labels) || object.metadata.labels.all(k, object.metadata.labels[k] != '')",
    ],
    [
      'a key of each of some',
      "!has(object.metadata.labels) || ['a', 'b'].all(k, k in object.metadata.labels && object.metadata.labels[k] != '')",
    ],
    [
      'a key of some of a map',
      "!has(object.metadata.labels) || object.metadata.labels.filter(k, k != '').all(k, object.metadata.labels[k] != '')",
    ],
    [
      'of one of two objects, looked at before',
      `has((object.spec.?paused.orValue(false) ? ${POD} : ${POD}).volumes) && (object.spec.?paused.orValue(false) ? ${POD} : ${POD}).volumes.size() > 0`,
    ],
    [
      'of what may be empty, looked at by another way',
      `has(${POD}.securityContext) && has(${POD}.securityContext.runAsNonRoot) && ${POD}.?securityContext.orValue({}).runAsNonRoot`,
    ],
    ['an element', `${POD}.containers.all(c, has(c.env) && c.env.size() > 0)`],
    ['elements that were selected by it', `${POD}.containers.filter(c, has(c.env)).all(d, d.env.size() > 0)`],
    ['the loop before', `${POD}.containers.all(c, has(c.env)) && ${POD}.containers.all(d, d.env.size() > 0)`],
    [
      'that no element lacks it',
      `!${POD}.containers.exists(c, !has(c.env)) && ${POD}.containers.all(d, d.env.size() > 0)`,
    ],
    ['elements that were made of others', `${POD}.containers.map(c, c.name).all(n, n != '')`],
    [
      'two variables, of which the second is the value',
      `{'a': 1}.all(k, v, v > 0) && ${POD}.containers.all(i, c, c.name != '')`,
    ],
    ['extra', "request.userInfo.?extra[?'a'].hasValue() && request.userInfo.extra['a'].size() > 0"],
  ])('is content with %s', (_what, expression) => {
    expect(short(traps(expression))).toEqual([]);
  });

  it.each([
    ['the kind', "object.kind != 'Pod' || object.spec.containers.size() > 0"],
    ['the kind, among some', "!(object.kind in ['Pod']) || object.spec.containers.size() > 0"],
    [
      'the kind, by a loop',
      "['Deployment', 'Job'].exists(k, k == object.kind) || object.spec.tolerations.size() > 0",
    ],
    ['the resource', "request.resource.resource == 'pods' ? object.spec.serviceAccountName != '' : true"],
    ['the kind, by has', "has(object.spec.template) || object.spec.serviceAccountName != ''"],
  ])('goes through each kind by itself, and knows %s', (_what, expression) => {
    expect(short(traps(expression, {}, BOTH))).toEqual([]);
  });

  it('names the kinds that lack it', () => {
    const [found] = traps('object.metadata.labels.size() > 0', {}, [...BOTH, CRON]);
    expect(found?.message).toContain('which a CronJob, Deployment or Pod may be without');
  });

  it.each([
    [
      'is read through a variable that is used without a test',
      'variables.paused',
      ['FIELD object.spec.paused'],
      'spec.variables[0].expression',
    ],
    [
      'is read through a variable behind a test',
      '!has(object.spec.paused) || variables.paused',
      [],
      undefined,
    ],
    ['is tested by a variable', '!variables.isSet || object.spec.paused', [], undefined],
    ['is read through a variable that nobody uses', 'true', [], undefined],
    [
      'is below a variable',
      'variables.pod.volumes.size() > 0',
      ['FIELD variables.pod.volumes'],
      'spec.validations[0].expression',
    ],
    [
      'is below a variable, and looked at by another way',
      `has(${POD}.volumes) && variables.pod.volumes.size() > 0`,
      [],
      undefined,
    ],
    ['is below a loop over a variable', 'variables.containers.all(c, c.image != "" )', [], undefined],
  ])('knows variables: a field %s', (_what, expression, found, field) => {
    const variables = [
      { name: 'paused', expression: 'object.spec.paused' },
      { name: 'isSet', expression: 'has(object.spec.paused)' },
      { name: 'pod', expression: POD },
      { name: 'containers', expression: 'variables.pod.containers.filter(c, c.name != "")' },
    ];
    const findings = traps(expression, { variables });
    expect(short(findings)).toEqual(found);
    expect(findings[0]?.field).toBe(field);
  });

  it.each([
    ['sees to it', 'has(object.spec.paused)', []],
    ['lets nobody through', 'false', []],
    ['is about something else', 'has(object.spec.minReadySeconds)', ['FIELD object.spec.paused']],
  ])('believes a match condition that %s', (_what, expression, found) => {
    const matchConditions = [{ name: 'a', expression }];
    expect(short(traps('object.spec.paused', { matchConditions }))).toEqual(found);
  });

  it('lets one match condition make up for another, as the API server does', () => {
    const matchConditions = [
      { name: 'a', expression: 'object.spec.paused == true' },
      { name: 'b', expression: 'has(object.spec.paused)' },
    ];
    expect(short(traps('true', { matchConditions }))).toEqual([]);
    expect(short(traps('true', { matchConditions: matchConditions.slice(0, 1) }))).toEqual([
      'FIELD object.spec.paused',
    ]);
  });

  it.each([
    ['object when something is deleted', 'object.metadata.name != ""', ['OBJECT_NULL object.metadata']],
    [
      'oldObject when something is created',
      'oldObject.metadata.name != ""',
      ['OLD_OBJECT_NULL oldObject.metadata'],
    ],
    ['nothing behind null', 'object == null || object.metadata.name != ""', []],
    ['nothing behind has, which is false of null', '!has(object.metadata) || object.metadata.name != ""', []],
    ['nothing behind the operation', "request.operation == 'DELETE' || object.metadata.name != ''", []],
    [
      'nothing behind some operations',
      "!(request.operation in ['CREATE', 'UPDATE']) || object.metadata.name != ''",
      [],
    ],
    [
      'the other one',
      "request.operation == 'DELETE' || oldObject.metadata.name != ''",
      ['OLD_OBJECT_NULL oldObject.metadata'],
    ],
    [
      'nothing of the one that is there',
      "(request.operation == 'DELETE' ? oldObject : object).metadata.name != ''",
      [],
    ],
    ['nothing of a variable that is the one', 'variables.it.metadata.name != ""', []],
    ['nothing where object is compared', 'object == oldObject', []],
  ])('finds %s', (_what, expression, found) => {
    const variables = [{ name: 'it', expression: "request.operation == 'DELETE' ? oldObject : object" }];
    expect(short(traps(expression, { variables }, [ALL]))).toEqual(found);
  });

  it.each([
    [
      'a key of the labels of a namespace',
      "namespaceObject.metadata.labels['a'] == 'b'",
      ['KEY namespaceObject.metadata.labels["a"]'],
    ],
    ['nothing of its name', "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'b'", []],
    [
      'nothing behind a look at the key',
      "'a' in namespaceObject.metadata.labels && namespaceObject.metadata.labels['a'] == 'b'",
      [],
    ],
  ])('finds %s', (_what, expression, found) => {
    expect(short(traps(expression))).toEqual(found);
    // There the whole of it is null.
    expect(short(traps('true', { matchConditions: [{ name: 'a', expression }] }))).toEqual([]);
  });

  it('finds nothing of null where a match condition leaves deletions out', () => {
    const matchConditions = [{ name: 'a', expression: "request.operation != 'DELETE'" }];
    expect(short(traps('object.metadata.name != ""', { matchConditions }, [ALL]))).toEqual([]);
  });

  it.each([
    ['a scale is only updated', 'deployments/scale', 'object.spec.replicas < oldObject.spec.replicas', []],
    ['an eviction is only created', 'pods/eviction', 'object.metadata.name != ""', []],
    [
      'a Pod is connected to, without an old object',
      'pods/exec',
      'oldObject.metadata.name != ""',
      ['OLD_OBJECT_NULL oldObject.metadata'],
    ],
    [
      'a Pod itself is not connected to',
      'pods',
      "request.operation in ['CREATE', 'DELETE'] || oldObject.metadata.name != ''",
      [],
    ],
    ['a subresource has a name', 'pods/exec', "request.subResource == 'exec'", []],
    ['all of them may', 'pods/*', "request.subResource == 'exec'", ['REQUEST_FIELD request.subResource']],
  ])('knows what is done with what: %s', (_what, resource, expression, found) => {
    const of = rule({ apiGroups: ['', 'apps'], resources: [resource], operations: ['*'] });
    expect(short(traps(expression, {}, [of]))).toEqual(found);
  });

  it('knows of an unknown kind its labels alone', () => {
    const unknown = rule({ apiGroups: ['*'], resources: ['*'], operations: ['CREATE'] });
    expect(short(traps('object.spec.anything == 1', {}, [unknown]))).toEqual([]);
    expect(short(traps("object.metadata.labels.a == 'b'", {}, [unknown]))).toEqual([
      'FIELD object.metadata.labels',
    ]);
  });

  it.each([
    [
      'reads what may be absent',
      'true == false',
      'string(object.spec.paused)',
      ['MESSAGE object.spec.paused'],
    ],
    [
      'reads what is there where the validation is false',
      '!has(object.spec.paused)',
      'string(object.spec.paused)',
      [],
    ],
    [
      'reads what the validation fails without',
      'object.spec.paused == true',
      'string(object.spec.paused)',
      ['FIELD object.spec.paused'],
    ],
    ['is never shown', 'true', 'string(object.spec.paused)', []],
    [
      'reads it through a variable',
      'true == false',
      'string(variables.paused)',
      ['MESSAGE object.spec.paused'],
    ],
  ])('knows when messages are shown: one that %s', (_what, expression, messageExpression, found) => {
    const variables = [{ name: 'paused', expression: 'object.spec.paused' }];
    const findings = traps(expression, { variables, validations: [{ expression, messageExpression }] });
    expect(short(findings)).toEqual(found);
  });

  it('says what the failure policy makes of it, and says the same once', () => {
    const twice = policyOf(['object.spec.paused', 'object.spec.paused == true'], { failurePolicy: 'Ignore' });
    const [found, ...others] = unguardedTraps(subject(twice), TYPES);
    expect(others).toEqual([]);
    expect(found?.message).toContain('the failure policy Ignore lets the request pass');
    expect(found?.message).toContain('(also spec.validations[1].expression)');
  });

  it('knows the elements of many lists put together', () => {
    const list = Array.from({ length: 200 }, () => `${POD}.containers`).join(' + ');
    expect(short(traps(`(${list}).all(c, c.env.size() > 0)`))).toEqual(['FIELD c.env']);
  });

  it('is done soon with what would take long', { timeout: 5_000 }, () => {
    const variables = Array.from({ length: 40 }, (_, i) => ({
      name: `v${String(i)}`,
      expression:
        i === 0 ? 'object.spec.paused' : `variables.v${String(i - 1)} || variables.v${String(i - 1)}`,
    }));
    expect(short(traps('variables.v39', { variables })).length).toBeLessThan(2);
  });

  it('ends where lists in lists multiply', { timeout: 30_000 }, () => {
    let expression = 'object.spec.paused';
    for (let i = 0; i < 8; i++)
      expression = `['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].all(x${String(i)}, ${expression} || x${String(i)} == object.kind)`;
    expect(traps(expression).length).toBeLessThan(2);
  });
});
