import { Option } from 'commander';

/** An option that may be given again and again; its value is the list of what was given. */
export function repeated(flags: string, text: string): Option {
  return new Option(flags, text)
    .argParser((value: string, before: readonly string[]) => [...before, value])
    .default([]);
}
