import type { StoredState } from '../../src/main/engine/journal/run-record.ts'
import type { RunCommand } from '../../src/main/engine/session/run-thread.ts'
import { type Plan, type PlanInput, planSchema } from '../../src/shared/plan/plan.ts'
import { createDraw } from '../helpers/seeded-draw.ts'

/** What may happen to a request instead of an answer that takes it. */
const FAULTS = [
  'busy',
  'throttled',
  'refused',
  'timeout',
  'reset',
  'dropped',
  'unreadable',
  'slow',
  'rejected',
] as const

/** See {@link FAULTS}. */
export type Fault = (typeof FAULTS)[number]

/** How the service behaves. Times are milliseconds of the simulated clock, from the start of the run. */
export interface ServiceBehaviour {
  /** The share of requests that each fault strikes, one draw for all. */
  faults: readonly { fault: Fault; share: number }[]
  /** A time in which the same happens to every request. */
  outage: { fromMs: number; toMs: number; fault: 'busy' | 'throttled' | 'refused' } | null
  /** An answer takes up to this. */
  latencyMs: number
  /** Refuses a post_id that it has taken before. */
  refusesTwice: boolean
  /** Terms of a request beyond which it is refused whole. */
  termsMax: number
}

/** What happens to one session of the run. Times are from the session's start. */
export interface SessionScenario {
  onUnknown: 'resend' | 'skip'
  /** It is killed at this of its steps; null for never. See `SimulatedSession.step`. */
  killAtStep: number | null
  commands: readonly { atMs: number; command: RunCommand }[]
  /** The next session starts this much later. */
  restartMs: number
}

/** Everything that a seed stands for. */
export interface Scenario {
  plan: Plan
  service: ServiceBehaviour
  /** Those before the last ones, which nothing disturbs. */
  sessions: readonly SessionScenario[]
  /** States in which the run is not resumed but retried; a retry is not retried. */
  retriedAfter: readonly StoredState[]
}

/** Code of a refusal of what was taken before. */
export const DELIVERED_CODE = 'POST_EXISTS'

/** Steps of a session that sends 50 rows, about. */
const STEPS = 300

/** Those in which a resume puts right what a kill left. */
const FIRST_STEPS = 10

/** Draws the scenario of a seed. */
export function drawScenario(seed: number): Scenario {
  const draw = createDraw(seed)
  const pick = <Value>(values: readonly Value[]): Value => {
    const value = values[Math.floor(draw() * values.length)]
    if (value === undefined) throw new Error('nothing to pick from')
    return value
  }
  const upTo = (max: number): number => 1 + Math.floor(draw() * max)
  const operation = pick<PlanInput['operation']>([
    { kind: 'task' },
    { kind: 'task' },
    { kind: 'index-add', indexId: 'shelf' },
    { kind: 'index-add', indexId: 'shelf' },
    { kind: 'index-remove', indexId: 'shelf' },
    { kind: 'watchlist-add', watchlist: 'terms', termsPerRequest: 7 },
  ])
  const plan = planSchema.parse({
    connection: {
      baseUrl: 'http://127.0.0.1:1',
      timeoutMs: pick([100, 400]),
      deliveredCodes: [DELIVERED_CODE],
    },
    source: { path: '/source.csv' },
    operation,
    pace:
      draw() < 0.7
        ? { kind: 'closed', concurrency: upTo(12) }
        : { kind: 'open', ratePerSecond: pick([50, 200, 1_000]), maxInFlight: upTo(12) },
    retry: { limit: pick([0, 1, 3, 5]), baseMs: upTo(50), maxMs: 200, maxRetryAfterMs: pick([100, 1_000]) },
  } satisfies PlanInput)
  const kinds = FAULTS.filter(() => draw() < 0.5)
  const share = pick([0, 0.05, 0.2, 0.5])
  const outageMs = draw() * 300
  const service: ServiceBehaviour = {
    faults: kinds.map((fault) => ({ fault, share: share / kinds.length })),
    outage:
      draw() < 0.25
        ? {
            fromMs: outageMs,
            toMs: outageMs + draw() * 1_000,
            fault: pick(['busy', 'throttled', 'refused'] as const),
          }
        : null,
    latencyMs: pick([3, 20, 60]),
    refusesTwice: draw() < 0.5,
    termsMax: pick([3, 1_000]),
  }
  const consent = pick([['skip'], ['skip'], ['resend'], ['skip', 'resend']] as const)
  const sessions = Array.from({ length: Math.ceil(draw() * 3) }, () => ({
    onUnknown: pick<'skip' | 'resend'>(consent),
    killAtStep: draw() < 0.8 ? upTo(draw() < 0.2 ? FIRST_STEPS : STEPS) : null,
    commands: drawCommands(draw, upTo),
    restartMs: draw() * 500,
  }))
  const retriedAfter = pick<readonly StoredState[]>([
    [],
    ['completed'],
    ['completed', 'stopped', 'interrupted'],
  ])
  return { plan, service, sessions, retriedAfter }
}

function drawCommands(draw: () => number, upTo: (max: number) => number): SessionScenario['commands'] {
  const kind = draw()
  const atMs = draw() * 200
  if (kind < 0.7) return []
  if (kind < 0.8) return [{ atMs, command: { kind: 'set_concurrency', concurrency: upTo(12) } }]
  if (kind < 0.9) return [{ atMs, command: { kind: 'stop' } }]
  return [
    { atMs, command: { kind: 'pause' } },
    { atMs: atMs + draw() * 200, command: { kind: 'resume' } },
  ]
}
