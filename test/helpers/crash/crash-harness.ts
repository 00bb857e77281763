import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Journal } from '../../../src/main/engine/journal/journal.ts'
import { recoverUnknown } from '../../../src/main/engine/journal/recovery.ts'
import {
  createWorkspaceFolders,
  listRunIds,
  toJournalFile,
} from '../../../src/main/engine/journal/workspace-files.ts'
import type { PlanInput } from '../../../src/shared/plan.ts'
import { type RecordingService, startRecordingService } from '../recording-service.ts'
import type { CrashTask } from './crash-child.ts'

const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url))
const ROWS = 3_000

/** What a campaign of kills found. Every list of violations is empty where the promise of design §2 held. */
export interface CrashReport {
  kills: number
  runs: number
  /** Kills by where they struck. */
  struck: Record<string, number>
  rows: number
  /** Rows listed as unknown, summed over all recoveries. */
  listedUnknown: number
  acceptedTwice: number
  violations: string[]
}

/** Numbers in [0, 1) that repeat for a seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * Starts real runs as child processes, kills them with SIGKILL at random instants and right before and after random
 * commits, resumes them, and judges from the service's own record.
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
    // One answer in twenty is a passing 503, so that marks of retries are cut off too.
    const service = await startRecordingService((_, arrivals) => arrivals === 1 && random() < 0.05)
    try {
      await crashOneRun({ workspace, service, random, report, kills })
    } finally {
      await service.close()
    }
  }
  return report
}

async function crashOneRun(options: {
  workspace: string
  service: RecordingService
  random: () => number
  report: CrashReport
  kills: number
}): Promise<void> {
  const { workspace, service, random, report, kills } = options
  const plan = writePlan(workspace, service.baseUrl)
  const listings = new Map<string, number>()
  const settled = new Map<string, number>()
  for (let session = 0; session < 60; session += 1) {
    const [runId] = listRunIds(workspace)
    const isRead = runId !== undefined && readState(workspace, runId) !== null
    const work: CrashTask['work'] = isRead ? { kind: 'resume', runId } : { kind: 'start', plan }
    const isKilled = await runChild({ workspace, work }, report.kills < kills ? toKill(random, report) : null)
    if (isKilled) report.kills += 1
    const [current] = listRunIds(workspace)
    if (current === undefined) continue
    checkSettled(service, settled, report)
    if (!isKilled) return judge({ workspace, runId: current, service, listings, report })
    noteRecovery({ workspace, runId: current, service, listings, settled, report })
  }
  report.violations.push('a run did not end within 60 sessions')
}

type Kill = { kind: 'commit'; at: string } | { kind: 'time'; afterMs: number }

function toKill(random: () => number, report: CrashReport): Kill {
  const choice = random()
  const kind = choice < 0.35 ? 'before' : choice < 0.7 ? 'after' : 'time'
  report.struck[kind] = (report.struck[kind] ?? 0) + 1
  if (kind === 'time') return { kind, afterMs: Math.floor(random() * 150) }
  return { kind: 'commit', at: `${kind}:${1 + Math.floor(random() * 40)}` }
}

/** Resolves with whether the child was killed; rejects where it failed in any other way. */
function runChild(task: CrashTask, kill: Kill | null): Promise<boolean> {
  const env = { ...process.env, CRASH_AT_COMMIT: kill?.kind === 'commit' ? kill.at : '' }
  const child = spawn(process.execPath, [CHILD, JSON.stringify(task)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  // Random instants count from where the source is read, so that they fall into the sending.
  child.stdout.on('data', () => {
    if (kill?.kind === 'time') setTimeout(() => child.kill('SIGKILL'), kill.afterMs)
  })
  return new Promise((resolve, reject) => {
    child.on('exit', (code, signal) => {
      if (signal === 'SIGKILL') resolve(true)
      else if (code === 0) resolve(false)
      else reject(new Error(`the child ended with ${code ?? signal}: ${stderr}`))
    })
  })
}

function writePlan(workspace: string, baseUrl: string): PlanInput {
  const path = join(workspace, 'source.csv')
  const lines = Array.from({ length: ROWS }, (_, i) => `text ${i + 1},user${i % 7}`)
  writeFileSync(path, `text_data,user_id\n${lines.join('\n')}\n`)
  return {
    connection: { baseUrl },
    source: { path },
    operation: { kind: 'task' },
    pace: { kind: 'closed', concurrency: 16 },
    retry: { limit: 6, baseMs: 1, maxMs: 20 },
  }
}

function readState(workspace: string, runId: string): string | null {
  const journal = new Journal(toJournalFile(workspace, runId), { runId })
  try {
    return (journal.db.prepare('SELECT state FROM run').get()?.['state'] as string | undefined) ?? null
  } finally {
    journal.close()
  }
}

/** Lists what the killed process left unknown, and remembers what it had committed as succeeded. */
function noteRecovery(options: {
  workspace: string
  runId: string
  service: RecordingService
  listings: Map<string, number>
  settled: Map<string, number>
  report: CrashReport
}): void {
  const { workspace, runId, service, listings, settled, report } = options
  const journal = new Journal(toJournalFile(workspace, runId), { runId })
  try {
    recoverUnknown(journal)
    for (const { item } of journal.db.prepare("SELECT item FROM result WHERE state = 'unknown'").all()) {
      const postId = `${runId}-${item}`
      listings.set(postId, (listings.get(postId) ?? 0) + 1)
      report.listedUnknown += 1
    }
    settled.clear()
    for (const { item } of journal.db.prepare("SELECT item FROM result WHERE state = 'succeeded'").all()) {
      const postId = `${runId}-${item}`
      const arrivals = service.arrived.get(postId) ?? 0
      if (arrivals === 0) report.violations.push(`${postId} is journaled as succeeded and never arrived`)
      settled.set(postId, arrivals)
    }
  } finally {
    journal.close()
  }
}

/** What was committed as succeeded before the session must not have arrived again in it. */
function checkSettled(service: RecordingService, settled: Map<string, number>, report: CrashReport): void {
  for (const [postId, arrivals] of settled) {
    const now = service.arrived.get(postId) ?? 0
    if (now !== arrivals) report.violations.push(`${postId} was committed as succeeded and sent again`)
  }
}

function judge(options: {
  workspace: string
  runId: string
  service: RecordingService
  listings: Map<string, number>
  report: CrashReport
}): void {
  const { workspace, runId, service, listings, report } = options
  const journal = new Journal(toJournalFile(workspace, runId), { runId })
  try {
    const states = journal.db.prepare('SELECT state, count(*) AS n FROM result GROUP BY state').all()
    const total = states.reduce((sum, row) => sum + Number(row['n']), 0)
    if (total !== ROWS) report.violations.push(`${total} of ${ROWS} rows have a final state`)
    for (const { state, n } of states) {
      if (state !== 'succeeded') report.violations.push(`${n} rows ended as ${state}`)
      const counted = journal.counters.get('state', String(state))
      if (counted !== Number(n)) report.violations.push(`${state}: counted ${counted}, in the journal ${n}`)
    }
    for (const [state, n] of journal.counters.entries('state')) {
      if (state !== 'succeeded' && n !== 0) report.violations.push(`the counter of ${state} ended at ${n}`)
    }
    const seconds = journal.db.prepare('SELECT sum(sent) AS n FROM second').get()?.['n']
    const tries = journal.db
      .prepare('SELECT count(*) AS n FROM attempt WHERE sent_at_us IS NOT NULL')
      .get()?.['n']
    if (seconds !== tries) report.violations.push(`the seconds hold ${seconds} tries, the journal ${tries}`)
  } finally {
    journal.close()
  }
  for (let row = 1; row <= ROWS; row += 1) {
    const postId = `${runId}-${row}`
    const accepted = service.accepted.get(postId) ?? 0
    const allowed = 1 + (listings.get(postId) ?? 0)
    report.rows += 1
    if (accepted === 0) report.violations.push(`${postId} was lost`)
    if (accepted > 1) report.acceptedTwice += 1
    if (accepted > allowed) {
      report.violations.push(
        `${postId} was accepted ${accepted} times, listed as unknown ${allowed - 1} times`,
      )
    }
  }
}
