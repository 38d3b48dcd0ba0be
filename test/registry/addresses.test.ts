import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { AddressGuard, type Origin } from '../../src/registry/address-guard.ts';
import { AddressKinds, AddressSet, isAddressRange, plainAddress } from '../../src/registry/addresses.ts';
import { lookupOf } from '../support/registry/scripted-client.ts';

const kinds = new AddressKinds();

describe('an address', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['172.32.0.1', 'public'],
    ['100.63.255.255', 'public'],
    ['2606:4700::1', 'public'],
    ['64:ff9b::808:808', 'public'],
    ['::ffff:8.8.8.8', 'public'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd12::1', 'private'],
    ['::ffff:10.1.2.3', 'private'],
    ['64:ff9b::10.1.2.3', 'private'],
    ['127.0.0.1', 'inner'],
    ['127.255.255.254', 'inner'],
    ['0.0.0.0', 'inner'],
    ['169.254.169.254', 'inner'],
    ['100.100.100.200', 'inner'],
    ['168.63.129.16', 'inner'],
    ['192.0.0.192', 'inner'],
    ['224.0.0.1', 'inner'],
    ['255.255.255.255', 'inner'],
    ['::', 'inner'],
    ['::1', 'inner'],
    ['::127.0.0.1', 'inner'],
    ['::ffff:127.0.0.1', 'inner'],
    ['::ffff:7f00:1', 'inner'],
    ['0:0:0:0:0:ffff:a9fe:a9fe', 'inner'],
    ['64:ff9b::a9fe:a9fe', 'inner'],
    ['64:ff9b:1::7f00:1', 'inner'],
    ['64:ff9b:1:fffe::8.8.8.8', 'public'],
    ['64:ff9b:1:fffe::10.1.2.3', 'private'],
    ['64:ff9b:1:a9fe:a9:fe00::', 'inner'],
    ['64:ff9b:1:a9fe:a9:fe00:808:808', 'inner'],
    ['::ffff:0:8.8.8.8', 'public'],
    ['::ffff:0:10.1.2.3', 'private'],
    ['::ffff:0:127.0.0.1', 'inner'],
    ['::ffff:0:a9fe:a9fe', 'inner'],
    ['2002:7f00:1::', 'inner'],
    ['fe80::1%eth0', 'inner'],
    ['fec0::1', 'inner'],
    ['ff02::1', 'inner'],
    ['fd00:ec2::254', 'inner'],
    ['fd20:ce::254', 'inner'],
  ])('%s is %s', (address, kind) => {
    expect(kinds.of(plainAddress(address))).toBe(kind);
  });

  it.each([
    ['10.0.0.0/8', true],
    ['10.0.0.1', true],
    ['::/0', true],
    ['fd00::/129', false],
    ['10.0.0.0/33', false],
    ['10.0.0.0/', false],
    ['10.0.0.0/8/8', false],
    ['10.0.0/8', false],
    ['registry.test', false],
  ])('%s may be in a list: %s', (text, isOne) => {
    expect(isAddressRange(text)).toBe(isOne);
  });

  it('is in a set by its leading bits', () => {
    const set = new AddressSet(['10.0.0.0/8', '::1']);
    expect(['10.255.0.1', '11.0.0.1', '::1', '::2'].map((one) => set.has(one))).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});

describe('the guard', () => {
  function guardOf(allowAddresses: readonly string[] = []): {
    readonly guard: AddressGuard;
    readonly look: (host: string, origin: Origin, all?: boolean) => Promise<unknown>;
  } {
    const guard = new AddressGuard({
      allowAddresses,
      lookup: lookupOf({
        'public.test': ['8.8.8.8', '2606:4700::1'],
        'private.test': ['10.0.0.7'],
        'mixed.test': ['8.8.8.8', '10.0.0.7'],
        'inner.test': ['127.0.0.1'],
      }),
    });
    const look = (host: string, origin: Origin, all = true): Promise<unknown> =>
      new Promise((resolve, reject) => {
        guard.lookupFor(origin)(host, { all }, (error, found: string | LookupAddress[], family) => {
          if (error === null) resolve(all ? found : [found, family]);
          else reject(error);
        });
      });
    return { guard, look };
  }

  it('hands on what it looked up', async () => {
    const { look } = guardOf();
    expect(await look('public.test', 'led')).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ]);
    expect(await look('public.test', 'led', false)).toEqual(['8.8.8.8', 4]);
    await expect(look('nowhere.test', 'asked')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('lets a registry be in a private network, and nobody outside lead there', async () => {
    const { guard, look } = guardOf();
    for (const host of ['private.test', 'mixed.test'])
      await expect(look(host, 'led')).rejects.toMatchObject({ code: 'GATE_REGISTRY_REFUSED' });
    await look('public.test', 'asked');
    expect(guard.isPrivate('public.test')).toBe(false);
    await look('private.test', 'asked');
    // From there on what the registry leads to may be there, too: the dialer asks.
    expect(guard.isPrivate('PRIVATE.test.')).toBe(true);
  });

  it('takes no registry for private that has, or ever had, a public address', async () => {
    const { guard, look } = guardOf();
    await look('mixed.test', 'asked');
    expect(guard.isPrivate('mixed.test')).toBe(false);
    const turns = [['10.0.0.7'], ['8.8.8.8'], ['10.0.0.7']];
    const rebinding = new AddressGuard({
      lookup: (host, options, callback) => lookupOf({ [host]: turns.shift() ?? [] })(host, options, callback),
    });
    const seen: boolean[] = [];
    for (let times = 0; times < 3; times += 1) {
      await new Promise((resolve) => rebinding.lookupFor('asked')('turns.test', { all: true }, resolve));
      seen.push(rebinding.isPrivate('turns.test'));
    }
    expect(seen).toEqual([true, false, false]);
  });

  it('lets through what is listed, and refuses this machine to everybody else', async () => {
    for (const origin of ['asked', 'led'] as const) {
      await expect(guardOf().look('inner.test', origin)).rejects.toMatchObject({
        code: 'GATE_REGISTRY_REFUSED',
      });
      for (const allowed of ['127.0.0.1', '127.0.0.0/8', 'Inner.test'])
        expect(await guardOf([allowed]).look('inner.test', origin)).toHaveLength(1);
    }
  });

  it('needs no look-up for an address, nor for a name of this machine behind a proxy', () => {
    const { guard } = guardOf(['10.0.0.7']);
    expect(() => guard.checkHost('[::1]', 'asked', false)).toThrow(/of this machine/);
    expect(() => guard.checkHost('10.0.0.8', 'led', false)).toThrow(/private address/);
    for (const name of ['a.localhost', 'ip6-localhost', 'metadata.goog', 'Host.Docker.Internal.'])
      expect(() => guard.checkHost(name, 'asked', true)).toThrow(/a name of this machine/);
    for (const [host, isProxied] of [
      ['10.0.0.8', false],
      ['localhost', false],
      ['public.test', true],
    ] as const)
      guard.checkHost(host, 'asked', isProxied);
    guard.checkHost('10.0.0.7', 'led', true);
  });
});
