import { type Command, Option } from 'commander'
import {
  operationSchema,
  TERMS_PER_REQUEST_DEFAULT,
  TERMS_PER_REQUEST_MAX,
} from '../../../shared/plan/operation.ts'
import type { CliContext } from '../context.ts'
import { parseFilledText } from '../options/filled-text-option.ts'
import { createIntegerParser } from '../options/number-option.ts'
import { addSendingCommand } from './sending-command.ts'

interface WatchlistFlags {
  watchlist: string
  termsPerRequest: number
}

interface UpdateFlags extends WatchlistFlags {
  emptyNotes: 'keep' | 'clear'
}

function addWatchlistOptions(command: Command): Command {
  return command
    .optionsGroup('Watchlist:')
    .requiredOption('--watchlist <name>', 'API field name of an existing watchlist', parseFilledText)
    .option(
      '--terms-per-request <n>',
      'terms that one request carries at most; one that is refused for its size is split',
      createIntegerParser(1, TERMS_PER_REQUEST_MAX),
      TERMS_PER_REQUEST_DEFAULT,
    )
}

/** Adds `watchlist add SOURCE` and `watchlist update SOURCE` (interface §4.5, §4.6). */
export function addWatchlistCommand(program: Command, context: CliContext): void {
  const watchlist = program
    .command('watchlist')
    .description('Adds terms to a watchlist, or updates the notes of terms that it has.')
  addSendingCommand<WatchlistFlags>(watchlist, context, {
    name: 'add',
    source: 'terms',
    summary: 'add each row of a source to a watchlist',
    description:
      'Adds each row of a source, a term and its notes, to a watchlist. Notes of terms that the watchlist has ' +
      'already are overwritten. Terms are lower-cased by the service.',
    addOptions: addWatchlistOptions,
    toOperation: ({ watchlist: name, termsPerRequest }) =>
      operationSchema.parse({ kind: 'watchlist-add', watchlist: name, termsPerRequest }),
  })
  addSendingCommand<UpdateFlags>(watchlist, context, {
    name: 'update',
    source: 'terms',
    summary: 'update the notes of terms that a watchlist has',
    description:
      'Updates the notes of terms that a watchlist has. Terms that it does not have are listed and never created.',
    addOptions: (command) => {
      addWatchlistOptions(command).addOption(
        new Option(
          '--empty-notes <choice>',
          'what an empty cell of notes means: keep the notes, or clear them',
        )
          .choices(['keep', 'clear'])
          .default('keep'),
      )
    },
    toOperation: ({ watchlist: name, termsPerRequest, emptyNotes }) =>
      operationSchema.parse({ kind: 'watchlist-update', watchlist: name, termsPerRequest, emptyNotes }),
  })
}
