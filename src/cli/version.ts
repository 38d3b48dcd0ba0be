import type { Command } from 'commander';
import packageFile from '../../package.json' with { type: 'json' };
import { addOutputOption, EXIT, show, type ExitCode, type OutputFormat } from './output.ts';
import type { Surroundings } from './surroundings.ts';

/** Set by the build (scripts/build.ts); not there when the sources run. */
declare const BUILD_COMMIT: string | undefined;

export function define(command: Command, around: Surroundings, finish: (code: ExitCode) => void): void {
  addOutputOption(command);
  command.action(async (options: { output: OutputFormat }) => {
    const facts = {
      version: packageFile.version,
      commit: typeof BUILD_COMMIT === 'undefined' ? 'unknown' : BUILD_COMMIT,
      node: process.versions.node,
      platform: `${process.platform}/${process.arch}`,
    };
    const text = `pacto-gate ${facts.version} (commit ${facts.commit}, node ${facts.node}, ${facts.platform})`;
    await show(around, options.output, facts, text);
    finish(EXIT.ok);
  });
}
