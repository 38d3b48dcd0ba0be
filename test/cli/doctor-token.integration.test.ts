import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { FakeApiServer, sendStatus } from '../support/fake-api-server.ts';
import { runCommand, type Ran } from './run-command.ts';
import { fakeToken, tokenClaims } from './tokens.ts';

const NODE_KEY = 'authentication.kubernetes.io/node-name';

let server: FakeApiServer;
let directory: string;
let review: object;
let minor: number;
let pod: object | undefined;

beforeAll(async () => {
  server = new FakeApiServer();
  await server.start();
  directory = await mkdtemp(join(tmpdir(), 'pacto-gate-doctor-'));
  await writeFile(
    join(directory, 'kubeconfig'),
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      clusters: [{ name: 'c', cluster: { server: server.url } }],
      users: [{ name: 'c', user: { token: 'of-the-operator' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    }),
  );
  server.script((request, response) => {
    const send = (body: object): true => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return true;
    };
    if (request.path === '/version')
      return send({ major: '1', minor: String(minor), gitVersion: `v1.${String(minor)}.3` });
    if (request.path.endsWith('/tokenreviews')) return send({ ...(request.body as object), status: review });
    if (!request.path.includes('/pods/')) return false;
    return pod === undefined ? sendStatus(response, 403, 'Forbidden') : send(pod);
  });
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});
beforeEach(() => {
  minor = 33;
  pod = undefined;
  review = { authenticated: true, user: { username: 'system:serviceaccount:agents:agent', extra: {} } };
});

const doctor = (stdin: string, ...argv: string[]): Promise<Ran> =>
  runCommand(['doctor', 'token', '--kubeconfig', join(directory, 'kubeconfig'), ...argv], {
    stdin,
    clock: systemClock,
  });

describe('doctor token, against an API server', () => {
  const unproved = fakeToken(tokenClaims({ pod: 'agent-x' }));

  it('answers yes where the API server names the node, whatever our clock says of the token', async () => {
    review = { authenticated: true, user: { username: 'u', extra: { [NODE_KEY]: ['worker-a'] } } };
    const ran = await doctor(fakeToken(tokenClaims({ pod: 'agent-x', node: 'worker-a' })));
    expect(ran.code).toBe(0);
    expect(ran.out).toContain('checked     by the API server, v1.33.3');
    expect(ran.out).toContain(`extra keys  ${NODE_KEY}`);
  });

  it('believes the API server and not the token', async () => {
    const ran = await doctor(fakeToken(tokenClaims({ pod: 'agent-x', node: 'forged' })));
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('node claim  no');
    expect(ran.out).toContain('does not pass it on');
  });

  it('answers no for a token that is not accepted, without showing it', async () => {
    review = { authenticated: false, error: `token ${unproved} has expired` };
    const ran = await doctor(unproved);
    expect(ran.code).toBe(1);
    expect(ran.out).toContain('the API server does not accept the token');
    expect(ran.out + ran.err).not.toContain(unproved.slice(0, 30));
  });

  it.each<[string, () => void, RegExp]>([
    ['an old API server', () => (minor = 29), /before 1\.30 .*v1\.29\.3/],
    [
      'a Pod that runs',
      () => (pod = podOn('worker-a', 'uid-of-agent-x')),
      /older than the API server's upgrade/,
    ],
    [
      'a Pod without a node',
      () => (pod = podOn(undefined, 'uid-of-agent-x')),
      /no node when the token was issued/,
    ],
    ['another Pod of the name', () => (pod = podOn('worker-a', 'another')), /bound to is gone/],
    ['a Pod nobody may read', () => undefined, /no node when the token was issued/],
  ])('explains %s', async (_name, arrange, why) => {
    arrange();
    const ran = await doctor(unproved, '--output', 'json');
    expect(ran.code).toBe(1);
    const { reasons } = JSON.parse(ran.out) as { reasons: { why: string }[] };
    expect(reasons[0]?.why).toMatch(why);
  });

  it('asks for the audiences that are named', async () => {
    await doctor(unproved, '--audience', 'a', '--audience', 'b');
    const asked = server.requests.findLast((request) => request.path.endsWith('/tokenreviews'));
    expect(asked?.body).toMatchObject({ spec: { token: unproved, audiences: ['a', 'b'] } });
  });

  it('could not find out where the API server is away', async () => {
    await server.stop();
    const ran = await doctor(unproved);
    await server.start();
    expect(ran).toMatchObject({ code: 3, out: '' });
    expect(ran.err).toContain('[GATE_CLUSTER_UNREACHABLE]');
  });
});

function podOn(nodeName: string | undefined, uid: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'agent-x', namespace: 'agents', uid },
    spec: nodeName === undefined ? {} : { nodeName },
  };
}
