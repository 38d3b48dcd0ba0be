import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../../src/reconcile/observe/wire-words.ts';

const SETTINGS = Buffer.from([0, 0, 12, 4, 0, 0, 0, 0, 0]);

describe('the first words of a server', () => {
  it.each<[string, string | Buffer, unknown]>([
    ['an answer of HTTP/1.1', 'HTTP/1.1 400 Bad Request\r\n', { of: 'http1', status: 400 }],
    ['an answer of HTTP/1.0', 'HTTP/1.0 200\r\n', { of: 'http1', status: 200 }],
    ['settings of HTTP/2', SETTINGS, { of: 'http2' }],
    ['an alert of TLS', Buffer.from([0x15, 3, 3, 0, 2, 2, 10]), { of: 'tls' }],
    ['a greeting of TLS', Buffer.from([0x16, 3, 3, 0, 80]), { of: 'tls' }],
    ['SMTP', '220 mail.test ESMTP\r\n', { of: 'other' }],
    ['FTP', '220-Welcome\r\n220 ready\r\n', { of: 'other' }],
    ['SSH', 'SSH-2.0-OpenSSH_9.6\r\n', { of: 'other' }],
    ['Redis', "-ERR unknown command 'PRI', with args beginning with: '*' \r\n", { of: 'other' }],
    ['Redis with a password', '-NOAUTH Authentication required.\r\n', { of: 'other' }],
    ['IMAP', '* OK [CAPABILITY IMAP4rev1] ready\r\n', { of: 'other' }],
    ['POP3', '+OK POP3 ready\r\n', { of: 'other' }],
    ['AMQP', Buffer.from('AMQP\u0000\u0000\u0009\u0001'), { of: 'other' }],
    ['NATS', 'INFO {"server_id":"x"}\r\n', { of: 'other' }],
    ['VNC', 'RFB 003.008\n', { of: 'other' }],
    ['MySQL', Buffer.from('J\u0000\u0000\u0000\u000a8.0.36\u0000\u0008', 'latin1'), { of: 'other' }],
    [
      'MariaDB',
      Buffer.from('J\u0000\u0000\u0000\u000a5.5.5-10.6.4-MariaDB\u0000', 'latin1'),
      { of: 'other' },
    ],
  ])('%s', (_what, said, wanted) => {
    expect(wordsOf(Buffer.from(said))).toEqual(wanted);
  });

  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['half a status line', 'HTTP/1.1 20'],
    ['HTTP of the future', 'HTTP/3.0 200 OK\r\n'],
    ['a page without a head', '<!DOCTYPE html><title>400</title>'],
    ['half a frame', SETTINGS.subarray(0, 8)],
    ['settings that acknowledge', Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0])],
    ['settings of a stream', Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 1])],
    ['settings of an odd length', Buffer.from([0, 0, 5, 4, 0, 0, 0, 0, 0])],
    ['a frame of another type', Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0])],
    ['an error without a name', '-ERR no\r\n'],
    ['a good answer without a name', '+OK\r\n'],
    ['a code without a line', '220'],
    ['a packet of another version', Buffer.from('J\u0000\u0000\u0000\u00098.0\u0000', 'latin1')],
    ['a packet without a version', Buffer.from('J\u0000\u0000\u0000\u000aabc\u0000', 'latin1')],
    ['a name and letters', 'AMQPLAIN'],
    ['zeros', Buffer.alloc(512)],
  ])('%s: unknown', (_what, said) => {
    expect(wordsOf(Buffer.from(said))).toBeUndefined();
  });
});
