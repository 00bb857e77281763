import type { Command } from 'commander'

/** Whether the service answers at once and posts the results later. */
export interface AsyncFlags {
  async?: true
}

/** Declares `--async`. */
export function addAsyncOption(command: Command): Command {
  return command.option('--async', 'asynchronous mode: results arrive as callbacks')
}
