import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWorkspaceFolders, listRunIds } from '../../../src/main/engine/workspace/workspace-files.ts'
import type { Fix } from '../../../src/shared/plan/fixes.ts'
import type { PlanInput } from '../../../src/shared/plan/plan.ts'
import { startRecordingService } from '../recording-service.ts'
import type { CrashTask } from './crash-child.ts'
import { createJudge, type Judge } from './crash-judge.ts'
import { createRandom, runKilled, toKill } from './kill.ts'

const ROWS = 3_000
/** One row in this many is invalid until corrected, corrected from the start, and refused at first. */
const INVALID_EVERY = 50
const CORRECTED_EVERY = 30
const REFUSED_EVERY = 40
/** A row that the retry leaves out. */
const LEFT_OUT = 7
/** Corrections of the run, and further ones of its retry. */
const FIXES: Fix[] = [{ kind: 'value', problem: 'required', field: 'user_id', value: 'anon-{{row}}' }]
const FIXES_OF_RETRY: Fix[] = [
  ...FIXES,
  { kind: 'substitute', field: 'user_id' },
  { kind: 'leave_out_row', row: LEFT_OUT },
]
/** A killed export dies at most this long after its process has begun, milliseconds. */
const EXPORT_MS = 600
/**
 * Most kills of one run, after which it may end: on a slow machine, they may happen before anything is done.
 */
const KILLS_MAX = 40
/** More sessions than any run should need. */
const SESSIONS_MAX = 60

/**
 * The result of a campaign of kills. Every list of violations is empty if the promise of docs/architecture.md
 * §2.1 was kept.
 */
export interface CrashReport {
  kills: number
  runs: number
  /** Number of kills by their planned time. */
  struck: Record<string, number>
  rows: number
  /** Killed exports that left no file, and those that had already written theirs completely. */
  exports: { none: number; whole: number }
  /** Rows listed as unknown, summed over all recoveries. */
  listedUnknown: number
  acceptedTwice: number
  violations: string[]
}

/** One workspace of the campaign. */
interface Campaign {
  workspace: string
  random: () => number
  report: CrashReport
  kills: number
  judge: Judge
}

/**
 * Starts real runs as child processes, kills them with SIGKILL at random times and right before and after
 * random commits, resumes them, retries refused rows in the same way, first unchanged and then corrected, and
 * judges everything by the service's own record. The export is killed in the same way.
 */
export async function runCrashCampaign(folder: string, kills: number, seed: number): Promise<CrashReport> {
  const random = createRandom(seed)
  const report: CrashReport = {
    kills: 0,
    runs: 0,
    struck: {},
    exports: { none: 0, whole: 0 },
    rows: 0,
    listedUnknown: 0,
    acceptedTwice: 0,
    violations: [],
  }
  while (report.kills < kills) {
    report.runs += 1
    const workspace = join(folder, `workspace-${report.runs}`)
    createWorkspaceFolders(workspace)
    // Half of the refused rows are accepted at the first retry, all of them at the second.
    let refusedEvery = REFUSED_EVERY
    const service = await startRecordingService((postId, arrivals) => {
      const row = Number(postId.split('-').at(-1))
      if (row % refusedEvery === 0) return 400
      // One answer in twenty is a temporary 503, so that kills also interrupt retries.
      return arrivals === 1 && random() < 0.05 ? 503 : null
    })
    try {
      const judge = createJudge({ workspace, service, report, rows: ROWS, toUserId })
      const campaign = { workspace, random, report, kills, judge }
      const plan = writePlan(workspace, service.baseUrl)
      const runId = await runUntilEnded(campaign, { kind: 'start', plan })
      refusedEvery = 2 * REFUSED_EVERY
      await retryUntilEnded(campaign, runId)
      refusedEvery = Number.POSITIVE_INFINITY
      await retryUntilEnded(campaign, runId, FIXES_OF_RETRY)
      judge.judgeEnd(runId)
      await exportUntilEnded(campaign, runId)
    } finally {
      await service.close()
    }
  }
  return report
}

/**
 * Completes the work in as many sessions as necessary, each of which may be killed; returns the ended run.
 */
