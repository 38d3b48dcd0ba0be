/**
 * The import law of docs/architecture.md as a program: `violations()` reads sources and names each breach. It works on
 * the syntax tree, so that a comment or a string cannot trip it and odd spacing cannot hide from it.
 */
import { posix } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

/** Rooms and the other rooms each may import; `leaf` are the files right below src/ that import nothing of ours. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  policies: ['policies'],
  cluster: ['cluster', 'leaf'],
  registry: ['registry', 'leaf'],
  schema: ['schema', 'leaf'],
  http: ['http', 'cluster', 'leaf'],
  reconcile: ['reconcile', 'policies', 'cluster', 'registry', 'schema', 'http', 'leaf'],
  webhooks: ['webhooks', 'policies', 'cluster', 'http', 'leaf'],
  install: ['install', 'policies', 'cluster', 'leaf'],
  leaf: [],
};

/** Files that put the parts together and may import everything: three right below src/, and the folder of the root. */
const COMPOSITION = /^src\/(?:main|handle|app|app\/[a-z-]+)\.ts$/;

/** Packages, for the rooms that are restricted to some (`node:` modules count as packages). */
const MAY_USE: Readonly<Record<string, readonly RegExp[]>> = {
  policies: [/^croner$/, /^re2js$/, /^semver$/, /^yaml$/, /^zod(\/.*)?$/],
  leaf: [/^node:/, /^zod(\/.*)?$/, /^yaml$/, /^pino$/, /^prom-client$/],
};

/** Files that Node starts: the program and its workers. */
const STARTED: ReadonlySet<string> = new Set([
  'src/main.ts',
  'src/schema/schema-worker.ts',
  'src/reconcile/contract-worker.ts',
]);

const GRAB_BAGS = new Set([
  'utils.ts',
  'util.ts',
  'helpers.ts',
  'helper.ts',
  'common.ts',
  'index.ts',
  'types.ts',
]);

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** @param path from the repository's root with `/`, for example `src/webhooks/edge.ts`. */
function roomOf(path: string): string {
  if (COMPOSITION.test(path)) return 'composition';
  const parts = path.split('/');
  return parts.length > 2 ? (parts[1] ?? '') : 'leaf';
}

/** @param files path from the repository's root → source text. @returns one line for each breach, sorted. */
export function violations(files: ReadonlyMap<string, string>): readonly string[] {
  const found: string[] = [];
  for (const [path, source] of files) {
    const program = parseAst(source, { lang: 'ts' }) as unknown as Node;
    for (const breach of [
      ...nameBreaches(path),
      ...importBreaches(path, program),
      ...useBreaches(path, program),
    ]) {
      found.push(`${path}: ${breach}`);
    }
  }
  return found.toSorted();
}

function nameBreaches(path: string): readonly string[] {
  const name = posix.basename(path);
  // One subject, named by the design.
  if (path === 'src/policies/vap/types.ts') return [];
  return GRAB_BAGS.has(name) ? [`a file called ${name} has no subject: name it after what it holds`] : [];
}

function importBreaches(path: string, program: Node): readonly string[] {
  const room = roomOf(path);
  const breaches: string[] = [];
  for (const { specifier, typeOnly } of importsOf(program)) {
    if (specifier.startsWith('.')) {
      const target = posix.normalize(posix.join(posix.dirname(path), specifier));
      if (!target.startsWith('src/')) {
        if (target !== 'package.json') breaches.push(`imports ${target}, which is outside src`);
        continue;
      }
      const breach = roomBreach(room, path, target, typeOnly);
      if (breach !== undefined) breaches.push(breach);
    } else {
      const allowed = MAY_USE[room];
      if (allowed !== undefined && !allowed.some((pattern) => pattern.test(specifier))) {
        breaches.push(`imports ${specifier}, which ${room} may not use`);
      }
    }
  }
  return breaches;
}

