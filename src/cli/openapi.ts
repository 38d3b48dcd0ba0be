/** The types of Kubernetes 1.36, which `pacto-gate lint` checks policies against (scripts/openapi.ts makes the file). */
import { readFile } from 'node:fs/promises';
import { brotliDecompressSync } from 'node:zlib';

import type { OpenApiTypes } from '../policies/vap/openapi-schema.ts';

const FILE = 'openapi-1.36.json.br';

/**
 * Reads what is delivered with the program.
 *
 * @throws Error of the file system where the file is not beside the program
 */
export async function loadOpenApiTypes(): Promise<OpenApiTypes> {
  const bytes = await readBeside('./').catch(() => readBeside('../'));
  return JSON.parse(brotliDecompressSync(bytes).toString()) as OpenApiTypes;
}

/** A part of the program that is loaded later lies in a folder below it. */
function readBeside(folder: './' | '../'): Promise<Buffer> {
  return readFile(new URL(folder + FILE, import.meta.url));
}
