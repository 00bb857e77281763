import { z } from 'zod'

/** Most requests in flight that a plan may ask for. */
export const IN_FLIGHT_MAX = 10_000

/** Highest rate that a plan may ask for, requests a second. */
export const RATE_MAX = 1_000_000

/** Longest load, its warm-up included: a week, in milliseconds. */
export const LOAD_MAX_MS = 7 * 24 * 3_600_000

/** Rates are told apart to this, requests a second, which keeps every schedule exact ({@link RATE_MAX} of them). */
const RATE_STEP = 0.001

/** How long stages last together. */
export function toTotalMs(stages: readonly { durationMs: number }[]): number {
  return stages.reduce((sum, { durationMs }) => sum + durationMs, 0)
}

/** Whether a number of requests in flight is one. */
export function isWholeConcurrency(level: number): boolean {
  return Number.isInteger(level) && level <= IN_FLIGHT_MAX
}

/** Whether a rate has at most three decimals. */
export function isWholeRate(rate: number): boolean {
  const thousandths = rate / RATE_STEP
  return Math.abs(thousandths - Math.round(thousandths)) < 1e-6
}

const rateSchema = z
  .number()
  .positive()
  .max(RATE_MAX)
  .refine(isWholeRate, { error: 'must have at most three decimals' })

const levelSchema = z.number().min(0).max(RATE_MAX)

const stageSchema = z.object({
  from: levelSchema,
  to: levelSchema,
  durationMs: z.int().min(1).max(LOAD_MAX_MS),
})

/** One stage: a level held, or changed evenly from one to another. */
export type Stage = z.infer<typeof stageSchema>

const stagesSchema = z
  .object({
    kind: z.literal('stages'),
    /** What the levels are: requests a second, or requests in flight. */
    of: z.enum(['rate', 'concurrency']),
    stages: z.array(stageSchema).min(1),
  })
  .superRefine(({ of, stages }, context) => {
    const isLevel = of === 'rate' ? isWholeRate : isWholeConcurrency
    const expected =
      of === 'rate'
        ? 'levels must have at most three decimals'
        : `levels must be whole requests in flight, at most ${IN_FLIGHT_MAX}`
    const wrong = stages.findIndex(({ from, to }) => !isLevel(from) || !isLevel(to))
    if (wrong !== -1) context.addIssue({ code: 'custom', path: ['stages', wrong], message: expected })
    if (stages.every(({ from, to }) => from === 0 && to === 0)) {
      context.addIssue({
        code: 'custom',
        path: ['stages'],
        message: 'at least one stage must send something',
      })
    }
    if (toTotalMs(stages) > LOAD_MAX_MS) {
      const message = 'all stages together must not last longer than a week'
      context.addIssue({ code: 'custom', path: ['stages'], message })
    }
  })

/** How fast a load is sent (docs/load-tests.md §2). */
export const loadPaceSchema = z.discriminatedUnion('kind', [
  /** `concurrency` requests in flight; the next is sent when one returns. */
  z.object({ kind: z.literal('closed'), concurrency: z.int().min(1).max(IN_FLIGHT_MAX) }),
  /** `ratePerSecond` requests due each second on an absolute schedule. */
  z.object({ kind: z.literal('open'), ratePerSecond: rateSchema }),
  stagesSchema,
])

/** See {@link loadPaceSchema}. */
export type LoadPace = z.infer<typeof loadPaceSchema>

/** Whether requests are due on a schedule, whether or not the service keeps up. */
export function isOpen(pace: LoadPace): boolean {
  return pace.kind === 'open' || (pace.kind === 'stages' && pace.of === 'rate')
}

/** The pace as stages; `durationMs` is that of a pace which has no stages of its own. */
export function toStages(pace: LoadPace, durationMs: number): readonly Stage[] {
  if (pace.kind === 'stages') return pace.stages
  const level = pace.kind === 'open' ? pace.ratePerSecond : pace.concurrency
  return [{ from: level, to: level, durationMs }]
}

/** The highest level of a pace: requests a second, or requests in flight. */
export function toPeak(pace: LoadPace): number {
  if (pace.kind === 'open') return pace.ratePerSecond
  if (pace.kind === 'closed') return pace.concurrency
  return Math.max(...pace.stages.flatMap(({ from, to }) => [from, to]))
}

/** The level that a warm-up is sent at: the one the load begins with, or rises to where that is nothing. */
export function toWarmupLevel(pace: LoadPace): number {
  if (pace.kind !== 'stages') return toPeak(pace)
  return pace.stages.flatMap(({ from, to }) => [from, to]).find((level) => level > 0) ?? 0
}
