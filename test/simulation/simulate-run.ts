import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers'
import { isDeepStrictEqual } from 'node:util'
import { type Clock, install } from '@sinonjs/fake-timers'
import { openJournalReader } from '../../src/main/engine/journal/journal.ts'
import { readRunRecord, type StoredState } from '../../src/main/engine/journal/run-record.ts'
import { readSessions } from '../../src/main/engine/journal/sessions.ts'
import { parseCells } from '../../src/main/engine/journal/stored-cells.ts'
import { createItemRequests } from '../../src/main/engine/sending/item-requests.ts'
import { RunSession } from '../../src/main/engine/session/run-session.ts'
import type { RunTask } from '../../src/main/engine/session/run-thread.ts'
import { toJournalFile } from '../../src/main/engine/workspace/workspace-files.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'
import type { Plan } from '../../src/shared/plan/plan.ts'
import { toErrorKey } from '../../src/shared/run/counts.ts'
import { judgeHistory } from '../helpers/history/judge-history.ts'
import { readRunHistory } from '../helpers/history/read-run-history.ts'
import { createDraw } from '../helpers/seeded-draw.ts'
import { drawScenario, type Rework, type SessionScenario, type SimulatedOperation } from './draw-scenario.ts'
import { ExpectedContent } from './expected-content.ts'
import { FindingsJudge } from './judge-findings.ts'
import { FIRST_RUN_ID, writeReadyJournal } from './ready-journal.ts'
import { type Plant, SimulatedSession, toRunTask } from './simulated-session.ts'
import { VirtualInbox } from './virtual-inbox.ts'
import { VirtualService } from './virtual-service.ts'

/** The result of a seed. */
export interface SimulatedRun {
  /** Broken promises, as sentences; empty if all were kept. */
  faults: string[]
  /** Hash of the requests in order, with their times. */
  wireHash: string
  requests: number
  sessions: number
  kills: number
  /** Duration of the run on the simulated clock, milliseconds. */
  simulatedMs: number
}

/** Start time of every simulation, Unix milliseconds. */
const BEGIN_MS = 1_760_000_000_000

/** The scenario of the last sessions, in which nothing goes wrong. */
const CALM: SessionScenario = { onUnknown: 'skip', killAtStep: null, commands: [], restartMs: 0 }

/**
 * Sessions that a run and each of its reworks may need once nothing goes wrong any more; the second is for
 * after a stop.
 */
const CALM_SESSIONS_MAX = 2

/** An abandoned request may arrive and be answered this much later, milliseconds. */
const LATE_MS = 2_000

/** A run that takes longer counts as hung, milliseconds of the simulated clock. */
const HANGS_MS = 600_000

