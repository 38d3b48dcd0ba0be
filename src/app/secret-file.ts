/** A secret in a file, followed through the swaps of a Kubernetes mount. Its value is never logged. */
import { dirname } from 'node:path';
import type { AppParts } from './parts.ts';
import { readTogether, watchFiles } from '../http/watched-files.ts';

export interface SecretFile {
  /** As it is now, without the line break that editors leave; undefined where no file is named. */
  value(): string | undefined;
  close(): void;
}

/** @throws GateError GATE_TLS_FILE where it cannot be read. */
export async function followSecret(path: string | undefined, { clock, log }: AppParts): Promise<SecretFile> {
  if (path === undefined) return { value: () => undefined, close: () => undefined };
  const first = await readTogether([path]);
  let value = first[0] ?? '';
  const watch = watchFiles({
    paths: [path],
    first,
    directories: [dirname(path)],
    clock,
    take([text = '']) {
      value = text;
      log.info('secret replaced', { file: path });
    },
    onError: (error) => log.error('secret not taken', { err: error }),
  });
  return { value: () => value.replace(/\r?\n$/, ''), close: () => watch.close() };
}
