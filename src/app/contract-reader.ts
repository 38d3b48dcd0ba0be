/** The registry's question about a contract, answered by the loader: the two rooms do not know each other. */
import { failureText, load } from '../policies/contract/load.ts';
import type { ReadContract } from '../registry/pack.ts';

export const readContract: ReadContract = (text) => {
  const loaded = load(text);
  if (!loaded.ok) return { ok: false, reason: failureText(loaded) };
  const { pactoVersion, service } = loaded.contract;
  return { ok: true, name: service.name, version: service.version, pactoVersion };
};
