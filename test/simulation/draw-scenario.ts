import type { StoredState } from '../../src/main/engine/journal/run-record.ts'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import type { RunCommand } from '../../src/main/engine/session/run-thread.ts'
import type { Fix } from '../../src/shared/plan/fixes.ts'
import { type Plan, type PlanInput, planSchema } from '../../src/shared/plan/plan.ts'
import { createDraw } from '../helpers/seeded-draw.ts'

/** What may happen to a request instead of an answer that accepts it. */
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
  'key_refused',
] as const

/** See {@link FAULTS}. */
export type Fault = (typeof FAULTS)[number]

/** What may happen to a callback instead of arriving in time. */
type CallbackFault = 'lost' | 'late' | 'doubled' | 'refusal' | 'error_first'

/** How the service behaves. Times are milliseconds of the simulated clock since the start of the run. */
export interface ServiceBehaviour {
  /** The share of requests with each fault; a request has at most one. */
  faults: readonly { fault: Fault; share: number }[]
  /** A period in which every request has the same fault. */
  outage: { fromMs: number; toMs: number; fault: 'busy' | 'throttled' | 'refused' } | null
  /** Longest time to an answer. */
  latencyMs: number
  /** Refuses a post_id that it has taken before. */
  refusesTwice: boolean
  /** The share of callbacks with each fault. */
  callbackFaults: Readonly<Record<CallbackFault, number>>
  /** Requests with more terms than this are refused as a whole. */
  termsMax: number
}

/** What happens to one session of the run. Times are relative to the session's start. */
export interface SessionScenario {
  onUnknown: 'resend' | 'skip'
  /** The step at which the session is killed; null for never. See `SimulatedSession.step`. */
  killAtStep: number | null
  commands: readonly { atMs: number; command: RunCommand }[]
  /** Pause until the next session. */
  restartMs: number
}

/** Everything that follows from a seed. */
export interface Scenario {
  plan: Plan
  service: ServiceBehaviour
  /** The sessions that may have faults; the last ones, which follow, have none. */
  sessions: readonly SessionScenario[]
  /** Retries and corrections of the ended run, in order. */
  reworks: readonly Rework[]
}

/** A retry, or a correction with all the fixes that apply from then on. */
export interface Rework {
  /** Null sends rows again unchanged. */
  fixes: readonly Fix[] | null
  /** States in which this begins instead of a resume. */
  after: readonly StoredState[]
}

/** Code of a refusal of a post that was taken before. */
export const DELIVERED_CODE = 'POST_EXISTS'

const BASE_URL = 'http://127.0.0.1:1'

/** The key of every session, sealed. */
export const SIMULATED_KEY = ApiKey.create('key', { baseUrl: BASE_URL }, 'of the simulation').seal()

/** Approximate steps of a session that sends 50 rows. */
const STEPS = 300

/** First steps of a session, in which a resume recovers from a kill. */
const FIRST_STEPS = 10

/** Rows in the source of every simulation. */
export const ROWS = 50

/**
 * For each operation, a field that a correction changes, and a field with a value that makes a row invalid.
 */
const CORRECTED = {
  task: { changed: 'text_data', broken: ['user_id', 'a_c'] },
  'index-add': { changed: 'content_variant', broken: ['url', ''] },
  'index-remove': { changed: null, broken: ['custom_index_item_id', ''] },
  'watchlist-add': { changed: 'notes', broken: ['term', ''] },
} as const

/** See {@link CORRECTED}. */
export type SimulatedOperation = keyof typeof CORRECTED

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
    { kind: 'task', mode: 'async' },
    { kind: 'task', mode: 'async' },
    { kind: 'index-add', indexId: 'shelf' },
    { kind: 'index-add', indexId: 'shelf' },
    { kind: 'index-remove', indexId: 'shelf' },
    { kind: 'watchlist-add', watchlist: 'terms', termsPerRequest: 7 },
  ])
  const plan = planSchema.parse({
    connection: {
      baseUrl: BASE_URL,
      timeoutMs: pick([100, 400]),
      deliveredCodes: [DELIVERED_CODE],
    },
    source: { path: '/source.csv' },
    callback: { timeoutMs: pick([100, 500]) },
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
    callbackFaults: {
      lost: pick([0, 0.1]),
      late: pick([0, 0.3]),
      doubled: pick([0, 0.1]),
      refusal: pick([0, 0.2]),
      error_first: pick([0, 0.1]),
    },
    termsMax: pick([3, 1_000]),
  }
  const consent = pick([['skip'], ['skip'], ['resend'], ['skip', 'resend']] as const)
  const sessions = Array.from({ length: Math.ceil(draw() * 3) }, () => ({
    onUnknown: pick<'skip' | 'resend'>(consent),
    killAtStep: draw() < 0.8 ? upTo(draw() < 0.2 ? FIRST_STEPS : STEPS) : null,
    commands: drawCommands(draw, upTo),
    restartMs: draw() * 500,
  }))
  const drawAfter = () =>
    pick<readonly StoredState[]>([['completed'], ['completed', 'stopped', 'interrupted']])
  const kind = operation.kind as SimulatedOperation
  const reworks = Array.from({ length: Math.floor(draw() * 4) }, (_, number) => ({
    fixes: draw() < 0.4 ? null : drawFixes(kind, number + 1, draw, upTo),
    after: drawAfter(),
  }))
  return { plan, service, sessions, reworks }
}

/** Fixes that change some rows, make some invalid, leave some out, and make ids of tasks valid. */
function drawFixes(
  operation: SimulatedOperation,
  number: number,
  draw: () => number,
  upTo: (max: number) => number,
): Fix[] {
  const { changed, broken } = CORRECTED[operation]
  const [field, value] = broken
  const records = (share: number) =>
    Array.from({ length: ROWS }, (_, row) => row + 1).filter(() => draw() < share)
  const isOften = draw() < 0.5
  return [
    ...(changed === null ? [] : records(isOften ? 0.6 : 0.1)).map(
      (record) => ({ kind: 'cell', record, field: String(changed), value: `corrected ${number}` }) as const,
    ),
    ...records(draw() < 0.5 ? 0.05 : 0).map((record) => ({ kind: 'cell', record, field, value }) as const),
    ...(draw() < 0.4 ? [{ kind: 'leave_out_row', record: upTo(ROWS) } as const] : []),
    ...(operation === 'task' && draw() < 0.5 ? [{ kind: 'substitute', field: 'user_id' } as const] : []),
  ]
}

function drawCommands(draw: () => number, upTo: (max: number) => number): SessionScenario['commands'] {
  const kind = draw()
  const atMs = draw() * 200
  if (kind < 0.65) return []
  if (kind < 0.7) return [{ atMs, command: { kind: 'set_api_key', apiKey: SIMULATED_KEY } }]
  if (kind < 0.8) return [{ atMs, command: { kind: 'set_concurrency', concurrency: upTo(12) } }]
  if (kind < 0.9) return [{ atMs, command: { kind: 'stop' } }]
  return [
    { atMs, command: { kind: 'pause' } },
    { atMs: atMs + draw() * 200, command: { kind: 'resume' } },
  ]
}
