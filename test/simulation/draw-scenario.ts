import type { StoredState } from '../../src/main/engine/journal/run-record.ts'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import type { RunCommand } from '../../src/main/engine/session/run-thread.ts'
import type { Fix } from '../../src/shared/plan/fixes.ts'
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
  'key_refused',
] as const

/** See {@link FAULTS}. */
export type Fault = (typeof FAULTS)[number]

/** What may become of a callback instead of one that comes in time. */
type CallbackFault = 'lost' | 'late' | 'doubled' | 'refusal' | 'error_first'

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
  /** The share of callbacks that each of these befalls. */
  callbackFaults: Readonly<Record<CallbackFault, number>>
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
  /** What the run is taken up for once it has ended, one after the other. */
  reworks: readonly Rework[]
}

/** A retry, or a correction with all the fixes that hold from then on. */
export interface Rework {
  /** Null sends rows again as they were. */
  fixes: readonly Fix[] | null
  /** States in which the run is not resumed but taken up for this. */
  after: readonly StoredState[]
}

/** Code of a refusal of what was taken before. */
export const DELIVERED_CODE = 'POST_EXISTS'

const BASE_URL = 'http://127.0.0.1:1'

/** The key of every session, and what it is replaced by. */
export const SIMULATED_KEY = ApiKey.create('key', { baseUrl: BASE_URL }, 'of the simulation').seal()

/** Steps of a session that sends 50 rows, about. */
const STEPS = 300

/** Those in which a resume puts right what a kill left. */
const FIRST_STEPS = 10

/** Rows of the source of every simulation. */
export const ROWS = 50

/** A field of each operation that a correction changes, and one with the text that no row may be sent with. */
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

/** Changes some rows, makes some of them invalid, leaves some out, and has ids of tasks written so that they may be sent. */
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
