import { type BrowserWindow, Notification, powerSaveBlocker } from 'electron'
import { countSendable, countSettled } from '../../shared/run/counts.ts'
import type { RunSnapshot } from '../../shared/run/snapshot.ts'

export interface HeldRuns {
  snapshots(): RunSnapshot[]
  /** Calls the listener for new snapshots, and when runs begin or end; returns a function that removes it. */
  onChange(listener: () => void): () => void
}

/** Shorter runs are not announced, milliseconds: the person is still there. */
const LONG_RUN_MS = 30_000

/** Whether requests are in flight or will be sent without a person. */
function isSending({ phase }: RunSnapshot): boolean {
  return phase === 'running' || phase === 'draining'
}

/** Whether quitting now would interrupt a run. Paused runs and runs that have not begun send nothing. */
export function isUnderWay(run: RunSnapshot): boolean {
  return isSending(run) || run.phase === 'awaiting'
}

/** The completed share of a run, from 0 to 1; null if unknown. */
function toShare({ load, rows }: RunSnapshot): number | null {
  if (load !== null) {
    const { elapsedMs, measuredMs } = load
    return measuredMs === null ? null : Math.min(1, Math.max(0, elapsedMs / measuredMs))
  }
  const sendable = countSendable(rows)
  return sendable > 0 ? countSettled(rows) / sendable : null
}

// Electron's values for an indeterminate bar, and for none.
const INDETERMINATE = 2
const NO_BAR = -1

/** The value for the progress bar of dock and taskbar: the mean of the known shares. */
function toProgress(runs: readonly RunSnapshot[]): number {
  const active = runs.filter(isUnderWay)
  if (active.length === 0) return NO_BAR
  const shares = active.map(toShare).filter((share) => share !== null)
  return shares.length === 0 ? INDETERMINATE : shares.reduce((sum, share) => sum + share, 0) / shares.length
}

/**
 * Shows runs to the system: a bar on dock and taskbar, no sleep while requests are sent, and a notification
 * when a long run ends while the person is elsewhere. Names neither source nor service, since others may see
 * the screen.
 */
export function showRunsToSystem(
  runs: HeldRuns,
  findWindow: () => BrowserWindow | null,
  openRun: (runId: string) => void,
): void {
  let blocker: number | null = null
  let underWay = new Map<string, number>()

  runs.onChange(() => {
    const snapshots = runs.snapshots()
    findWindow()?.setProgressBar(toProgress(snapshots))

    const isAnySending = snapshots.some(isSending)
    if (isAnySending && blocker === null) blocker = powerSaveBlocker.start('prevent-app-suspension')
    if (!isAnySending && blocker !== null) {
      powerSaveBlocker.stop(blocker)
      blocker = null
    }

    const now = new Map(snapshots.filter(isUnderWay).map(({ runId, elapsedMs }) => [runId, elapsedMs]))
    const paused = new Set(snapshots.filter(({ phase }) => phase === 'paused').map(({ runId }) => runId))
    for (const [runId, elapsedMs] of underWay) {
      if (now.has(runId) || elapsedMs < LONG_RUN_MS) continue
      if (findWindow()?.isFocused() || !Notification.isSupported()) continue
      const title = paused.has(runId) ? 'A run has paused' : 'A run has ended'
      const notification = new Notification({ title, body: 'Open Sluice to see the results.' })
      notification.on('click', () => openRun(runId))
      notification.show()
    }
    underWay = now
  })
}
