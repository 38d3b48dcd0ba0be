/** Findings as SARIF 2.1.0, which code hosts show beside the lines that they are about. */
import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import packageFile from '../../package.json' with { type: 'json' };

export interface SarifResult {
  readonly code: string;
  readonly level: 'error' | 'warning' | 'note';
  readonly message: string;
  /** With `/`, relative where the user gave it so. */
  readonly file: string;
  /** From 1; left out where it is about the whole file. */
  readonly line?: number;
  readonly column?: number;
}

/** @param describe the one sentence that says what a code means. */
export function sarif(
  results: readonly SarifResult[],
  describe: (code: string) => string | undefined,
): unknown {
  const codes = [...new Set(results.map(({ code }) => code))].sort();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'pacto-gate',
            version: packageFile.version,
            rules: codes.map((id) => {
              const text = describe(id);
              return { id, ...(text !== undefined && { shortDescription: { text } }) };
            }),
          },
        },
        results: results.map((result) => ({
          ruleId: result.code,
          ruleIndex: codes.indexOf(result.code),
          level: result.level,
          message: { text: result.message },
          locations: [{ physicalLocation: placeOf(result) }],
        })),
      },
    ],
  };
}

function placeOf({ file, line, column }: SarifResult): unknown {
  return {
    artifactLocation: { uri: uriOf(file) },
    ...(line !== undefined && {
      region: { startLine: line, ...(column !== undefined && { startColumn: column }) },
    }),
  };
}

/** Relative to where the command runs, which viewers take for the root of the sources; a URL of a file elsewhere. */
function uriOf(file: string): string {
  const inside = isAbsolute(file) ? relative('.', file) : file;
  if (inside.startsWith(`..${sep}`) || isAbsolute(inside)) return pathToFileURL(file).href;
  return inside.split(sep).map(encodeURIComponent).join('/');
}
