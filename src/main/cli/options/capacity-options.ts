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
import type { LoadFlags } from './load-options.ts'
import { addTableOptions, type FlagsOf, readFlags } from './table-options.ts'

export type CapacityFlags = FlagsOf<typeof CAPACITY_OPTIONS> & { findCapacity?: true }

/** Declares the capacity search of `load` (docs/load-tests.md §11). */
export function addCapacityOptions(command: Command): Command {
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
  stages: '--stages cannot be combined with --find-capacity; start at a --rate or --concurrency',
  requests:
    '--requests cannot be combined with --find-capacity; --duration sets how long each probe measures',
  savePlan: '--save-plan cannot be combined with --find-capacity; plan files contain one load test',
  export:
    '--export cannot be combined with --find-capacity; export one of its load tests afterwards, or use --json',
  exportK6: '--export-k6 cannot be combined with --find-capacity; a k6 project contains one load test',
} as const

/** The flags with what each probe lasts by default. Throws commander's `InvalidArgumentError` for contradictions. */
export function completeProbeFlags<Flags extends LoadFlags & CapacityFlags>(flags: Flags): Flags {
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

/** A load with the thresholds that each probe is judged by. */
export function toProbeLoad(load: Load, flags: CapacityFlags): Load {
  return flags.findCapacity ? { ...load, thresholds: toCapacityThresholds(load) } : load
}

/** The search that was asked for; null where none was. Throws commander's `InvalidArgumentError`. */
export function toCapacityPlan(load: Load, flags: CapacityFlags): CapacityPlan | null {
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
