/**
 * The longest that this thread worked at one stretch, in milliseconds of its own processor time: what others do to the
 * machine meanwhile does not count.
 */
export async function longestStretchMs(run: () => Promise<void>): Promise<number> {
  let longestUs = 0;
  let last = usedUs();
  const tick = setInterval(() => {
    const now = usedUs();
    longestUs = Math.max(longestUs, now - last);
    last = now;
  }, 1);
  try {
    await run();
    // One more tick, for what the last answer took.
    await new Promise((resolve) => setTimeout(resolve, 2));
  } finally {
    clearInterval(tick);
  }
  return longestUs / 1000;
}

function usedUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
