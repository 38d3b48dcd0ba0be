/** Worked examples of contract.md §18.1 and §18.8, by their numbers: what loading and overriding say. */
import { describe, expect, it } from 'vitest';

import { load, readDocument } from '../../../src/policies/contract/load.ts';
import { override } from '../../../src/policies/contract/overrides.ts';
import type { OverrideChanges } from '../../../src/policies/contract/overrides.ts';
import { validateStructure } from '../../../src/policies/contract/structural.ts';

const SERVICE = 'service: {name: cart, version: 1.4.0}\n';
const HEAD = `pactoVersion: "2.0"\n${SERVICE}`;

function layerOne(text: string): readonly string[] {
  return [...new Set(validateStructure(readDocument(text)).map(({ code, path }) => `${code} ${path}`))];
}

describe('loading', () => {
  it('1: takes the smallest contract', () => {
    const loaded = load(HEAD);
    expect(loaded).toMatchObject({
      ok: true,
      contract: { pactoVersion: '2.0', service: { name: 'cart', version: '1.4.0' }, interfaces: [] },
    });
    expect(layerOne(HEAD)).toEqual([]);
  });

  it('2: loads an unquoted version, which layer 1 alone refuses', () => {
    const text = `pactoVersion: 2.0\n${SERVICE}`;
    expect(load(text)).toMatchObject({ ok: true, contract: { pactoVersion: '2.0' } });
    expect(layerOne(text)).toEqual(['UNSUPPORTED_PACTO_VERSION pactoVersion']);
  });

  it('3: refuses an old contract at load, and in layer 1 by its own code', () => {
    const text = `pactoVersion: "1.1"\n${SERVICE}`;
    expect(load(text)).toMatchObject({
      ok: false,
      path: 'pactoVersion',
      reason: 'is "1.1", which is not supported: write pactoVersion: "2.0"',
    });
    expect(layerOne(text)).toEqual(['UNSUPPORTED_PACTO_VERSION pactoVersion']);
  });

  it('4: refuses the withdrawn section at load, and in layer 1 at the root', () => {
    const text = `${HEAD}verification: {conformance: [web]}\n`;
    expect(load(text)).toMatchObject({
      ok: false,
      line: 3,
      reason: expect.stringMatching(/^"verification" is no field here/) as string,
    });
    expect(layerOne(text)).toEqual(['SCHEMA_VIOLATION ']);
  });

  it.each([
    ['1.2', ['SCHEMA_VIOLATION service.version']],
    ['"1.2"', []],
    ['"v1"', []],
    ['"1"', []],
  ])('5: loads the version %s and says so much in layer 1', (version, problems) => {
    const text = `pactoVersion: "2.0"\nservice: {name: cart, version: ${version}}\n`;
    expect(load(text)).toMatchObject({ ok: true });
    expect(layerOne(text)).toEqual(problems);
  });

  it('7: takes yes for true in the typed view alone, and 0 in neither', () => {
    const text = (required: string): string =>
      `${HEAD}dependencies: [{name: pay, ref: ../pay, required: ${required}, compatibility: ^1.0.0}]\n`;
    expect(load(text('yes'))).toMatchObject({ ok: true, contract: { dependencies: [{ required: true }] } });
    expect(layerOne(text('yes'))).toEqual(['SCHEMA_VIOLATION dependencies.0.required']);
    expect(load(text('0'))).toMatchObject({ ok: false, path: 'dependencies[0].required', line: 3 });
  });

  it.each(['policies', 'interfaces', 'dependencies', 'configurations', 'capabilities'])(
    '8: loads an empty list of %s',
    (field) => {
      const text = `${HEAD}${field}: []\n`;
      expect(load(text)).toMatchObject({ ok: true, contract: { [field]: [] } });
      expect(layerOne(text)).toEqual(field === 'policies' ? ['SCHEMA_VIOLATION policies'] : []);
    },
  );
});

describe('overriding', () => {
  const base = readDocument(
    `${HEAD}dependencies: [{name: pay, ref: oci://r.test/pay, required: true, compatibility: ^1.0.0}]\n` +
      'configurations: [{name: app, required: true, schema: cfg.json, values: {A: 1, B: 2}}]\n',
  );

  function changed(changes: Partial<OverrideChanges>): string {
    const result = override(base, { values: [], set: [], ...changes });
    return result.ok ? result.text : `refused: ${result.reason}`;
  }

  function generic(changes: Partial<OverrideChanges>): unknown {
    const view = readDocument(changed(changes)).generic;
    return view.ok ? view.value : view.reason;
  }

  it('98: replaces a list whole, so that fields are gone', () => {
    const values = ['configurations: [{name: app, values: {A: 9}}]\n'];
    expect(generic({ values })).toMatchObject({ configurations: [{ name: 'app', values: { A: 9 } }] });
    expect(layerOne(changed({ values }))).toContain('SCHEMA_VIOLATION configurations.0');
  });

  it('99: sets one value inside a list', () => {
    const set = ['configurations[0].values.A=9'];
    expect(generic({ set })).toMatchObject({ configurations: [{ values: { A: 9, B: 2 } }] });
  });

  it('100: makes a number of 2.0 and a text of 2.0.0', () => {
    expect(layerOne(changed({ set: ['service.version=2.0'] }))).toEqual(['SCHEMA_VIOLATION service.version']);
    expect(layerOne(changed({ set: ['service.version=2.0.0'] }))).toEqual([]);
  });

  it('101: makes false of f, an integer of 0 and a text of no', () => {
    const required = (value: string): string => changed({ set: [`dependencies[0].required=${value}`] });
    expect(load(required('f'))).toMatchObject({
      ok: true,
      contract: { dependencies: [{ required: false }] },
    });
    expect(layerOne(required('f'))).toEqual([]);
    expect(load(required('0'))).toMatchObject({ ok: false });
    expect(load(required('no'))).toMatchObject({
      ok: true,
      contract: { dependencies: [{ required: false }] },
    });
    expect(layerOne(required('no'))).toEqual(['SCHEMA_VIOLATION dependencies.0.required']);
  });

  it('102: refuses an index behind the end, and applies nothing', () => {
    expect(changed({ set: ['service.version=9.9.9', 'dependencies[1].name=x'] })).toBe(
      'refused: --set "dependencies[1].name": index 1 is out of range: "dependencies" has 1 entries',
    );
  });

  it.each([
    ['metadata.q=a=b', { q: 'a=b' }],
    ['metadata.q=', { q: '' }],
    ['metadata.n=007', { n: 7 }],
    ['metadata.n=1e3', { n: 1000 }],
  ])('103: reads %s', (assignment, metadata) => {
    expect(generic({ set: [assignment] })).toMatchObject({ metadata });
  });

  it('104: merges values files deeply and sets on top', () => {
    expect(generic({ values: ['metadata: {a: {x: 1}}\n'], set: ['metadata.a.y=2'] })).toMatchObject({
      metadata: { a: { x: 1, y: 2 } },
    });
  });

  it('105: does not delete by null', () => {
    const values = ['service: {owner: null}\n'];
    expect(generic({ values })).toMatchObject({ service: { name: 'cart', owner: null } });
    expect(layerOne(changed({ values }))).toEqual(['SCHEMA_VIOLATION service.owner']);
  });
});
