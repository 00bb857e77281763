import { type Command, InvalidArgumentError } from 'commander'
import { type CapacityPlan, toCapacityThresholds } from '../../../shared/load/capacity-report.ts'
import type { Load } from '../../../shared/load/load.ts'
import { IN_FLIGHT_MAX, isOpen, isWholeRate, RATE_MAX, toPeak } from '../../../shared/load/load-pace.ts'
import type { LoadFlags } from './load-options.ts'
import { createDurationParser, createIntegerParser, createPositiveNumberParser } from './parse-values.ts'

const WARMUP_DEFAULT_MS = 10_000
const MEASURED_DEFAULT_MS = 30_000
const COOL_DOWN_DEFAULT_MS = 5_000
const PROBES_DEFAULT = 25
const TIME_DEFAULT_MS = 3_600_000
/** Six doublings. */
const MAX_FACTOR = 64
const REPEATS = 3
const RESOLUTION = 0.05

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
      `highest rate or concurrency to send (default: ${MAX_FACTOR} times the start)`,
      createPositiveNumberParser(RATE_MAX),
    )
    .option(
      '--max-probes <n>',
      `maximum number of probes (default: ${PROBES_DEFAULT})`,
      createIntegerParser(1, 1000),
    )
    .option(
      '--max-time <duration>',
      'maximum duration of the whole search (default: 1h)',
      createDurationParser('7d'),
    )
    .option(
      '--cool-down <duration>',
      `pause between probes (default: ${COOL_DOWN_DEFAULT_MS / 1000}s)`,
      createDurationParser('1h', { allowsZero: true }),
    )
}

/** Options that contradict a capacity search, with what to do instead. */
const CONFLICTS = {
  stages: '--stages cannot be combined with --find-capacity; start at a --rate or --concurrency',
  requests:
    '--requests cannot be combined with --find-capacity; --duration sets how long each probe measures',
  savePlan: '--save-plan cannot be combined with --find-capacity; plan files contain one load test',
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
    duration: flags.duration ?? MEASURED_DEFAULT_MS,
    warmup: flags.warmup ?? WARMUP_DEFAULT_MS,
  }
}

/** A load with the thresholds that each probe is judged by. */
export function toProbeLoad(load: Load, flags: CapacityFlags): Load {
  return flags.findCapacity ? { ...load, thresholds: toCapacityThresholds(load) } : load
}

/** The search that was asked for; null where none was. Throws commander's `InvalidArgumentError`. */
export function toCapacityPlan(load: Load, flags: CapacityFlags): CapacityPlan | null {
  if (!flags.findCapacity) return null
  const start = toPeak(load.pace)
  const unit = isOpen(load.pace) ? 'rate' : 'concurrency'
  const highest = unit === 'rate' ? RATE_MAX : IN_FLIGHT_MAX
  const isLevel = unit === 'rate' ? isWholeRate : Number.isInteger
  const max = flags.maxLevel ?? Math.min(highest, Math.round(start * MAX_FACTOR * 1000) / 1000)
  if (max < start) throw new InvalidArgumentError(`--max-level must not be below the start, ${start}.`)
  if (max > highest || !isLevel(max)) {
    const expected =
      unit === 'rate' ? 'have at most three decimal places' : `be a whole number up to ${highest}`
    throw new InvalidArgumentError(`--max-level must ${expected}.`)
  }
  const coolDownMs = flags.coolDown ?? COOL_DOWN_DEFAULT_MS
  return {
    unit,
    start,
    max,
    resolution: RESOLUTION,
    repeats: REPEATS,
    maxProbes: flags.maxProbes ?? PROBES_DEFAULT,
    maxTimeMs: flags.maxTime ?? TIME_DEFAULT_MS,
    probeMs: load.warmupMs + (load.durationMs ?? 0) + coolDownMs,
    coolDownMs,
  }
}
