import { rmSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { toRecheckFile } from '../../engine/workspace/workspace-files.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import { addSendingCommand } from './sending-command.ts'

/** Adds `appeal SOURCE` and `appeal --recheck`: the status of each appeal (docs/interface.md §4.7). */
export function addAppealCommand(program: Command, context: CliContext): void {
  addSendingCommand<{ recheck?: true }>(program, context, {
    name: 'appeal',
    source: 'appeals',
    description:
      'Reads the status of each appeal_id. Sends no API key. With --recheck, reads the status of the appeals that were still ' +
      'in review in earlier runs; `ledger appeals` lists them.',
    addOptions: (command) => {
      command
        .optionsGroup('Appeals:')
        .option('--recheck', 'check all appeals that are still in review, instead of those of a source')
    },
    toOperation: () => ({ kind: 'appeal-status' }),
    offersOnlyNew: false,
    async findSource(sources, { flags, workspace, baseUrl }) {
      const isNamed = sources.length > 0
      if (isNamed === (flags.recheck !== undefined)) {
        throw new InvalidArgumentError(
          !isNamed ? 'expected a source, or --recheck.' : '--recheck takes no source.',
        )
      }
      if (isNamed) return sources
      const file = toRecheckFile(workspace)
      const { rows } = await withEngine(context, workspace, (engine) =>
        engine.lookback.exportLedger(
          { of: 'appeals', service: { baseUrl }, list: null, states: ['in_review'], search: null },
          file,
        ),
      )
      if (rows > 0) return [file]
      rmSync(file, { force: true })
      await context.err.writeLine(`No appeal at ${baseUrl} is known to be in review. Nothing was sent.`)
      return null
    },
    examples: [
      'appeal appeals.csv',
      "appeal appeals.csv --map appeal_id='Case number' --rate 20",
      'appeal --recheck',
    ],
  })
}
