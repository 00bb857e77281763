import { type Command, Option } from 'commander'
import { operationSchema } from '../../../shared/operations/operations.ts'
import { TERMS_PER_REQUEST_DEFAULT, TERMS_PER_REQUEST_MAX } from '../../../shared/operations/watchlist.ts'
import type { CliContext } from '../context.ts'
import { createIntegerParser, parseFilledText } from '../options/parse-values.ts'
import { addSendingCommand } from './sending-command.ts'

interface WatchlistFlags {
  watchlist: string
  termsPerRequest: number
}

function addWatchlistOptions(command: Command): Command {
  return command
    .optionsGroup('Watchlist:')
    .requiredOption('--watchlist <name>', 'API field name of the watchlist', parseFilledText)
    .option(
      '--terms-per-request <n>',
      'maximum terms per request; requests that are too large are split',
      createIntegerParser(1, TERMS_PER_REQUEST_MAX),
      TERMS_PER_REQUEST_DEFAULT,
    )
}

/** Adds `watchlist add SOURCE` and `watchlist update SOURCE` (docs/interface.md §4.5, §4.6). */
export function addWatchlistCommand(program: Command, context: CliContext): void {
  const watchlist = program
    .command('watchlist')
    .description('Adds terms to a watchlist, or updates the notes of its terms.')
  addSendingCommand<WatchlistFlags>(watchlist, context, {
    name: 'add',
    source: 'terms',
    summary: 'add terms to a watchlist',
    description:
      'Adds each row, a term with optional notes, to a watchlist. Overwrites the notes of existing terms. ' +
      'The service converts terms to lower case.',
    addOptions: addWatchlistOptions,
    toOperation: ({ watchlist: name, termsPerRequest }) =>
      operationSchema.parse({ kind: 'watchlist-add', watchlist: name, termsPerRequest }),
    examples: [
      'watchlist add terms.csv --watchlist sandbox_terms',
      'watchlist add terms.csv --watchlist sandbox_terms --map term=word --terms-per-request 50',
    ],
  })
  addSendingCommand<WatchlistFlags & { emptyNotes: 'keep' | 'clear' }>(watchlist, context, {
    name: 'update',
    source: 'terms',
    summary: 'update the notes of terms in a watchlist',
    description: 'Updates the notes of existing terms. Terms that do not exist are listed, not created.',
    addOptions: (command) => {
      addWatchlistOptions(command).addOption(
        new Option('--empty-notes <choice>', 'what an empty notes cell does')
          .choices(['keep', 'clear'])
          .default('keep'),
      )
    },
    toOperation: ({ watchlist: name, termsPerRequest, emptyNotes }) =>
      operationSchema.parse({ kind: 'watchlist-update', watchlist: name, termsPerRequest, emptyNotes }),
    examples: [
      'watchlist update terms.csv --watchlist sandbox_terms',
      'watchlist update terms.csv --watchlist sandbox_terms --empty-notes clear',
    ],
  })
}
