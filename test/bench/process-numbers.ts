/** What Linux says about a process. Times are milliseconds, sizes bytes. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** @param stat the text of /proc/<pid>/stat. @param ticksPerSecond of `getconf CLK_TCK`. */
export function cpuMsOfStat(stat: string, ticksPerSecond: number): number {
  // The name in parentheses may hold spaces and parentheses itself: fields are counted from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime and stime are fields 14 and 15 of the whole line (proc_pid_stat(5)), so 11 and 12 from here.
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** @param status the text of /proc/<pid>/status. @param field for example VmRSS or VmHWM. */
export function bytesOfStatus(status: string, field: string): number {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`no field ${field} in the status of the process`);
  return Number(kibibytes) * 1024;
}

export class ProcessNumbers {
  private readonly ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

  /** Processor time of all threads, also of those that ended, in user and kernel mode. */
  cpuMs(pid: number): number {
    return cpuMsOfStat(readFileSync(`/proc/${pid}/stat`, 'utf8'), this.ticksPerSecond);
  }

  residentBytes(pid: number): number {
    return bytesOfStatus(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmRSS');
  }

  /** The most it ever was resident. */
  peakResidentBytes(pid: number): number {
    return bytesOfStatus(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmHWM');
  }
}