function roomBreach(room: string, path: string, target: string, typeOnly: boolean): string | undefined {
  if (room === 'composition' || room === 'cli') return undefined;
  const allowed = MAY_IMPORT[room];
  if (allowed === undefined) return `is in room ${room}, which the law does not know`;
  if (target === 'src/cluster/objects.ts' && room === 'policies') {
    return typeOnly ? undefined : `imports ${target} for values, types only are allowed`;
  }
  const targetRoom = roomOf(target);
  // One concern may take several leaf files: config.ts, config-keys.ts, config-keys-kinds.ts.
  if (room === 'leaf' && targetRoom === 'leaf' && concernOf(path) === concernOf(target)) return undefined;
  if (allowed.includes(targetRoom)) return undefined;
  return room === targetRoom && path === target
    ? undefined
    : `imports ${target}: ${room} may not import ${targetRoom}`;
}

function concernOf(leaf: string): string {
  return leaf.replace(/(?:-[a-z-]+)?\.ts$/, '');
}

function importsOf(program: Node): readonly Import[] {
  const imports: Import[] = [];
  walk(program, (node) => {
    if (
      node.type === 'ImportDeclaration' ||
      node.type === 'ExportNamedDeclaration' ||
      node.type === 'ExportAllDeclaration'
    ) {
      const specifier = literalOf(node['source']);
      const typeOnly = node['importKind'] === 'type' || node['exportKind'] === 'type';
      if (specifier !== undefined) imports.push({ specifier, typeOnly });
    } else if (node.type === 'ImportExpression') {
      const specifier = literalOf(node['source']);
      // A computed import cannot be checked: name it so that no room allows it.
      imports.push({ specifier: specifier ?? '(computed)', typeOnly: false });
    } else if (node.type === 'TSImportType') {
      const specifier = literalOf(node['source']);
      if (specifier !== undefined) imports.push({ specifier, typeOnly: true });
    }
  });
  return imports;
}

/** Uses that one file alone is allowed, and state or work at module level. */
function useBreaches(path: string, program: Node): readonly string[] {
  const breaches: string[] = [];
  walk(program, (node) => {
    if (node.type === 'ExportAllDeclaration') breaches.push('re-exports a whole file (no barrels)');
    if (node.type === 'NewExpression' && nameOf(node['callee']) === 'Date' && isEmpty(node['arguments'])) {
      if (path !== 'src/clock.ts') breaches.push('reads the time with new Date(): take it from the Clock');
    }
    if (node.type !== 'MemberExpression') return;
    const member = `${nameOf(node['object'])}.${nameOf(node['property'])}`;
    if (member === 'process.env' && path !== 'src/config.ts')
      breaches.push('reads process.env: only config.ts may');
    if (['Date.now', 'performance.now', 'process.hrtime'].includes(member) && path !== 'src/clock.ts') {
      breaches.push(`reads the time with ${member}: take it from the Clock`);
    }
    if (['process.exit', 'process.exitCode'].includes(member) && path !== 'src/main.ts') {
      breaches.push(`uses ${member}: only main.ts may`);
    }
    if (path.startsWith('src/policies/') && ['Math.random', 'crypto.randomUUID'].includes(member)) {
      breaches.push(`uses ${member}: policies are pure`);
    }
    if (path.startsWith('src/policies/') && nameOf(node['object']) === 'process')
      breaches.push(`uses ${member}: policies are pure`);
  });
  for (const statement of program['body'] as readonly Node[])
    breaches.push(...topLevelBreaches(path, statement));
  return breaches;
}

function topLevelBreaches(path: string, statement: Node): readonly string[] {
  if (STARTED.has(path)) return [];
  const declaration = (statement['declaration'] as Node | null | undefined) ?? statement;
  if (declaration.type === 'VariableDeclaration' && declaration['kind'] !== 'const') {
    return ['has a module-level variable: state belongs to what a function makes'];
  }
  if (statement.type === 'ExpressionStatement') return ['does work at import'];
  return [];
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(node)) {
    for (const child of node) walk(child, visit);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && typeof node.type === 'string') visit(node as Node);
  for (const child of Object.values(node)) walk(child, visit);
}

function literalOf(node: unknown): string | undefined {
  const value = (node as Node | null | undefined)?.['value'];
  return typeof value === 'string' ? value : undefined;
}

function nameOf(node: unknown): string {
  const { name, value } = (node ?? {}) as { readonly name?: unknown; readonly value?: unknown };
  return typeof name === 'string' ? name : typeof value === 'string' ? value : '';
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}
