import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findQuickFolder } from '../helpers/build/files-in-memory.ts'
import { type SimulatedRun, simulateRun } from './simulate-run.ts'
import type { Plant } from './simulated-session.ts'

/** The results of many seeds. */
export interface SeedsReport {
  /** Seeds that broke a promise or did not end. */
  failed: number[]
  /** Results of each seed that ended; see {@link SimulatedRun}. */
  wireHashes: string[]
  requests: number
  sessions: number
  kills: number
  simulatedMs: number
}

/** Simulates runs one after another; each line says what is wrong with a seed and how to repeat it. */
export async function runSeeds(
  first: number,
  count: number,
  onLine: (line: string) => void,
  plant?: Plant,
): Promise<SeedsReport> {
  const report: SeedsReport = {
    failed: [],
    wireHashes: [],
    requests: 0,
    sessions: 0,
    kills: 0,
    simulatedMs: 0,
  }
  for (let seed = first; seed < first + count; seed += 1) {
    const run = await tryRun(seed, plant)
    if (typeof run !== 'string') {
      report.wireHashes.push(run.wireHash)
      report.requests += run.requests
      report.sessions += run.sessions
      report.kills += run.kills
      report.simulatedMs += run.simulatedMs
    }
    const faults = typeof run === 'string' ? [run] : run.faults
    if (faults.length === 0) continue
    report.failed.push(seed)
    onLine([`seed ${seed}:`, ...faults, `repeat: npm run test:sim -- 1 --seed ${seed}`].join('\n  '))
  }
  return report
}

/** Returns the run's error instead of throwing it. */
async function tryRun(seed: number, plant: Plant | undefined): Promise<SimulatedRun | string> {
  const folder = mkdtempSync(join(findQuickFolder(), 'sluice-simulation-'))
  try {
    return await simulateRun(seed, folder, plant)
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
