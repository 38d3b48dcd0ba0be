/** `npm run commits`: every commit header of this branch is a Conventional Commit of this project (CONTRIBUTING.md). */
import { execFileSync } from 'node:child_process';

const TYPES = ['feat', 'fix', 'refactor', 'perf', 'test', 'docs', 'chore', 'revert'];
const SCOPES = [
  'policies',
  'webhooks',
  'reconcile',
  'cluster',
  'registry',
  'install',
  'charts',
  'manifests',
  'certs',
  'config',
  'cli',
  'docs',
  'test',
  'bench',
  'ci',
  'deps',
];
const HEADER_LENGTH = 72;
const HEADER = new RegExp(`^(${TYPES.join('|')})(\\((${SCOPES.join('|')})\\))?!?: [^A-Z].*[^.]$`);

const faults = execFileSync('git', ['log', '--no-merges', '--format=%h %s'], { encoding: 'utf8' })
  .split('\n')
  .filter((line) => line !== '')
  .flatMap((line) => {
    const [hash = '', ...words] = line.split(' ');
    const header = words.join(' ');
    if (header.length > HEADER_LENGTH)
      return [
        `${hash}: the header has ${String(header.length)} characters, at most ${String(HEADER_LENGTH)}: ${header}`,
      ];
    return HEADER.test(header)
      ? []
      : [`${hash}: not "type(scope): lower-case imperative" with a known type and scope: ${header}`];
  });
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
