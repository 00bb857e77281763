import type { Command } from 'commander'
import { EXIT } from '../../../shared/messages/errors.ts'
import type { CliContext } from '../context.ts'
import { COMMAND_PREFIX } from '../invocation.ts'
import { addLoadOptions, type LoadFlags, toLoad } from '../options/load-options.ts'
import { addMetricsOption } from '../options/metrics-option.ts'
import { addSendingCommand } from './sending-command.ts'
import { addTaskOptions, type TaskFlags, toTaskOperation } from './task.ts'

const EXAMPLES = `
Examples:
  ${COMMAND_PREFIX} load posts.csv --rate 200 --duration 60s --threshold 'p(99)<500' --threshold 'http_req_failed:rate<0.01'
  ${COMMAND_PREFIX} load posts.csv --stages '50@30s,50..400@2m' --threshold 'http_req_failed:rate<0.01 abortOnFail'
  ${COMMAND_PREFIX} load posts.csv --concurrency 64 --requests 100000 --async

Exits with ${EXIT.ok} when every threshold held or none was given, ${EXIT.thresholdCrossed} when one did not,
${EXIT.rowsFailed} when the load broke off, ${EXIT.badInput} when nothing was sent, ${EXIT.interrupted} when it was interrupted: what was measured
until then is kept and shown.`

/** Adds `load SOURCE`: a load test with the tasks of a source (design §4, §5). */
export function addLoadCommand(program: Command, context: CliContext): void {
  addSendingCommand<TaskFlags & LoadFlags>(program, context, {
    name: 'load',
    source: 'content',
    description:
      'Sends the rows of a source as tasks, in their order and again from the start, at a rate or with a number of ' +
      'them in flight, and measures. Every submission has a post_id of its own. docs/load-tests.md says what each ' +
      'number means.',
    addOptions: (command) => {
      addLoadOptions(command)
      addMetricsOption(command)
      command.option(
        '--export-k6 <folder>',
        'send nothing; write the load as a project of k6 into this folder, for more than one machine',
      )
      addTaskOptions(command)
    },
    toOperation: toTaskOperation,
    load: { toLoad, exits: EXAMPLES },
  })
}
