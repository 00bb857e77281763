import { type Command, InvalidArgumentError } from 'commander'
import {
  CAPACITY_DEFAULTS,
  type CapacityMistake,
  type CapacityPlan,
  planCapacity,
  toCapacityThresholds,
} from '../../../shared/load/capacity-plan.ts'
import type { Load } from '../../../shared/load/load.ts'
import { IN_FLIGHT_MAX, isOpen, RATE_MAX, toPeak } from '../../../shared/load/load-pace.ts'
import type { LoadFlags } from './load-options.ts'
import { createDurationParser, createIntegerParser, createPositiveNumberParser } from './parse-values.ts'

/** The options of a capacity search. */
export interface CapacityFlags {
  findCapacity?: true
  maxLevel?: number
  maxProbes?: number
  maxTime?: number
  coolDown?: number
}

/** Declares the capacity search of `load` (docs/load-tests.md §11). */
export function addCapacityOptions(command: Command): Command {
  return command
    .optionsGroup('Capacity search:')
    .option(
      '--find-capacity',
      'find the highest rate (or concurrency) at which all thresholds hold, starting at --rate or --concurrency: doubles it until a threshold fails, so it overloads the service',
    )
    .option(
      '--max-level <n>',
      `highest rate or concurrency to send (default: ${CAPACITY_DEFAULTS.maxFactor} times the start)`,
      createPositiveNumberParser(RATE_MAX),
    )
    .option(
      '--max-probes <n>',
      `maximum number of probes (default: ${CAPACITY_DEFAULTS.maxProbes})`,
      createIntegerParser(1, 1000),
    )
    .option(
      '--max-time <duration>',
      'maximum duration of the whole search (default: 1h)',
      createDurationParser('7d'),
    )
    .option(
      '--cool-down <duration>',
      `pause between probes (default: ${CAPACITY_DEFAULTS.coolDownMs / 1000}s)`,
      createDurationParser('1h', { allowsZero: true }),
    )
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
    const idle = (['maxLevel', 'maxProbes', 'maxTime', 'coolDown'] as const).find(
      (name) => flags[name] !== undefined,
    )
    if (idle === undefined) return flags
    const flag = `--${idle.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)}`
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
    duration: flags.duration ?? CAPACITY_DEFAULTS.measuredMs,
    warmup: flags.warmup ?? CAPACITY_DEFAULTS.warmupMs,
  }
}

/** A load with the thresholds that each probe is judged by. */
export function toProbeLoad(load: Load, flags: CapacityFlags): Load {
  return flags.findCapacity ? { ...load, thresholds: toCapacityThresholds(load) } : load
}

/** The search that was asked for; null where none was. Throws commander's `InvalidArgumentError`. */
export function toCapacityPlan(load: Load, flags: CapacityFlags): CapacityPlan | null {
  if (!flags.findCapacity) return null
  const { coolDownMs, maxProbes, maxTimeMs } = CAPACITY_DEFAULTS
  const planned = planCapacity(load, {
    ...(flags.maxLevel === undefined ? {} : { max: flags.maxLevel }),
    maxProbes: flags.maxProbes ?? maxProbes,
    maxTimeMs: flags.maxTime ?? maxTimeMs,
    coolDownMs: flags.coolDown ?? coolDownMs,
  })
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
