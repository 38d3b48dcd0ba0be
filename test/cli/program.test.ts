import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageFile from '../../package.json' with { type: 'json' };
import { runCommand } from './run-command.ts';

const COMMANDS = [
  ['serve'],
  ['review'],
  ['certs', 'issue'],
  ['certs', 'inspect'],
  ['doctor', 'token'],
  ['generate', 'webhooks'],
  ['generate', 'rbac'],
  ['preflight'],
  ['validate'],
  ['verdict'],
  ['contract', 'show'],
  ['contract', 'pack'],
  ['contract', 'push'],
  ['version'],
];

describe('what is wrong', () => {
  it.each([[['validate', 'no\u001b[31mfile']], [['validate', '.', '--output', '\u001b[31m']]])(
    'is said without the escapes of a terminal',
    async (argv) => {
      const ran = await runCommand(argv);
      expect(ran.code).toBe(2);
      expect(ran.err).toContain('\\u001b[31m');
      expect(ran.err).not.toContain('\u001b');
      expect(ran.err.endsWith('\n')).toBe(true);
    },
  );
});

describe('help', () => {
  it.each(COMMANDS.map((path) => [path.join(' '), path] as const))(
    'of %s is there in each form',
    async (name, path) => {
      const help = await runCommand([...path, '--help']);
      expect(help).toMatchObject({ code: 0, err: '' });
      expect(help.out).toContain(`Usage: pacto-gate ${name}`);
      expect(help.out).toContain('--output <format>');
      expect(help.out).toContain(
        'Exit codes: 0 ok, 1 the answer is no, 2 usage or input, 3 could not find out\n',
      );
      expect(help.out.includes('Examples:\n  ')).toBe(name !== 'version');
      expect(await runCommand(['help', ...path])).toEqual(help);
    },
  );

  it('of the program lists every command', async () => {
    const { code, out } = await runCommand(['--help']);
    expect(code).toBe(0);
    expect(out).toMatch(/^ {2}--version +print the version/m);
    for (const [first] of COMMANDS) expect(out).toMatch(new RegExp(`^  ${String(first)} `, 'm'));
  });

  it.each(['certs', 'contract', 'doctor', 'generate'])(
    'of the group %s tells the exit codes',
    async (group) => {
      expect((await runCommand([group, '--help'])).out).toContain('Exit codes: 0 ok, 1 ');
    },
  );

  it('goes to standard error with code 2 where no command is given', async () => {
    for (const argv of [[], ['certs']]) {
      const ran = await runCommand(argv);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(ran.err).toContain('Usage: pacto-gate');
    }
  });

  it('shows every configuration key of serve with its default', async () => {
    const { out } = await runCommand(['serve', '--help']);
    expect(out).toContain('--webhooks-port <number>');
    expect(out).toMatch(/\(default:\s+9443\)/);
    // Upstream's are taken, not advertised.
    expect(out).not.toContain('--zap-log-level');
  });
});

describe('wrong usage', () => {
  it.each([
    [['serv'], "unknown command 'serv'", 'Did you mean serve?'],
    [
      ['serve', '--webhook-port', '1'],
      "unknown option '--webhook-port'",
      '(did you mean "--webhooks-port"?)\nsee: pacto-gate serve --help\n',
    ],
    [['version', '--output', 'xml'], "argument 'xml' is invalid", 'text, json, yaml'],
    [['version', 'extra'], 'too many arguments', ''],
    [['certs', 'issues'], "unknown command 'issues'", 'Did you mean issue?'],
    [['review'], "missing required argument 'file'", ''],
  ])('of %j is told with code 2', async (argv, message, hint) => {
    const ran = await runCommand(argv);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/^pacto-gate: /);
    expect(ran.err).toContain(message);
    expect(ran.err).toContain(hint);
  });

  it('never repeats a token that stands where it should not', async () => {
    const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';
    for (const argv of [
      ['doctor', 'token', `--tokn=${token}`],
      ['doctor', token],
      ['doctor', 'token', token],
      ['doctor', 'token', '--output', token],
      ['doctor', 'token', '--token', token],
    ]) {
      const ran = await runCommand(argv);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(ran.err).not.toContain('eyJ');
    }
  });

  it('reports unknown options, missing ones and wrong values at once, with code 2', async () => {
    const ran = await runCommand([
      'generate',
      'webhooks',
      '--servcie=a/b',
      '--identity-pod-lookup',
      'maybe',
      '--xyz',
      'eyJhbGciOiJSUzI1NiJ9',
    ]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err.trimEnd().split('\n')).toEqual([
      'pacto-gate: unknown option \'--servcie\' (did you mean "--service"?)',
      "pacto-gate: unknown option '--xyz'",
      'pacto-gate: need --service or --url',
      'see: pacto-gate generate webhooks --help',
      'pacto-gate: flag --identity-pod-lookup: need auto, always or never, found "maybe" [GATE_CONFIG_INVALID]',
    ]);
    const serve = await runCommand(['serve', '--typo', 'x', '--log-level=loud']);
    expect(serve).toMatchObject({ code: 2, out: '' });
    expect(serve.err).toContain("unknown option '--typo'");
    expect(serve.err).toContain('--log-level: need');
    expect((await runCommand(['serve', 'extra'])).err).toContain('too many arguments: expected 0, found 1');
  });

  it('reports configuration problems one a line, with code 2', async () => {
    const ran = await runCommand(['serve', '--webhooks-port', 'x', '--log-level=loud', '--enable-http2']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err.trimEnd().split('\n')).toEqual([
      'pacto-gate: flag --enable-http2: not offered: API servers call webhooks over HTTP/1.1 [GATE_CONFIG_UPSTREAM]',
      'pacto-gate: flag --webhooks-port: need a whole number from 0 to 65535, found "x" [GATE_CONFIG_INVALID]',
      'pacto-gate: flag --log-level: need trace, debug, info, warn, error, fatal or silent, found "loud" [GATE_CONFIG_INVALID]',
    ]);
  });
});

describe('version', () => {
  it('is the same in each form', async () => {
    const facts = { version: packageFile.version, node: process.versions.node };
    const json = await runCommand(['version', '-o', 'json']);
    expect(JSON.parse(json.out)).toMatchObject(facts);
    expect(parse((await runCommand(['version', '--output=yaml'])).out)).toEqual(JSON.parse(json.out));
    const text = await runCommand(['version']);
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toMatch(
      new RegExp(`^pacto-gate ${facts.version} \\(commit .*, node ${facts.node}, .*\\)\n$`),
    );
    expect(await runCommand(['--version'])).toEqual(text);
  });
});
