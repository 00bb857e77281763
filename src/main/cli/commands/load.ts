import { type Command, InvalidArgumentError } from 'commander'
import {
  type CapacityMistake,
  type CapacityPlan,
  capacityBoundsSchema,
  PROBE_DEFAULTS,
  planCapacity,
  toCapacityThresholds,
} from '../../../shared/load/capacity-plan.ts'
import type { Load } from '../../../shared/load/load.ts'
import { IN_FLIGHT_MAX, isOpen, toPeak } from '../../../shared/load/load-pace.ts'
import { CAPACITY_OPTIONS } from '../../../shared/options/capacity-options.ts'
import type { CliContext } from '../context.ts'
import { addLoadOptions, type LoadFlags, toLoad } from '../options/load-options.ts'
import { addMetricsOption } from '../options/shared-options.ts'
import { addTableOptions, type FlagsOf, readFlags } from '../options/table-options.ts'
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
      'load posts.csv --once',
      "load posts.csv --find-capacity --rate 10 --max-level 500 --threshold 'p(99)<500' --yes",
    ],
  })
}

type CapacityFlags = FlagsOf<typeof CAPACITY_OPTIONS> & { findCapacity?: true }

/** Declares the capacity search of `load` (docs/load-tests.md §11). */
function addCapacityOptions(command: Command): Command {
  command
    .optionsGroup('Capacity search:')
    .option(
      '--find-capacity',
      'find the highest rate (or concurrency) at which all thresholds hold, starting at --rate or --concurrency: doubles it until a threshold fails, so it overloads the service',
    )
  return addTableOptions(command, CAPACITY_OPTIONS, ['bounds', 'pause'])
}

/** Options that contradict a capacity search, with what to do instead. */
const CONFLICTS = {
  once: '--once cannot be combined with --find-capacity; it sends a single request',
  stages: '--stages cannot be combined with --find-capacity; start at a --rate or --concurrency',
  requests:
    '--requests cannot be combined with --find-capacity; --duration sets how long each probe measures',
  savePlan: '--save-plan cannot be combined with --find-capacity; plan files contain one load test',
  export:
    '--export cannot be combined with --find-capacity; export one of its load tests afterwards, or use --json',
  exportK6: '--export-k6 cannot be combined with --find-capacity; a k6 project contains one load test',
} as const

/** Flags with the default duration of a probe. Throws commander's `InvalidArgumentError` if they clash. */
function completeProbeFlags<Flags extends LoadFlags & CapacityFlags>(flags: Flags): Flags {
  if (!flags.findCapacity) {
    const [idle] = Object.keys(readFlags(CAPACITY_OPTIONS, flags)) as (keyof typeof CAPACITY_OPTIONS)[]
    if (idle === undefined) return flags
    const [flag] = CAPACITY_OPTIONS[idle].flag.split(' ')
    throw new InvalidArgumentError(`${flag} only works with --find-capacity.`)
  }
  for (const [name, message] of Object.entries(CONFLICTS)) {
    if (name in flags) throw new InvalidArgumentError(`${message}.`)
  }
  if (flags.threshold === undefined) {
    throw new InvalidArgumentError("--find-capacity needs a --threshold to judge by, such as 'p(99)<500'.")
  }
  return {
    ...flags,
    duration: flags.duration ?? PROBE_DEFAULTS.measuredMs,
    warmup: flags.warmup ?? PROBE_DEFAULTS.warmupMs,
  }
}

/** A load with the thresholds for each probe. */
function toProbeLoad(load: Load, flags: CapacityFlags): Load {
  return flags.findCapacity ? { ...load, thresholds: toCapacityThresholds(load) } : load
}

/** The search that was asked for; null if none was. Throws commander's `InvalidArgumentError`. */
function toCapacityPlan(load: Load, flags: CapacityFlags): CapacityPlan | null {
  if (!flags.findCapacity) return null
  const planned = planCapacity(load, capacityBoundsSchema.parse(readFlags(CAPACITY_OPTIONS, flags)))
  if (planned.ok) return planned.plan
  throw new InvalidArgumentError(`${sayMistake(planned.mistake, load)}.`)
}

function sayMistake(mistake: CapacityMistake, { pace }: Load): string {
  switch (mistake) {
    case 'stages':
    case 'requests':
      return CONFLICTS[mistake]
    case 'no_threshold':
      return "--find-capacity needs a --threshold to judge by, such as 'p(99)<500'"
    case 'max_below_start':
      return `--max-level must not be below the start, ${toPeak(pace)}`
    case 'max_not_a_level':
      return `--max-level must ${isOpen(pace) ? 'have at most three decimal places' : `be a whole number up to ${IN_FLIGHT_MAX}`}`
  }
}
