import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { addSendingCommand } from './sending-command.ts'

/** Adds `appeal SOURCE`: the status of each appeal (docs/interface.md §4.7). */
export function addAppealCommand(program: Command, context: CliContext): void {
  addSendingCommand<object>(program, context, {
    name: 'appeal',
    source: 'appeals',
    description: 'Reads the status of each appeal_id. Sends no API key.',
    addOptions: () => {},
    toOperation: () => ({ kind: 'appeal-status' }),
    examples: ['appeal appeals.csv', "appeal appeals.csv --map appeal_id='Case number' --rate 20"],
  })
}
