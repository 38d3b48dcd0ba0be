import { describe, expect, it } from 'vitest';

import { NamedFormatValue, namedFormatLibrary } from '../../../src/policies/cel/libraries/named-format.ts';
import { Optional } from '../../../src/policies/cel/values.ts';
import { callOverload, costOfOverload, printed } from './support/overload.ts';

const LABEL_1123 =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

function format(name: string): NamedFormatValue {
  const named = callOverload(namedFormatLibrary, 'format-named', name);
  if (!(named instanceof Optional) || !(named.value instanceof NamedFormatValue)) throw new Error(name);
  return named.value;
}

function faults(name: string, text: string): unknown {
  return (callOverload(namedFormatLibrary, 'format-validate', format(name), text) as Optional).value;
}

describe('named formats', () => {
  it.each([
    ['dns1123Label', 'a-b'],
    ['dns1123Label', 'a'.repeat(63)],
    ['dns1123Subdomain', 'a.b-c.0'],
    ['dns1035Label', 'a0'],
    ['qualifiedName', 'a.b/C_d'],
    ['labelValue', ''],
    ['dns1123LabelPrefix', 'a-'],
    // The character before the hyphen is not looked at.
    ['dns1123LabelPrefix', 'aA-'],
    ['dns1123SubdomainPrefix', 'a.-'],
    ['uri', '/a'],
    ['uuid', '123E4567E89B12D3A456426614174000'],
    ['byte', 'aGVsbG8='],
    ['date', '2000-02-29'],
    ['date', '0000-12-31'],
    ['datetime', '2024-01-31t23:59:59.5+99:99'],
    ['datetime', '2024-01-31T00:00:00ZT'],
    ['datetime', '2024-01-31T00:00:00😀5z'],
  ])('%s admits %j', (name, text) => {
    expect(faults(name, text)).toBeUndefined();
  });

  it.each([
    ['dns1123Label', 'A', [LABEL_1123]],
    ['dns1123Label', 'a.b', ['must not contain dots']],
    ['dns1123Label', 'a'.repeat(64), ['must be no more than 63 characters']],
    ['dns1123Label', 'é'.repeat(32), ['must be no more than 63 characters', LABEL_1123]],
    ['dns1123LabelPrefix', '-', [LABEL_1123]],
    ['dns1123LabelPrefix', 'aé-', [LABEL_1123]],
    ['dns1123Subdomain', 'a'.repeat(254), ['must be no more than 253 characters']],
    ['dns1035Label', '0a', [LABEL_1035]],
    ['qualifiedName', '/', ['prefix part must be non-empty', 'name part must be non-empty', NAME_PART]],
    ['qualifiedName', `${'a'.repeat(254)}/b`, ['prefix part must be no more than 253 bytes']],
    ['qualifiedName', 'a'.repeat(64), ['name part must be no more than 63 bytes']],
    ['labelValue', 'a'.repeat(64), ['must be no more than 63 bytes']],
    ['uri', 'a', ['parse "a": invalid URI for request']],
    ['uuid', '123e4567', ['does not match the UUID format']],
    ['byte', '', ['invalid base64']],
    ['byte', 'aGVsbG8', ['invalid base64']],
    ['date', '1900-02-29', ['invalid date']],
    ['date', '2024-04-31', ['invalid date']],
    ['date', '2024-00-01', ['invalid date']],
    ['date', '2024-1-01', ['invalid date']],
    ['datetime', '2024-01-31', ['invalid datetime']],
    ['datetime', '2024-01-31T24:00:00Z', ['invalid datetime']],
    ['datetime', '2024-01-31T00:00:00', ['invalid datetime']],
  ])('%s refuses %j', (name, text, expected) => {
    expect(faults(name, text)).toEqual(expected);
  });

  it('knows each format by a function of its own, and no other name', () => {
    expect(printed(callOverload(namedFormatLibrary, 'format.dns1035Label'))).toBe('DNS1035Label');
    expect(callOverload(namedFormatLibrary, 'format-named', 'constructor')).toEqual(new Optional(undefined));
    expect(format('uuid').equals(format('uuid'))).toBe(true);
    expect(format('uuid').equals(format('uri'))).toBe(false);
    expect(format('uuid').equals('uuid')).toBeUndefined();
  });

  it.each([
    ['dns1123Label', 8],
    ['qualifiedName', 15],
    ['labelValue', 10],
    ['uri', 276],
    ['uuid', 18],
    ['byte', 21],
    ['date', 18],
  ])('%s costs %i by the length of its expression', (name, cost) => {
    const facts = { overloadId: 'format-validate', args: [format(name), 'abc'], result: null };
    expect(costOfOverload(namedFormatLibrary, facts)).toBe(cost);
    expect(costOfOverload(namedFormatLibrary, { ...facts, args: [null, 'abc'] })).toBe(1);
  });
});
