/** One measurement in a process of its own: `node job.ts NAME [ARGUMENT]` prints its numbers as JSON. */
type Job = (argument: string) => Promise<unknown>;

/** Each loads what it measures and nothing else, or one would pay for another's memory. */
const JOBS: Readonly<Record<string, () => Promise<{ readonly run: Job }>>> = {
  typical: () => import('./typical.ts'),
  fleet: () => import('./fleet.ts'),
  tags: () => import('./tags.ts'),
  hostile: () => import('./hostile.ts'),
  blob: () => import('./blob.ts'),
};

const [name = '', argument = ''] = process.argv.slice(2);
const job = await JOBS[name]?.();
if (job === undefined) throw new Error(`no job ${name}`);
console.log(JSON.stringify(await job.run(argument)));
