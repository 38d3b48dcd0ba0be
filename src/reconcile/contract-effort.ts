/** How long reading a contract may take, judged before it is read. */
import { CONTRACT_FILE } from '../policies/contract/bundle-files.ts';
import type { ContractJob } from './contract-reading.ts';

/** Nearly every contract is smaller. */
const QUICK_BYTES = 16 * 1024;
/** Of values and lines: 400 lines of a contract have some 900. Each may take ten microseconds. */
const QUICK_MARKS = 2_000;
/** Of other files, which are read as JSON: some hundred times as fast. */
const QUICK_OTHER_BYTES = 256 * 1024;

const NEWLINE = 0x0a;
const AMPERSAND = 0x26;
const ASTERISK = 0x2a;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;

/**
 * Whether it takes some milliseconds, whatever is in it. The files of its interfaces are read as well, as YAML or JSON
 * (contract.md §3.3.2), so that the smallest contract may take as long as the largest.
 */
export function isQuick({ text, files }: Pick<ContractJob, 'text' | 'files'>): boolean {
  const yaml = [text];
  let otherBytes = 0;
  for (const [name, content] of files ?? []) {
    if (name === CONTRACT_FILE) continue;
    if (/\.ya?ml$/i.test(name)) yaml.push(content);
    else otherBytes += content.length;
  }
  const yamlBytes = yaml.reduce((sum, { length }) => sum + length, 0);
  return yamlBytes <= QUICK_BYTES && otherBytes <= QUICK_OTHER_BYTES && isPlain(yaml);
}

/** Few values, and no aliases, by which few bytes stand for many. */
function isPlain(texts: readonly Uint8Array[]): boolean {
  let marks = 0;
  for (const text of texts) {
    let hasAnchor = false;
    for (const byte of text) {
      if (byte === AMPERSAND) hasAnchor = true;
      else if (byte === ASTERISK && hasAnchor) return false;
      else if (
        byte === NEWLINE ||
        byte === COMMA ||
        byte === COLON ||
        byte === OPEN_BRACKET ||
        byte === OPEN_BRACE
      )
        marks += 1;
    }
  }
  return marks <= QUICK_MARKS;
}
