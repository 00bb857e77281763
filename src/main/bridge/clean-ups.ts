import type { CleanUpRecord } from '../../shared/bridge/settings.ts'
import { isRetaining } from '../../shared/lookback/retention.ts'
import { toThrownText } from '../../shared/messages/thrown.ts'
import type { Engine } from '../engine/engine.ts'
import { readRetention } from '../engine/workspace/retention-settings.ts'
import type { LiveRuns } from './live-runs.ts'
import { readSettings } from './settings-store.ts'

/** Time until the first check for due clean-ups, between checks, and between clean-ups, milliseconds. */
const FIRST_LOOK_MS = 60 * 1000
const LOOK_EVERY_MS = 60 * 60 * 1000
const DUE_AFTER_MS = 24 * LOOK_EVERY_MS

/** Checks after a minute, then once an hour. `nowMs` is the clock in Unix milliseconds. */
export function createCleanUps(
  { engine, liveRuns }: { engine: Engine; liveRuns: LiveRuns },
  nowMs: () => number = Date.now,
) {
  let last: CleanUpRecord | null = null

  async function cleanUp(): Promise<Pick<CleanUpRecord, 'runs' | 'sizeBytes'>> {
    const { runs } = await engine.runs.findPrunable(readRetention(engine.workspace))
    // Never includes baselines or runs in use.
    const busy = await engine.runs.deleteRuns(runs.map((run) => run.run_id))
    const deleted = runs.filter((run) => !busy.includes(run.run_id))
    return { runs: deleted.length, sizeBytes: deleted.reduce((sum, run) => sum + run.size_bytes, 0) }
  }

  async function look(): Promise<void> {
    const { workspace } = engine
    if (last !== null && nowMs() - Date.parse(last.at) < DUE_AFTER_MS) return
    if (!readSettings(workspace).settings.cleansUp || liveRuns.snapshots().length > 0) return
    const at = new Date(nowMs()).toISOString()
    try {
      if (!isRetaining(readRetention(workspace))) return
      last = { at, ...(await cleanUp()), failure: null }
      if (last.runs > 0) liveRuns.noteChange()
    } catch (error) {
      last = { at, runs: 0, sizeBytes: 0, failure: toThrownText(error) }
    }
  }

  const first = setTimeout(() => void look(), FIRST_LOOK_MS).unref()
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref()
  return {
    /** The record of the last clean-up; null before the first. */
    last: (): CleanUpRecord | null => last,
    /** Cleans up if that is due and switched on and nothing runs here. Never rejects. */
    look,
    stop(): void {
      clearTimeout(first)
      clearInterval(timer)
    },
  }
}

/** Deletes the runs that exceed the retention limits once a day, if a person has switched that on. */
export interface CleanUps extends ReturnType<typeof createCleanUps> {}
