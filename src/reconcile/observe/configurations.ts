/** Whether a configuration is there and conforms to its schema (operator.md §5.6). Its content leaves this file as two booleans. */
import type { KubeObject } from '../../cluster/objects.ts';
import { bundleFile } from '../../policies/contract/bundle-files.ts';
import type { Configuration } from '../../policies/contract/contract.ts';
import { readJsonInstance, readYamlInstance } from '../../policies/contract/instance-text.ts';
import type { Observation } from '../../policies/observation.ts';
import type { ConfigBinding } from '../target.ts';
import type { Surveyed } from './dimension.ts';
import { attempt, Sightings } from './sighting.ts';

export async function observeConfigurations(surveyed: Surveyed): Promise<readonly Observation[]> {
  const found = await Promise.all(
    surveyed.contract.configurations.map((configuration) => observe(surveyed, configuration)),
  );
  return found.filter((one) => one !== undefined);
}

async function observe(surveyed: Surveyed, configuration: Configuration): Promise<Observation | undefined> {
  const { name, required } = configuration;
  const { target, view, windows, signal } = surveyed;
  const sightings = new Sightings(surveyed, 'ConfigurationPresent', { kind: 'configuration', name });
  const binding = target.configurations.get(name);
  if (binding === undefined) return required ? sightings.unsupported() : undefined;
  if (binding.name === '') return sightings.failed('its binding names no object');
  const at = { namespace: target.namespace, name: binding.name };
  const isSecret = binding.kind === 'Secret';
  const read = await attempt(() => (isSecret ? view.secretMetadata(at) : view.configMap(at)), signal);
  if (!read.ok) return sightings.failed(read.error);
  if (read.value === undefined) {
    return windows.negative('configuration', name)
      ? sightings.observed({ present: false, conformant: false })
      : sightings.insufficient();
  }
  windows.positive('configuration', name);
  // What a Secret holds is never read.
  const conformant = isSecret ? undefined : await conforms(surveyed, configuration, binding, read.value);
  return conformant === undefined
    ? sightings.insufficient()
    : sightings.observed({ present: true, conformant });
}

/** Undefined where that cannot be told. */
async function conforms(
  { files, schemas }: Surveyed,
  { schema, ref }: Configuration,
  { key, format }: ConfigBinding,
  configMap: KubeObject,
): Promise<boolean | undefined> {
  if (schema === undefined || ref !== undefined || files === undefined) return undefined;
  const content = contentOf(configMap, key);
  if (content === undefined) return undefined;
  if (format !== 'yaml' && format !== 'json') return undefined;
  const read = format === 'yaml' ? readYamlInstance(content) : readJsonInstance(content);
  if (read.outcome === 'unreadable') return undefined;
  const file = bundleFile(files, schema);
  if (file === undefined) return undefined;
  const text = Buffer.from(file).toString('utf8');
  // What fits no schema is only wrong where there is one.
  const answer = await (read.outcome === 'value'
    ? schemas.validate(text, read.value)
    : schemas.compile(text));
  if (answer.outcome === 'valid') return read.outcome === 'value';
  return answer.outcome === 'invalid' ? false : undefined;
}

function contentOf({ data }: KubeObject, key: string | undefined): string | undefined {
  if (key === undefined || typeof data !== 'object' || data === null || !Object.hasOwn(data, key))
    return undefined;
  const value = (data as Readonly<Record<string, unknown>>)[key];
  return typeof value === 'string' ? value : undefined;
}
