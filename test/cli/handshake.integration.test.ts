import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { shakeHands } from '../../src/cli/handshake.ts';
import { newTestTls, serverPair, testTls } from '../support/tls.ts';
import type { TlsPair } from '../../src/http/certificate.ts';

const servers: Server[] = [];

async function serve({ certPem, keyPem }: TlsPair): Promise<number> {
  const server = createServer({ cert: certPem, key: keyPem }, (socket) => socket.end());
  // The client leaves as soon as it has seen the certificate.
  server.on('tlsClientError', () => undefined);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

describe('a handshake', () => {
  it('trusts a certificate of the bundle, and says until when it is valid', async () => {
    const { pair, ca } = await testTls();
    const port = await serve(pair);
    const answer = await shakeHands({ host: '127.0.0.1', port, bundle: ca });
    expect(answer).toMatchObject({ reached: true, trusted: true, why: '' });
    expect(answer.reached && answer.notAfterMs > Date.now()).toBe(true);
    expect(await shakeHands({ host: 'localhost', port, bundle: ca })).toMatchObject({ trusted: true });
  });

  it('does not trust a certificate of another CA, nor without a bundle', async () => {
    const port = await serve((await testTls()).pair);
    const { ca } = await newTestTls('another CA');
    expect(await shakeHands({ host: '127.0.0.1', port, bundle: ca })).toMatchObject({
      reached: true,
      trusted: false,
      why: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
    expect(await shakeHands({ host: '127.0.0.1', port, bundle: undefined })).toMatchObject({
      trusted: false,
    });
  });

  it('does not trust a certificate for another name', async () => {
    const { authority, ca } = await testTls();
    const port = await serve(await serverPair(authority, { dnsNames: ['gate.example'], ipAddresses: [] }));
    const answer = await shakeHands({ host: '127.0.0.1', port, bundle: ca });
    expect(answer).toMatchObject({ reached: true, trusted: false, why: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('is not reached where nobody listens', async () => {
    const { pair } = await testTls();
    const port = await serve(pair);
    servers.splice(0).forEach((server) => server.close());
    const answer = await shakeHands({ host: '127.0.0.1', port, bundle: undefined });
    expect(answer).toMatchObject({ reached: false, why: expect.stringContaining('ECONNREFUSED') as unknown });
  });
});
