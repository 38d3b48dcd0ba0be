/**
 * Loaded into a process of ours before it starts (`node --import`): its wall clock is off by as many milliseconds as the
 * file `clock-shift` in its folder says, read at the start and again on SIGUSR2. The monotonic clock is left alone.
 */
import { existsSync, readFileSync } from 'node:fs';

const FILE = 'clock-shift';

const trueNow = Date.now.bind(Date);
let shiftMs = readShift();

function readShift(): number {
  return existsSync(FILE) ? Number(readFileSync(FILE, 'utf8')) : 0;
}

Date.now = () => trueNow() + shiftMs;
process.on('SIGUSR2', () => {
  shiftMs = readShift();
});
