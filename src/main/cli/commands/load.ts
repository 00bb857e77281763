import type { Command } from 'commander'
import type { CliContext } from '../context.ts'
import {
  addCapacityOptions,
  type CapacityFlags,
  completeProbeFlags,
  toCapacityPlan,
  toProbeLoad,
} from '../options/capacity-options.ts'
import { addLoadOptions, type LoadFlags, toLoad } from '../options/load-options.ts'
import { addMetricsOption } from '../options/shared-options.ts'
import { addSendingCommand } from './sending-command.ts'
import { addTaskOptions, type TaskFlags, toTaskOperation } from './task.ts'

/** Adds `load SOURCE`: a load test with the tasks of a source (docs/load-tests.md). */
export function addLoadCommand(program: Command, context: CliContext): void {
  addSendingCommand<TaskFlags & LoadFlags & CapacityFlags>(program, context, {
    name: 'load',
    source: 'content',
    description:
      'Sends the rows as tasks in a loop, at a fixed rate or concurrency, and measures the answers. ' +
      'Every request gets a new post_id. docs/load-tests.md explains the results.',
    addOptions: (command) => {
      addLoadOptions(command)
      addCapacityOptions(command)
      addMetricsOption(command)
      command.option(
        '--export-k6 <folder>',
        'write the load test as a k6 project to this folder instead of running it',
      )
      addTaskOptions(command)
    },
    toOperation: toTaskOperation,
    toLoad: (flags) => toProbeLoad(toLoad(completeProbeFlags(flags)), flags),
    toCapacity: (load, flags) => toCapacityPlan(load, flags),
    examples: [
      "load posts.csv --rate 200 --duration 60s --threshold 'p(99)<500' --threshold 'http_req_failed:rate<0.01'",
      "load posts.csv --stages '50@30s,50..400@2m' --threshold 'http_req_failed:rate<0.01 abortOnFail'",
      'load posts.csv --concurrency 64 --requests 100000 --async',
      "load posts.csv --find-capacity --rate 10 --max-level 500 --threshold 'p(99)<500' --yes",
    ],
  })
}
