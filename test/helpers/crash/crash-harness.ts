import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWorkspaceFolders, listRunIds } from '../../../src/main/engine/workspace/workspace-files.ts'
import type { PlanInput } from '../../../src/shared/plan/plan.ts'
import { startRecordingService } from '../recording-service.ts'
import type { CrashTask } from './crash-child.ts'
import { createJudge, type Judge } from './crash-judge.ts'
import { createRandom, runKilled, toKill } from './kill.ts'

const ROWS = 3_000
/** Every so many rows one is invalid, and one is refused until it is retried. */
const INVALID_EVERY = 50
const REFUSED_EVERY = 40
/** More sessions than any run should need. */
const SESSIONS_MAX = 60

/**
 * What a campaign of kills found. Every list of violations is empty where the promise of docs/architecture.md §2.1
 * held.
 */
export interface CrashReport {
  kills: number
  runs: number
  /** Kills by where they were to strike. */
  struck: Record<string, number>
  rows: number
  /** Rows listed as unknown, summed over all recoveries. */
  listedUnknown: number
  acceptedTwice: number
  violations: string[]
}

/** One workspace under fire. */
interface Campaign {
  workspace: string
  random: () => number
  report: CrashReport
  kills: number
  judge: Judge
}

/**
 * Starts real runs as child processes, kills them with SIGKILL at random instants and right before and after random
 * commits, resumes them, retries what was refused in the same way, and judges from the service's own record.
 */
export async function runCrashCampaign(folder: string, kills: number, seed: number): Promise<CrashReport> {
  const random = createRandom(seed)
  const report: CrashReport = {
    kills: 0,
    runs: 0,
    struck: {},
    rows: 0,
    listedUnknown: 0,
    acceptedTwice: 0,
    violations: [],
  }
  while (report.kills < kills) {
    report.runs += 1
    const workspace = join(folder, `workspace-${report.runs}`)
    createWorkspaceFolders(workspace)
    let isMended = false
    const service = await startRecordingService((postId, arrivals) => {
      const row = Number(postId.split('-').at(-1))
      if (!isMended && row % REFUSED_EVERY === 0) return 400
      // One answer in twenty is a passing 503, so that marks of retries are cut off too.
      return arrivals === 1 && random() < 0.05 ? 503 : null
    })
    try {
      const judge = createJudge({ workspace, service, report, rows: ROWS, isInvalid })
      const campaign = { workspace, random, report, kills, judge }
      const plan = writePlan(workspace, service.baseUrl)
      const runId = await runUntilEnded(campaign, { kind: 'start', plan }, null)
      isMended = true
      const childId = await runUntilEnded(campaign, { kind: 'retry', runId }, runId)
      judge.judgeEnd(runId, childId)
    } finally {
      await service.close()
    }
  }
  return report
}

/** Does the work in as many sessions as it takes, each of which may be killed; returns the run that ended. */
async function runUntilEnded(
  { workspace, random, report, kills, judge }: Campaign,
  first: CrashTask['work'],
  parentRunId: string | null,
): Promise<string> {
  for (let session = 0; session < SESSIONS_MAX; session += 1) {
    const before = findRun(workspace, parentRunId, judge)
    const work = before === null ? first : ({ kind: 'resume', runId: before } as const)
    const isKilled = await runKilled(
      { workspace, work },
      report.kills < kills ? toKill(random, report) : null,
    )
    if (isKilled) report.kills += 1
    judge.checkSettled()
    const runId = findRun(workspace, parentRunId, judge)
    if (isKilled && runId !== null) judge.noteRecovery(runId, parentRunId ?? runId)
    if (!isKilled && runId !== null) return runId
  }
  throw new Error(`a run did not end within ${SESSIONS_MAX} sessions`)
}

/** The newest run that has a record, the parent apart; null where it was killed before it had one. */
function findRun(workspace: string, parentRunId: string | null, judge: Judge): string | null {
  return listRunIds(workspace).find((runId) => runId !== parentRunId && judge.hasRecord(runId)) ?? null
}

function isInvalid(row: number): boolean {
  return row % INVALID_EVERY === 7
}

function writePlan(workspace: string, baseUrl: string): PlanInput {
  const path = join(workspace, 'source.csv')
  const lines = Array.from({ length: ROWS }, (_, i) => `text ${i + 1},${isInvalid(i + 1) ? 'a_b' : 'user'}`)
  writeFileSync(path, `text_data,user_id\n${lines.join('\n')}\n`)
  return {
    connection: { baseUrl },
    source: { path },
    operation: { kind: 'task' },
    pace: { kind: 'closed', concurrency: 16 },
    retry: { limit: 6, baseMs: 1, maxMs: 20 },
  }
}
