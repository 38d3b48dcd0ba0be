/**
 * `node scripts/openapi.ts`: takes the OpenAPI documents of the API server 1.36.3 that `npm run controlplane` builds
 * and keeps what types come from, which fields it fills in and which it demands, in src/cli/openapi-1.36.json.br, where `pacto-gate lint` finds it.
 */
import { writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';

import {
  kindText,
  pruneSchema,
  type OpenApiSchema,
  type OpenApiTypes,
  type ServedResource,
} from '../src/policies/vap/openapi-schema.ts';
import { withFilledIn } from './present-fields.ts';
import { startControlPlane, type ControlPlane } from '../test/cluster/support/control-plane.ts';

const FILE = 'src/cli/openapi-1.36.json.br';
/** Larger data is not kept in the repository. */
const MAX_BYTES = 1_000_000;

interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly {
    readonly name: string;
    readonly singularName: string;
    readonly kind: string;
    readonly namespaced: boolean;
  }[];
}

interface Document {
  readonly components: { readonly schemas?: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
}

interface PublishedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const plane = await startControlPlane({ version: '1.36', disableAdmissionPlugins: [] });
try {
  await plane.apply([
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } },
  ]);
  const types = await withFilledIn(await typesOf(plane), async (object) => {
    const created = await plane.kubectl(['create', '--dry-run=server', '-o', 'json', '-f', '-'], {
      stdin: JSON.stringify(object),
    });
    if (created.code !== 0) return { refusal: created.stderr };
    return JSON.parse(created.stdout) as Readonly<Record<string, unknown>>;
  });
  const bytes = brotliCompressSync(JSON.stringify(types), {
    params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
  });
  if (bytes.length > MAX_BYTES) throw new Error(`${FILE} would have ${String(bytes.length)} bytes`);
  writeFileSync(FILE, bytes);
  const counts = `${String(types.resources.length)} resources, ${String(Object.keys(types.schemas).length)} schemas`;
  console.log(`${FILE}: ${counts}, ${String(bytes.length)} bytes`);
} finally {
  await plane.stop();
}

async function typesOf(server: ControlPlane): Promise<OpenApiTypes> {
  const index = await get<{ readonly paths: Readonly<Record<string, unknown>> }>(server, '/openapi/v3');
  const resources: ServedResource[] = [];
  const schemas: Record<string, OpenApiSchema> = {};
  const kinds: Record<string, string> = {};
  for (const path of Object.keys(index.paths).sort()) {
    if (!/^(?:api|apis\/[^/]+)\/v[^/]+$/.test(path)) continue;
    resources.push(...servedResources(await get<ResourceList>(server, `/${path}`)));
    const { components } = await get<Document>(server, `/openapi/v3/${path}`);
    for (const [name, schema] of Object.entries(components.schemas ?? {})) {
      schemas[name] = pruneSchema(schema);
      const published = (schema['x-kubernetes-group-version-kind'] ?? []) as readonly PublishedKind[];
      for (const kind of published) kinds[kindText(kind)] = name;
    }
  }
  const served = new Set(resources.map(kindText));
  const needed = Object.entries(kinds).filter(([kind]) => served.has(kind));
  return {
    resources,
    schemas: reachable(
      schemas,
      needed.map(([, name]) => name),
    ),
    kinds: Object.fromEntries(needed),
  };
}

async function get<T>(server: ControlPlane, path: string): Promise<T> {
  const { code, stdout, stderr } = await server.kubectl(['get', '--raw', path]);
  if (code !== 0) throw new Error(`cannot read ${path}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

function servedResources({ groupVersion, resources }: ResourceList): ServedResource[] {
  const [group, version] = groupVersion.includes('/')
    ? [groupVersion.slice(0, groupVersion.indexOf('/')), groupVersion.slice(groupVersion.indexOf('/') + 1)]
    : ['', groupVersion];
  return resources
    .filter(({ name }) => !name.includes('/'))
    .map(({ name, singularName, kind, namespaced }) => ({
      group,
      version,
      resource: name,
      singular: singularName,
      kind,
      namespaced,
    }));
}

/** The schemas that others lead to from these. */
function reachable(
  schemas: Readonly<Record<string, OpenApiSchema>>,
  roots: readonly string[],
): Readonly<Record<string, OpenApiSchema>> {
  const kept: Record<string, OpenApiSchema> = {};
  const open = [...roots];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const schema = schemas[name];
    if (schema === undefined || Object.hasOwn(kept, name)) continue;
    kept[name] = schema;
    open.push(...refsIn(schema));
  }
  return Object.fromEntries(Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function refsIn({ ref, properties = {}, additionalProperties, items }: OpenApiSchema): readonly string[] {
  const inner = [...Object.values(properties), additionalProperties ?? {}, items ?? {}];
  return [...(ref === undefined ? [] : [ref]), ...inner.flatMap((one) => (isEmpty(one) ? [] : refsIn(one)))];
}

function isEmpty(schema: OpenApiSchema): boolean {
  return Object.keys(schema).length === 0;
}
