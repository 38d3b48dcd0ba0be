/** Objects for `kubectl apply`: a stream of YAML documents, or one JSON object. */
import { show, toYaml, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * @param documents at least one
 * @param header stands before the text for a person, each line with a `#`
 */
export async function showDocuments(
  around: Pick<Surroundings, 'stdout'>,
  format: OutputFormat,
  documents: readonly object[],
  header: string,
): Promise<void> {
  const [only] = documents;
  if (format === 'json') {
    const list = { apiVersion: 'v1', kind: 'List', items: documents };
    await show(around, format, documents.length === 1 ? only : list, '');
    return;
  }
  const texts = await Promise.all(documents.map(async (one) => (await toYaml(one)).trimEnd()));
  await show(around, 'text', undefined, `${format === 'text' ? header : ''}${texts.join('\n---\n')}`);
}
