import {
  IN_FLIGHT_MAX,
  LOAD_MAX_MS,
  parseStages,
  RATE_MAX,
  type Stage,
  type StagesPace,
  toTotalMs,
} from '../../../shared/load/load-pace.ts'
import { formatDurationMs } from '../../../shared/messages/duration.ts'

/** The unit of levels: requests a second, or requests in flight. */
export type LevelUnit = StagesPace['of']

export type StagePart = 'from' | 'to' | 'line'

export function readStages(text: string): StagesPace | null {
  const parsed = parseStages(text)
  return parsed.ok ? parsed.pace : null
}

/** The text that `parseStages` reads. */
export function formatStages({ of, stages }: StagesPace): string {
  const parts = stages.map(({ from, to, durationMs, name }) => {
    const levels = from === to ? `${to}` : `${from}..${to}`
    return `${levels}@${formatDurationMs(durationMs)}${name === undefined ? '' : ` ${name}`}`
  })
  return `${of === 'concurrency' ? 'concurrency: ' : ''}${parts.join(', ')}`
}

/** The nearest valid level: not below 0, a whole number in flight, a rate with at most three decimals. */
function toLevel(level: number, of: LevelUnit): number {
  const most = of === 'rate' ? RATE_MAX : IN_FLIGHT_MAX
  const rounded = of === 'rate' ? Math.round(level * 1000) / 1000 : Math.round(level)
  return Math.min(most, Math.max(0, rounded))
}

/** Stages in another unit, with the nearest valid levels. */
export function changeUnit({ stages }: StagesPace, of: LevelUnit): StagesPace {
  return {
    of,
    kind: 'stages',
    stages: stages.map((stage) => mapLevels(stage, (level) => toLevel(level, of))),
  }
}

function mapLevels(stage: Stage, map: (level: number) => number): Stage {
  return { ...stage, from: map(stage.from), to: map(stage.to) }
}

/**
 * Moves a part of a stage to a level. Two stages that meet at a level continue to meet. Stages that would
 * send nothing at all stay unchanged.
 */
export function moveLevel(pace: StagesPace, index: number, part: StagePart, level: number): StagesPace {
  const moved = pace.stages[index]
  if (moved === undefined) return pace
  const { of } = pace
  const by = level - (part === 'to' ? moved.to : moved.from)
  const next =
    part === 'line'
      ? mapLevels(moved, (one) => toLevel(one + by, of))
      : { ...moved, [part]: toLevel(level, of) }
  const meetsBefore = pace.stages[index - 1]?.to === moved.from
  const meetsAfter = pace.stages[index + 1]?.from === moved.to
  const stages = pace.stages.map((stage, at) => {
    if (at === index) return next
    if (at === index - 1 && meetsBefore) return { ...stage, to: next.from }
    return at === index + 1 && meetsAfter ? { ...stage, from: next.to } : stage
  })
  return stages.every(({ from, to }) => from === 0 && to === 0) ? pace : { ...pace, stages }
}

/** Gives a stage exact levels; its neighbours, and stages that would send nothing, do not change. */
export function changeLevels(
  pace: StagesPace,
  index: number,
  levels: Partial<Pick<Stage, 'from' | 'to'>>,
): StagesPace {
  const stages = pace.stages.map((stage, at) =>
    at === index ? mapLevels({ ...stage, ...levels }, (level) => toLevel(level, pace.of)) : stage,
  )
  return stages.every(({ from, to }) => from === 0 && to === 0) ? pace : { ...pace, stages }
}

/** Shortest duration of a stage in the editor, milliseconds. */
const SHORTEST_MS = 100

/** Changes a stage's duration; later stages begin earlier or later. The total stays within a week. */
export function changeDuration(pace: StagesPace, index: number, durationMs: number): StagesPace {
  const others = toTotalMs(pace.stages) - (pace.stages[index]?.durationMs ?? 0)
  const allowed = Math.min(LOAD_MAX_MS - others, Math.max(SHORTEST_MS, Math.round(durationMs)))
  return {
    ...pace,
    stages: pace.stages.map((stage, at) => (at === index ? { ...stage, durationMs: allowed } : stage)),
  }
}

/** Adds a stage after another (default: the last), which holds the level reached there. */
export function addStage(pace: StagesPace, after = pace.stages.length - 1): StagesPace {
  const before = pace.stages[after]
  const level = before?.to ?? 10
  const stage = { from: level, to: level, durationMs: before?.durationMs ?? 30_000 }
  return { ...pace, stages: pace.stages.toSpliced(after + 1, 0, stage) }
}

/** Removes a stage, unless it is the only one that sends something. */
export function removeStage(pace: StagesPace, index: number): StagesPace {
  const stages = pace.stages.toSpliced(index, 1)
  return stages.some(({ from, to }) => from > 0 || to > 0) ? { ...pace, stages } : pace
}

export const STAGE_SHAPES = [
  { shape: 'ramp', label: 'Ramp', meaning: 'up to a level, held, and down again' },
  { shape: 'steps', label: 'Steps', meaning: 'a higher level every minute' },
  { shape: 'spike', label: 'Spike', meaning: 'ten times the level for a few seconds' },
] as const

export type StageShape = (typeof STAGE_SHAPES)[number]['shape']

export function createStages(shape: StageShape, of: LevelUnit, peak: number): StagesPace {
  const top = Math.max(1, toLevel(peak, of))
  const share = (part: number) => Math.max(1, toLevel(top * part, of))
  const hold = (level: number, durationMs: number) => ({ from: level, to: level, durationMs })
  const shapes: Record<StageShape, Stage[]> = {
    ramp: [
      { from: 0, to: top, durationMs: 60_000 },
      hold(top, 120_000),
      { from: top, to: 0, durationMs: 30_000 },
    ],
    steps: [0.25, 0.5, 0.75, 1].map((part) => hold(share(part), 60_000)),
    spike: [hold(share(0.1), 60_000), hold(top, 10_000), hold(share(0.1), 60_000)],
  }
  return { kind: 'stages', of, stages: shapes[shape] }
}

/** Step of an arrow key: 1, 2 or 5 times a power of ten, at most a hundredth of the range. */
export function toStep(range: number, least: number): number {
  const wanted = Math.max(least, range / 100)
  const power = 10 ** Math.floor(Math.log10(wanted) + 1e-9)
  const factor = [5, 2, 1].find((one) => one * power <= wanted * (1 + 1e-9)) ?? 1
  return Math.max(least, factor * power)
}

const DURATION_STEPS = [100, 500, 1_000, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000]

/** Step of an arrow key: the longest round time up to a fiftieth of the total, milliseconds. */
export function toDurationStep(totalMs: number): number {
  return DURATION_STEPS.findLast((step) => step <= totalMs / 50) ?? SHORTEST_MS
}
