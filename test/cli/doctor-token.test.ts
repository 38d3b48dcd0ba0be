import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { runCommand, type Ran } from './run-command.ts';
import { fakeToken, tokenClaims } from './tokens.ts';

const doctor = (stdin: string, ...argv: string[]): Promise<Ran> =>
  runCommand(['doctor', 'token', ...argv], { stdin });

describe('doctor token, offline', () => {
  it('answers yes for a token that names its node, and says that nothing was verified', async () => {
    const token = fakeToken(tokenClaims({ pod: 'agent-x', node: 'worker-a' }));
    const ran = await doctor(`${token}\n`);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toMatch(/^node claim {2}yes: worker-a\n/);
    expect(ran.out).toContain('the signature was not verified');
    expect(ran.out).toContain('bound to a Pod (agent-x)');
    expect(ran.out).not.toContain(token.slice(0, 20));
  });

  it('answers no with the reasons and next steps', async () => {
    const ran = await doctor(fakeToken(tokenClaims({})), '--output', 'json');
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.out)).toMatchObject({
      nodeClaim: false,
      usable: false,
      verified: false,
      account: 'agents/agent',
      binding: 'none',
      expires: '2026-01-01T01:00:07.000Z',
      reasons: [{ why: expect.stringContaining('bound to no object') as unknown }],
    });
  });

  it('answers no for a token that expired, though it names its node', async () => {
    const clock = new FakeClock();
    await clock.advance(2 * 60 * 60 * 1000);
    const stdin = fakeToken(tokenClaims({ pod: 'p', node: 'worker-a' }));
    const ran = await runCommand(['doctor', 'token', '--offline'], { stdin, clock });
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('node claim  yes: worker-a');
    expect(ran.out).toContain('why not     the token expired at 2026-01-01T01:00:07.000Z');
  });

  it('answers no for a token that is not valid yet', async () => {
    const claims = { ...tokenClaims({ pod: 'p', node: 'worker-a' }), nbf: Date.UTC(2026, 0, 1, 1) / 1000 };
    const ran = await doctor(fakeToken(claims));
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('why not     the token is not valid before 2026-01-01T01:00:00.000Z');
  });

  it('advises nothing that the token rule refuses', async () => {
    for (const claims of [tokenClaims({}), tokenClaims({ pod: 'p' }), tokenClaims({ secret: 's' })]) {
      const { reasons } = JSON.parse((await doctor(fakeToken(claims), '-o', 'json')).out) as {
        reasons: { next: string }[];
      };
      const next = reasons.map((reason) => reason.next).join('\n');
      expect(next).not.toMatch(/create token|bound-object/);
      expect(next).toContain('the token that the kubelet mounts');
    }
  });

  it('marks a node-bound token, which strict settings refuse', async () => {
    const ran = await doctor(fakeToken(tokenClaims({ node: 'worker-a' })));
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('identity.requirePodClaims refuses');
  });

  it('reads the token from a file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pacto-gate-token-'));
    const file = join(directory, 'token');
    await writeFile(file, fakeToken(tokenClaims({ pod: 'p', node: 'n' })));
    expect((await doctor('', '--token-file', file)).code).toBe(0);
    const missing = await doctor('', '--token-file', join(directory, 'none'));
    expect(missing).toMatchObject({ code: 2, out: '' });
    expect(missing.err).toContain('[GATE_INPUT_FILE]');
    await rm(directory, { recursive: true });
  });

  it('could not find out about an opaque token', async () => {
    const ran = await doctor('abcdef.0123456789abcdef', '--offline');
    expect(ran).toMatchObject({ code: 3, out: '' });
    expect(ran.err).not.toContain('abcdef');
  });

  it.each([
    ['nothing', ''],
    ['a header', 'Bearer abc'],
    ['a megabyte', 'a'.repeat(1024 * 1024)],
  ])('refuses %s with code 2 and does not repeat it', async (_name, stdin) => {
    const ran = await doctor(stdin);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err.length).toBeLessThan(200);
    expect(ran.err).not.toContain('abc');
  });

  it('shows control characters of hostile claims as escapes', async () => {
    const claims = tokenClaims({ pod: 'p', node: 'evil\u001b[2J\u202enode' });
    const ran = await doctor(fakeToken(claims));
    expect(ran.out).toContain(String.raw`evil\u001b[2J\u202enode`);
  });
});
