import { type Command, InvalidArgumentError } from 'commander'
import { operationSchema } from '../../../shared/plan/operation.ts'
import { isDotSegment } from '../../../shared/service/endpoints.ts'
import type { CliContext } from '../context.ts'
import { type AsyncFlags, addAsyncOption } from '../options/async-option.ts'
import { parseFilledText } from '../options/filled-text-option.ts'
import { addSendingCommand } from './sending-command.ts'

interface IndexFlags extends AsyncFlags {
  index: string
}

function parseIndexId(text: string): string {
  const id = parseFilledText(text)
  if (!isDotSegment(id)) return id
  throw new InvalidArgumentError('expected the id of an index; "." and ".." would lead to another path.')
}

function addIndexOptions(command: Command): void {
  addAsyncOption(command.optionsGroup('Index:')).requiredOption(
    '--index <id>',
    'id of the custom index, from the dashboard',
    parseIndexId,
  )
}

/** Adds `index add SOURCE` and `index remove SOURCE`: items of a custom index (interface §4.3, §4.4). */
export function addIndexCommand(program: Command, context: CliContext): void {
  const index = program.command('index').description('Adds items to a custom index, or removes them.')
  addSendingCommand<IndexFlags>(index, context, {
    name: 'add',
    source: 'items',
    summary: 'add each row of a source to a custom index',
    description:
      'Adds each row of a source to a custom index: url or media, and content_variant, metadata or metadata.KEY. ' +
      'The service has no way to list items: the custom_index_item_id that it answers is in the results and in ' +
      'the export, which `index remove` takes as it is.',
    addOptions: addIndexOptions,
    toOperation: ({ async: isAsync, index: indexId }) =>
      operationSchema.parse({ kind: 'index-add', mode: isAsync ? 'async' : 'sync', indexId }),
  })
  addSendingCommand<IndexFlags>(index, context, {
    name: 'remove',
    source: 'items',
    summary: 'remove each row of a source from a custom index',
    description:
      'Removes each row of a source from a custom index, by custom_index_item_id. The export of an `index add` run ' +
      'is taken as it is.',
    addOptions: addIndexOptions,
    toOperation: ({ async: isAsync, index: indexId }) =>
      operationSchema.parse({ kind: 'index-remove', mode: isAsync ? 'async' : 'sync', indexId }),
  })
}
