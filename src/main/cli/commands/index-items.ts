import { type Command, InvalidArgumentError } from 'commander'
import { type Operation, operationSchema } from '../../../shared/operations/operations.ts'
import { isDotSegment } from '../../../shared/service/endpoints.ts'
import type { CliContext } from '../context.ts'
import { parseFilledText } from '../options/parse-values.ts'
import { type AsyncFlags, addAsyncOption } from '../options/shared-options.ts'
import { addSendingCommand } from './sending-command.ts'

interface IndexFlags extends AsyncFlags {
  index: string
}

function parseIndexId(text: string): string {
  const id = parseFilledText(text)
  if (!isDotSegment(id)) return id
  throw new InvalidArgumentError('expected an index id other than "." and "..".')
}

function addIndexOptions(command: Command): void {
  addAsyncOption(command.optionsGroup('Index:')).requiredOption(
    '--index <id>',
    'custom index id, from the dashboard',
    parseIndexId,
  )
}

/** Adds `index add SOURCE` and `index remove SOURCE`, for a custom index (docs/interface.md §4.3, §4.4). */
export function addIndexCommand(program: Command, context: CliContext): void {
  const index = program.command('index').description('Adds or removes items of a custom index.')
  addSendingCommand<IndexFlags>(index, context, {
    name: 'add',
    source: 'items',
    summary: 'add items to a custom index',
    description:
      'Adds each row to a custom index. Fields: url or media, content_variant, metadata or metadata.KEY. ' +
      'The service cannot list items: keep the export, which holds each custom_index_item_id and can be used ' +
      'as the source of `index remove`.',
    addOptions: addIndexOptions,
    toOperation: (flags) => toOperation('index-add', flags),
    examples: [
      'index add images.csv --index sandbox-index',
      'index add images.csv --index sandbox-index --map metadata.origin=source --async',
    ],
  })
  addSendingCommand<IndexFlags>(index, context, {
    name: 'remove',
    source: 'items',
    summary: 'remove items from a custom index',
    description:
      'Removes each row from a custom index by its custom_index_item_id. The export of an `index add` run can be ' +
      'used as the source.',
    addOptions: addIndexOptions,
    toOperation: (flags) => toOperation('index-remove', flags),
    examples: [
      'index remove added.csv --index sandbox-index --dry-run',
      'index remove added.csv --index sandbox-index',
    ],
  })
}

function toOperation(
  kind: 'index-add' | 'index-remove',
  { async: isAsync, index: indexId }: IndexFlags,
): Operation {
  return operationSchema.parse({ kind, mode: isAsync ? 'async' : 'sync', indexId })
}
