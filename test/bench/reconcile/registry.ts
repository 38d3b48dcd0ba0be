/** A registry of this machine that has the contracts of the fleet, over plain HTTP. */
import { readContract } from '../../../src/app/contract-reader.ts';
import { packBundle } from '../../../src/registry/pack.ts';
import { contract } from '../../cluster/support/reconcile-objects.ts';
import {
  answer,
  manifestAnswer,
  scriptedRegistry,
  sha256,
  type ScriptedRegistry,
} from '../../support/registry/scripted-registry.ts';

import type { Published } from './fleet.ts';

const TAG = '1.0.0';
const INTERFACE = 'openapi: 3.1.0\ninfo: {title: api, version: 1.0.0}\npaths: {}\n';
const SCHEMA = '{"type":"object","required":["port"],"properties":{"port":{"type":"integer"}}}';

export async function startRegistry(all: readonly Published[]): Promise<ScriptedRegistry> {
  const registry = await scriptedRegistry();
  registry.on('GET /v2/', answer(200));
  for (const one of all) publish(registry, one);
  return registry;
}

function publish(registry: ScriptedRegistry, { repository, isConfigured }: Published): void {
  const more = isConfigured ? 'configurations: [{name: app, required: true, schema: app.json}]\n' : '';
  const files = {
    'pacto.yaml': contract(repository.replaceAll('/', '-'), { more }),
    'api.yaml': INTERFACE,
    ...(isConfigured && { 'app.json': SCHEMA }),
  };
  const bundle = new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
  const { manifest, layer, config } = packBundle(bundle, readContract);
  const base = `/v2/${repository}`;
  for (const name of [TAG, sha256(manifest.bytes)])
    for (const method of ['GET', 'HEAD'])
      registry.on(
        `${method} ${base}/manifests/${name}`,
        manifestAnswer(manifest.bytes, { 'content-type': manifest.mediaType }),
      );
  for (const { digest, bytes } of [layer, config])
    registry.on(`GET ${base}/blobs/${digest}`, answer(200, bytes));
  registry.on(
    `GET ${base}/tags/list`,
    answer(200, JSON.stringify({ name: repository, tags: [TAG] }), { 'content-type': 'application/json' }),
  );
}