async function runUntilEnded(
  { workspace, random, report, kills, judge }: Campaign,
  first: CrashTask['work'],
): Promise<string> {
  for (let session = 0; session < SESSIONS_MAX; session += 1) {
    const before = findRun(workspace, judge)
    const work = before === null ? first : ({ kind: 'resume', runId: before } as const)
    const isKilled = await runKilled(
      { workspace, work },
      report.kills < kills && session < KILLS_MAX ? toKill(random, report) : null,
    )
    if (isKilled) report.kills += 1
    judge.checkSettled()
    const runId = findRun(workspace, judge)
    if (isKilled && runId !== null) judge.noteRecovery(runId)
    if (!isKilled && runId !== null) return runId
  }
  throw new Error(`a run did not end within ${SESSIONS_MAX} sessions`)
}

/**
 * Retries a run in its own journal, with fixes if given, in as many sessions as necessary. A kill leaves it
 * either before or in the retry.
 */
async function retryUntilEnded(campaign: Campaign, runId: string, fixes?: Fix[]): Promise<void> {
  const { workspace, random, report, kills, judge } = campaign
  const kind = fixes === undefined ? 'retry' : 'correction'
  for (let session = 0; session < SESSIONS_MAX; session += 1) {
    const retry = { kind: 'retry', runId, ...(fixes !== undefined && { fixes }) } as const
    const work = judge.hasSession(runId, kind) ? ({ kind: 'resume', runId } as const) : retry
    const isKilled = await runKilled(
      { workspace, work },
      report.kills < kills && session < KILLS_MAX ? toKill(random, report) : null,
    )
    judge.checkSettled()
    if (!isKilled) return
    report.kills += 1
    judge.noteRecovery(runId)
  }
  throw new Error(`a retry did not end within ${SESSIONS_MAX} sessions`)
}

/** Exports a run to new files until an export is not killed: each file is complete or missing. */
async function exportUntilEnded(campaign: Campaign, runId: string): Promise<void> {
  const { workspace, random, report, kills } = campaign
  const left: string[] = []
  for (let number = 1; number <= SESSIONS_MAX; number += 1) {
    const file = join(workspace, `exported-${number}.csv`)
    const kill = { kind: 'time', afterMs: Math.floor(random() * EXPORT_MS) } as const
    const isKilled = await runKilled(
      { workspace, work: { kind: 'export', runId, file } },
      report.kills < kills && number < KILLS_MAX && random() < 0.7 ? kill : null,
    )
    if (isKilled) {
      report.kills += 1
      report.struck['export'] = (report.struck['export'] ?? 0) + 1
      report.exports[existsSync(file) ? 'whole' : 'none'] += 1
      left.push(file)
      continue
    }
    const whole = readFileSync(file, 'utf8')
    const records = whole.trimEnd().split('\n').length
    if (records !== 1 + ROWS) report.violations.push(`an export has ${records} lines`)
    for (const cut of left) {
      if (existsSync(cut) && readFileSync(cut, 'utf8') !== whole)
        report.violations.push(`a killed export left another ${cut}`)
    }
    return
  }
  throw new Error(`an export did not end within ${SESSIONS_MAX} processes`)
}

/** The newest run with a record; null if it was killed before it had one. */
function findRun(workspace: string, judge: Judge): string | null {
  return listRunIds(workspace).find((runId) => judge.hasRecord(runId)) ?? null
}

function toCell(row: number): string {
  if (row % INVALID_EVERY === LEFT_OUT) return 'a_b'
  return row % CORRECTED_EVERY === 1 ? '' : 'user'
}

/** The user_id that a row must be sent with; null if it is never sent. */
function toUserId(row: number): string | null {
  if (row === LEFT_OUT) return null
  return { a_b: 'a~5Fb', '': `anon-${row}` }[toCell(row)] ?? 'user'
}

function writePlan(workspace: string, baseUrl: string): PlanInput {
  const path = join(workspace, 'source.csv')
  const lines = Array.from({ length: ROWS }, (_, i) => `text ${i + 1},${toCell(i + 1)}`)
  writeFileSync(path, `text_data,user_id\n${lines.join('\n')}\n`)
  return {
    connection: { baseUrl },
    source: { path },
    fixes: FIXES,
    operation: { kind: 'task' },
    pace: { kind: 'closed', concurrency: 16 },
    retry: { limit: 6, baseMs: 1, maxMs: 20 },
  }
}
