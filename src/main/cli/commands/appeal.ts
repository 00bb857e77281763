import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { addSendingCommand } from './sending-command.ts'

/** Adds `appeal SOURCE`: the status of each appeal (interface §4.7). */
export function addAppealCommand(program: Command, context: CliContext): void {
  addSendingCommand<object>(program, context, {
    name: 'appeal',
    source: 'appeals',
    description: 'Reads the status of each appeal_id of a source. No API key is needed, and none is sent.',
    addOptions: () => {},
    toOperation: () => ({ kind: 'appeal-status' }),
  })
}
