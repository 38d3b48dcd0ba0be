/**
 * The `yaml` package as it is made for browsers. The one for Node asks `process.env` at every token whether it shall log,
 * and that question takes a third of the time in which it reads a contract.
 */
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

const BROWSER_ENTRY = join(import.meta.dirname, '..', 'node_modules', 'yaml', 'browser', 'index.js');

export const yamlForBrowsers: Plugin = {
  name: 'yaml-for-browsers',
  resolveId: (source) => (source === 'yaml' ? BROWSER_ENTRY : null),
};