/** Runs a seed's scenario to its end in an empty folder, on its own clock, and judges the result. */
export async function simulateRun(
  seed: number,
  folder: string,
  plant: Plant = (options) => options,
): Promise<SimulatedRun> {
  const { plan, service: behaviour, sessions, reworks } = drawScenario(seed)
  const toWorkspace = (session: number): string => join(folder, `session-${session}`)
  await writeReadyJournal(plan, toWorkspace(1))
  const clock = install({
    now: BEGIN_MS,
    toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
  })
  try {
    const content = new ExpectedContent(plan.operation.kind as SimulatedOperation, isAsync(plan))
    const inbox = new VirtualInbox(toWorkspace(1))
    const service = new VirtualService(plan, behaviour, { content, inbox, draw: createDraw(seed) })
    const waiting = [...reworks]
    const findings = new FindingsJudge(FIRST_RUN_ID)
    /** The rework to start next, kept until the journal has recorded it. */
    let next: Rework | null = null
    let workspace = toWorkspace(1)
    let number = 0
    let kills = 0
    let hasEnded = false
    const calm = Array<SessionScenario>(CALM_SESSIONS_MAX * (1 + reworks.length)).fill(CALM)
    for (const scenario of [...sessions, ...calm]) {
      number += 1
      service.isCalm = scenario === CALM
      const { onUnknown } = scenario
      findings.look(workspace)
      // Before a session, callbacks that have come for its run are processed.
      await advanceUntil(clock, settle(workspace))
      findings.look(workspace)
      const before = countReworks(workspace)
      const fixes = next?.fixes ?? null
      if (fixes !== null) read(workspace, (db) => content.correct(db, fixes, onUnknown))
      const session = new SimulatedSession({
        service,
        scenario,
        runId: FIRST_RUN_ID,
        work: toWork(next, onUnknown),
        workspace,
        nextWorkspace: toWorkspace(number + 1),
        random: createDraw(seed * 100 + number),
        plant,
        look: () => findings.look(workspace),
      })
      const hasWork = await advanceUntil(clock, session.ended).then(() => true, isNothingToRetry)
      findings.look(workspace)
      if (session.isKilled) {
        kills += 1
        workspace = toWorkspace(number + 1)
      }
      const isDone = next === null || countReworks(workspace) > before || (!hasWork && !session.isKilled)
      if (fixes !== null && (!hasWork || !isDone)) content.undo()
      if (isDone) next = null
      if (!session.isKilled) {
        const state = readState(workspace)
        if (state !== null && waiting[0]?.after.includes(state)) next = waiting.shift() ?? null
        hasEnded = next === null && (!hasWork || state === 'completed')
        if (hasEnded) break
      }
      await advanceUntil(clock, new Promise((resolve) => setTimeout(resolve, scenario.restartMs)))
    }
    // Requests under way still arrive, although nobody waits for their answers.
    await advanceUntil(clock, new Promise((resolve) => setTimeout(resolve, LATE_MS)))
    await advanceUntil(clock, settle(workspace))
    findings.look(workspace)
    findings.store(workspace)
    const history = readRunHistory(toJournalFile(workspace, FIRST_RUN_ID))
    const resentIndexAdds = sessions.slice(0, number).some(({ onUnknown }) => onUnknown === 'resend')
    const verdict = judgeHistory(history, service.recording.events, { resentIndexAdds })
    return {
      faults: [
        ...(hasEnded ? [] : [`the run had not ended after ${number} sessions`]),
        ...verdict.faults.map(({ kind, message }) => `${kind}: ${message}`),
        ...content.faults,
        ...findings.faults,
        ...read(workspace, (db) => [
          ...judgeContent(db, content, workspace),
          ...judgeCounters(db, isAsync(plan) ? null : content.countCorrected()),
        ]),
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

function settle(workspace: string): Promise<void> {
  const task = toRunTask(workspace, FIRST_RUN_ID, { kind: 'settle' })
  return new RunSession(task, () => {}).run()
}

function isAsync({ operation }: Plan): boolean {
  return 'mode' in operation && operation.mode === 'async'
}

/** Returns false if a retry found nothing to send; throws any other error of a session. */
function isNothingToRetry(error: unknown): false {
  if (error instanceof SluiceError && error.said.id === 'nothing_to_retry') return false
  throw error
}

function readState(workspace: string): StoredState | null {
  return read(workspace, (db) => readRunRecord(db)?.state ?? null)
}

/**
 * The number of retries and corrections in the journal. One whose process was killed before it was stored is
 * not counted.
 */
function countReworks(workspace: string): number {
  return read(workspace, (db) => readSessions(db).filter(({ kind }) => kind !== 'resume').length)
}

function toWork(next: Rework | null, onUnknown: 'resend' | 'skip'): RunTask['work'] {
  if (next === null) return { kind: 'resume', onUnknown }
  return next.fixes === null
    ? { kind: 'retry', onUnknown }
    : { kind: 'correct', onUnknown, fixes: next.fixes }
}

/** Compares succeeded and unsent rows with their expected content. */
function judgeContent(db: DatabaseSync, content: ExpectedContent, workspace: string): string[] {
  const record = readRunRecord(db)
  if (record === null) throw new Error('the journal has no run')
  const { mapRow } = createItemRequests(record, workspace)
  return db
    .prepare(
      `SELECT row.id, item, cells, kinds, coalesce(state, iif(item IS NULL, 'invalid', '')) AS state, status, answer,
       (SELECT group_concat(rule_name) FROM found JOIN term ON term.kind = 'rules' AND term.id = found.rules
         JOIN json_each(term.value) AS own JOIN rule ON rule.id = own.value WHERE found.row = row.id) AS rules
       FROM row LEFT JOIN result ON result.row = row.id`,
    )
    .all()
    .flatMap(({ id, item, cells, kinds, state, status, answer, rules }) => {
      const expected = content.get(Number(id))
      const isUnsent = state === 'invalid' || state === 'left_out'
      if (isUnsent !== (expected === null) || isUnsent !== (item === null))
        return [`wrong-content: record ${id} is ${state}, and is to be sent as ${JSON.stringify(expected)}.`]
      if (isUnsent) return []
      const row = Number(id)
      const { body } = mapRow(row, parseCells(String(cells)), kinds === null ? null : String(kinds))
      if (!content.mayBe(row, body))
        return [`wrong-content: record ${row} has ${JSON.stringify(body)}, not ${JSON.stringify(expected)}.`]
      // The service names a task's text as the triggered rule.
      const text = body['text_data']
      if (answer === 'callback_in_doubt' && content.mayBe(row, { ...body, text_data: rules })) return []
      if (text !== undefined && state === 'succeeded' && status !== 409 && rules !== text)
        return [`wrong-content: record ${row} of ${text} triggered ${rules}.`]
      return []
    })
}

/** Compares the counters of causes and corrected rows with the rows themselves. */
function judgeCounters(db: DatabaseSync, wanted: number | null): string[] {
  const readCounts = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map(({ value, n }) => [String(value), Number(n)] as const)
      .sort()
  db.function('to_key', (state: unknown, status: unknown, code: unknown, message: unknown) =>
    toErrorKey(String(state), status as number | null, code as string | null, String(message ?? '')),
  )
  const counted = readCounts("SELECT value, n FROM facet WHERE kind = 'error' AND n <> 0")
  const found = readCounts(
    `SELECT to_key(state, status, error_code, message) AS value, count(*) AS n FROM result
     WHERE state IN ('rejected', 'failed', 'unknown', 'overdue') GROUP BY 1`,
  )
  const [corrected] = readCounts("SELECT value, n FROM facet WHERE kind = 'corrected' AND value = 'rows'")
  const told = corrected?.[1] ?? 0
  return [
    ...(isDeepStrictEqual(counted, found)
      ? []
      : [`counts: causes are counted as ${JSON.stringify(counted)}, and are ${JSON.stringify(found)}.`]),
    ...(wanted === null || told === wanted
      ? []
      : [`counts: ${told} rows are counted as corrected, and ${wanted} are.`]),
  ]
}

function read<Value>(workspace: string, use: (db: DatabaseSync) => Value): Value {
  const db = openJournalReader(toJournalFile(workspace, FIRST_RUN_ID))
  try {
    return use(db)
  } finally {
    db.close()
  }
}

/** Advances simulated time until a promise settles. Rejects with it, or if it never settles. */
async function advanceUntil(clock: Clock, promise: Promise<void>): Promise<void> {
  let isOver = false
  const note = (): void => {
    isOver = true
  }
  promise.then(note, note)
  const endMs = clock.now + HANGS_MS
  for (let steps = 1; ; steps += 1) {
    // Everything that follows from the last timer comes before the next one.
    for (let turns = 0; turns < 8; turns += 1) await null
    if (steps % 256 === 0 || clock.countTimers() === 0) await new Promise((resolve) => setImmediate(resolve))
    if (isOver) break
    if (clock.countTimers() === 0 || clock.now > endMs) throw new Error('the run hangs')
    clock.next()
  }
  await promise
}
