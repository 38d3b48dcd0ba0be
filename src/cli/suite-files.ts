/** Which files are test suites: by name, so that they may lie beside the policies that they are about. */
import { basename } from 'node:path';

/** `suite.yaml`, `replicas.suite.yaml`, and the same as `.yml` and `.json`. */
export function isSuiteFile(file: string): boolean {
  return /^(?:.*\.)?suite\.(?:ya?ml|json)$/i.test(basename(file));
}
