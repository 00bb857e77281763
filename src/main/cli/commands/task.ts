import { type Command, Option } from 'commander'
import { type Operation, operationSchema } from '../../../shared/operations/operations.ts'
import type { CliContext } from '../context.ts'
import { collect } from '../options/parse-values.ts'
import { type AsyncFlags, addAsyncOption } from '../options/shared-options.ts'
import { addSendingCommand } from './sending-command.ts'

/** The options that only tasks take, once parsed. */
export interface TaskFlags extends AsyncFlags {
  api: 'v1' | 'v2'
  model?: string[]
  legacy?: true
}

/** Declares the options that only tasks take. */
export function addTaskOptions(command: Command): void {
  addAsyncOption(command.optionsGroup('Task:'))
    .addOption(new Option('--api <version>', 'API version').choices(['v1', 'v2']).default('v1'))
    .option(
      '--model <name>',
      'model to run; repeatable with v2, which also accepts custom index ids',
      collect,
    )
    .option('--legacy', 'request the legacy answer, which has class scores; v1 only')
}

/** The operation that those options ask for. */
export function toTaskOperation({ async: isAsync, api, model = [], legacy }: TaskFlags): Operation {
  return operationSchema.parse({
    kind: 'task',
    mode: isAsync ? 'async' : 'sync',
    api,
    legacy: legacy === true,
    models: model,
  })
}

/** Adds `task SOURCE`: submits each row as a task (docs/interface.md §4.1, §4.2). */
export function addTaskCommand(program: Command, context: CliContext): void {
  addSendingCommand<TaskFlags>(program, context, {
    name: 'task',
    source: 'content',
    description:
      'Submits each row of a source and records its outcome. Columns named like fields are matched automatically; ' +
      'use --map and --set for the rest. user_id has no default. post_id defaults to {{run}}-{{row}}.',
    addOptions: addTaskOptions,
    toOperation: toTaskOperation,
    examples: [
      'task posts.csv --map text_data=message --set user_id=import --dry-run',
      'task posts.csv --map text_data=message --set user_id=import --rate 50 --save-plan posts.plan.json',
      'task posts.csv --map text_data=message --set user_id=import --async',
    ],
  })
}
