/** What a status shows of the target itself: whether its Service and its workload are there, and how it is run. */
import { messageOf } from '../errors.ts';
import type { ObservedRuntime, PactoStatus } from './api/pacto.ts';
import type { Surveyed } from './observe/dimension.ts';
import { runtimeOf } from './observe/observed-runtime.ts';
import { attempt } from './observe/sighting.ts';

export interface TargetSight {
  readonly resources: NonNullable<PactoStatus['resources']>;
  readonly runtime: ObservedRuntime | undefined;
  /** Why one of the two could not be read. */
  readonly failure: string | undefined;
}

export async function survey({ target, view, signal }: Surveyed): Promise<TargetSight> {
  const { namespace, service, workload } = target;
  const serviceRead =
    service === undefined
      ? undefined
      : await attempt(() => view.service({ namespace, name: service }), signal);
  const read = await attempt(() => view.workload(workload.kind, { namespace, name: workload.name }), signal);
  const found = read.ok ? read.value : undefined;
  const faults = [serviceRead, read].filter((one) => one?.ok === false);
  return {
    resources: {
      ...(service !== undefined && {
        service: { name: service, exists: serviceRead?.ok === true && serviceRead.value !== undefined },
      }),
      workload: { name: workload.name, kind: workload.kind.kind, exists: found !== undefined },
    },
    runtime: found === undefined ? undefined : runtimeOf(workload.kind, found),
    failure: faults.length === 0 ? undefined : faults.map((one) => messageOf(one?.error)).join('; '),
  };
}
