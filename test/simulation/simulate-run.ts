import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers'
import { type Clock, install } from '@sinonjs/fake-timers'
import { openJournalReader } from '../../src/main/engine/journal/journal.ts'
import { readRunRecord, type StoredState } from '../../src/main/engine/journal/run-record.ts'
import { readSessions } from '../../src/main/engine/journal/sessions.ts'
import { toJournalFile } from '../../src/main/engine/workspace/workspace-files.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'
import { judgeHistory } from '../helpers/history/judge-history.ts'
import { readRunHistory } from '../helpers/history/read-run-history.ts'
import { createDraw } from '../helpers/seeded-draw.ts'
import { drawScenario, type SessionScenario } from './draw-scenario.ts'
import { FIRST_RUN_ID, writeReadyJournal } from './ready-journal.ts'
import { type Plant, SimulatedSession } from './simulated-session.ts'
import { VirtualService } from './virtual-service.ts'

/** What became of a seed. */
export interface SimulatedRun {
  /** What is wrong, in sentences; nothing if every promise was kept. */
  faults: string[]
  /** Hash of what was sent, in its order, with its times. */
  wireHash: string
  requests: number
  sessions: number
  kills: number
  /** What the run took on the simulated clock, milliseconds. */
  simulatedMs: number
}

/** When every simulation begins, Unix milliseconds. */
const BEGIN_MS = 1_760_000_000_000

/** What happens to the last sessions, in which nothing goes wrong. */
const CALM: SessionScenario = { onUnknown: 'skip', killAtStep: null, commands: [], restartMs: 0 }

/** Sessions that a run and its retry may need once nothing goes wrong any more: two each, the second after a stop. */
const CALM_SESSIONS_MAX = 4

/** A request that was given up may arrive and be answered this much later, milliseconds. */
const LATE_MS = 2_000

/** A run that takes longer hangs, milliseconds of the simulated clock. */
const HANGS_MS = 600_000

/** Runs a seed's scenario to its end in an empty folder, on a clock of its own, and judges what became of it. */
export async function simulateRun(
  seed: number,
  folder: string,
  plant: Plant = (options) => options,
): Promise<SimulatedRun> {
  const { plan, service: behaviour, sessions, retriedAfter } = drawScenario(seed)
  const toWorkspace = (session: number): string => join(folder, `session-${session}`)
  await writeReadyJournal(plan, toWorkspace(1))
  const clock = install({
    now: BEGIN_MS,
    toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
  })
  try {
    const service = new VirtualService(plan, behaviour, createDraw(seed))
    let workspace = toWorkspace(1)
    let isRetrying = false
    let number = 0
    let kills = 0
    let hasEnded = false
    for (const scenario of [...sessions, ...Array<SessionScenario>(CALM_SESSIONS_MAX).fill(CALM)]) {
      number += 1
      service.isCalm = scenario === CALM
      const { onUnknown } = scenario
      const hasBegun = !isRetrying || hasRetry(workspace)
      const session = new SimulatedSession({
        plan,
        service,
        scenario,
        runId: FIRST_RUN_ID,
        work: { kind: hasBegun ? 'resume' : 'retry', onUnknown },
        workspace,
        nextWorkspace: toWorkspace(number + 1),
        random: createDraw(seed * 100 + number),
        plant,
      })
      const hasWork = await advanceUntil(clock, session.ended).then(() => true, isNothingToRetry)
      if (session.isKilled) {
        kills += 1
        workspace = toWorkspace(number + 1)
      } else {
        const state = readState(workspace)
        const isRetried: boolean = !isRetrying && state !== null && retriedAfter.includes(state)
        hasEnded = !hasWork || (state === 'completed' && !isRetried)
        if (hasEnded) break
        isRetrying ||= isRetried
      }
      await advanceUntil(clock, new Promise((resolve) => setTimeout(resolve, scenario.restartMs)))
    }
    // What is on its way arrives, though nobody waits for its answer any more.
    await advanceUntil(clock, new Promise((resolve) => setTimeout(resolve, LATE_MS)))
    const history = readRunHistory(toJournalFile(workspace, FIRST_RUN_ID))
    const resentIndexAdds = sessions.slice(0, number).some(({ onUnknown }) => onUnknown === 'resend')
    const verdict = judgeHistory(history, service.recording.events, { resentIndexAdds })
    return {
      faults: [
        ...(hasEnded ? [] : [`the run had not ended after ${number} sessions`]),
        ...verdict.faults.map(({ kind, message }) => `${kind}: ${message}`),
      ],
      wireHash: createHash('sha256').update(service.sent.join('\n')).digest('hex'),
      requests: service.sent.length,
      sessions: number,
      kills,
      simulatedMs: performance.now(),
    }
  } finally {
    clock.uninstall()
  }
}

/** False if a retry found nothing to send; throws whatever else ended a session. */
function isNothingToRetry(error: unknown): false {
  if (error instanceof SluiceError && error.said.id === 'nothing_to_retry') return false
  throw error
}

/** The state of the run. */
function readState(workspace: string): StoredState | null {
  return read(workspace, (db) => readRunRecord(db)?.state ?? null)
}

/** Whether the run was retried; not where the process was killed before that was written down. */
function hasRetry(workspace: string): boolean {
  return read(workspace, (db) => readSessions(db).some(({ kind }) => kind === 'retry'))
}

function read<Value>(workspace: string, use: (db: DatabaseSync) => Value): Value {
  const db = openJournalReader(toJournalFile(workspace, FIRST_RUN_ID))
  try {
    return use(db)
  } finally {
    db.close()
  }
}

/** Lets simulated time pass until a promise settles; rejects as it does, and where it never settles. */
async function advanceUntil(clock: Clock, promise: Promise<void>): Promise<void> {
  let isOver = false
  const note = (): void => {
    isOver = true
  }
  promise.then(note, note)
  const endMs = clock.now + HANGS_MS
  for (let steps = 1; ; steps += 1) {
    // What follows from the timer before comes before the next one.
    for (let turns = 0; turns < 8; turns += 1) await null
    if (steps % 256 === 0 || clock.countTimers() === 0) await new Promise((resolve) => setImmediate(resolve))
    if (isOver) break
    if (clock.countTimers() === 0 || clock.now > endMs) throw new Error('the run hangs')
    clock.next()
  }
  await promise
}
