import { expect, it } from 'vitest';
import * as kinds from '../../src/cluster/kinds.ts';
import { aReadyWorld, aSlice, keyOf, settled, type World } from './sight-world.ts';

const PACTOS = 1_000;
const EVENTS = 10_000;

const nameOf = (index: number): string => `shop/service-${String(index % PACTOS)}`;

/** Each reads the slices of its own Service, those of one that all depend on, and Ingresses. */
async function aCrowd(): Promise<World> {
  const world = await aReadyWorld();
  for (let index = 0; index < PACTOS; index++) {
    const key = keyOf(nameOf(index));
    await world.look(nameOf(index), async (view) => {
      await view.service(key);
      await view.endpointSlices(key);
      await view.endpointSlices(keyOf('shop/database'));
      await view.ingressesTo(key);
    });
  }
  return world;
}

it('wakes one Pacto for one event of its Service, with a thousand Pactos and ten thousand events', async () => {
  const world = await aCrowd();
  for (let index = 0; index < EVENTS; index++) {
    const isReady = Math.floor(index / PACTOS) % 2 === 0;
    world.memory.load(
      kinds.ENDPOINT_SLICE,
      aSlice(nameOf(index), `slice-${String(index % PACTOS)}`, isReady),
    );
  }
  await settled();
  // No event may cost what all Pactos together cost: a scan would have woken, or looked at, ten million.
  expect(world.wakes()).toBe(EVENTS);
});

it('wakes nobody for ten thousand events of Services that nobody reads', async () => {
  const world = await aCrowd();
  for (let index = 0; index < EVENTS; index++)
    world.memory.load(kinds.ENDPOINT_SLICE, aSlice('shop/stranger', `stranger-${String(index)}`));
  await settled();
  expect(world.wakes()).toBe(0);
});

it('wakes all who depend on it for one event of what they share', async () => {
  const world = await aCrowd();
  world.memory.load(kinds.ENDPOINT_SLICE, aSlice('shop/database', 'database-1'));
  await settled();
  expect(world.wakes()).toBe(PACTOS);
});

it('finds the slices of one Service among those of a thousand without looking at the others', async () => {
  const world = await aReadyWorld(
    Array.from({ length: PACTOS }, (_, index) => [
      kinds.ENDPOINT_SLICE,
      aSlice(nameOf(index), `slice-${String(index)}`),
    ]),
  );
  const stores = world.sight.reflectors().map(({ store }) => store);
  const scans = stores.map((store) => {
    let count = 0;
    const values = store.values.bind(store);
    store.values = (namespace) => {
      count += 1;
      return values(namespace);
    };
    return () => count;
  });
  const found = await world.sight.glance().endpointSlices(keyOf(nameOf(7)));
  expect(found.map(({ metadata }) => metadata.name)).toEqual(['slice-7']);
  expect(scans.map((count) => count())).toEqual(scans.map(() => 0));
});
