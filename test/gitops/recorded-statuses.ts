/** Every final status that the operator's recordings hold (test/golden/operator). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DIRECTORY = 'test/golden/operator';

export interface RecordedStatus {
  readonly id: string;
  readonly generation: number;
  readonly status: Readonly<Record<string, unknown>> & { readonly contractStatus?: string };
}

export function recordedStatuses(): readonly RecordedStatus[] {
  const files = readdirSync(DIRECTORY).filter((file) => /^scenario-.*\.json$/.test(file));
  return files.flatMap((file) => {
    const scenarios = JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8')) as readonly {
      readonly id: string;
      readonly answer: Omit<RecordedStatus, 'id'>;
    }[];
    return scenarios.map(({ id, answer: { generation, status } }) => ({ id, generation, status }));
  });
}
