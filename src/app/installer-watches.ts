/** What the installer watches, to hear of what others do to what it wrote. */
import { startWatch, watchFacts, type Watch, type WatchParts } from './watch.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { NATIVE_POLICY, NATIVE_POLICY_BINDING, VALIDATING_WEBHOOK_CONFIGURATION } from '../cluster/kinds.ts';
import { MANAGED_SELECTOR } from '../install/names.ts';
import type { WatchFacts } from '../metrics.ts';
import { IDENTITY_CONFIGURATION } from '../policies/identity/entries.ts';
import { POLICIES_CONFIGURATION } from '../policies/vap/entries.ts';

export interface InstallerWatches {
  /** Once it is known that the API server serves native policies. */
  followNative(): void;
  facts(): readonly WatchFacts[];
  stop(): Promise<void>;
}

/** Metadata is enough: a round reads what it compares. */
export function followedByInstaller(
  { cluster, ...parts }: WatchParts & { readonly cluster: Pick<Cluster, 'list' | 'watch'> },
  onChange: () => void,
): InstallerWatches {
  const watches: Watch[] = [POLICIES_CONFIGURATION, IDENTITY_CONFIGURATION].map((name) =>
    startWatch(
      {
        cluster,
        kind: VALIDATING_WEBHOOK_CONFIGURATION,
        // Named, so that the right to read these two is enough.
        select: { fieldSelector: `metadata.name=${name}` },
        metadataOnly: true,
        onChange,
      },
      parts,
    ),
  );
  let followsNative = false;
  return {
    followNative() {
      if (followsNative) return;
      followsNative = true;
      for (const kind of [NATIVE_POLICY, NATIVE_POLICY_BINDING]) {
        const select = { labelSelector: MANAGED_SELECTOR };
        watches.push(startWatch({ cluster, kind, select, metadataOnly: true, onChange }, parts));
      }
    },
    facts: () => watches.map(({ reflector }) => watchFacts(reflector)),
    async stop() {
      await Promise.all(watches.map(({ reflector }) => reflector.stop()));
    },
  };
}
