import { type QueryKey, replaceEqualDeep } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { create } from 'zustand'
import type { Crash } from '../../shared/bridge/crashes.ts'
import { parseBridgeError } from '../../shared/bridge/errors.ts'
import { followRun, followRuns } from '../../shared/bridge/follow.ts'
import type { RunSummary } from '../../shared/run/run.ts'
import type { RunSnapshot } from '../../shared/run/snapshot.ts'
import { ask, bridge, queryClient, whenOpen } from './client.ts'
import { useStream } from './use-stream.ts'
import { refreshVerdicts } from './verdicts.ts'

const AGAIN_MS = 500

/** How often a run that has ended is read again while callbacks of its rows may still come. */
const LATE_CALLBACKS_MS = 5_000

/** The newest picture of each run that is looked at, and how each stands on disk. */
interface LiveRuns {
  snapshots: Record<string, RunSnapshot>
  summaries: Record<string, RunSummary>
  /** Why a run could not be followed. */
  errors: Record<string, unknown>
  /** What crashed, until a person puts it away. */
  crashes: readonly Crash[]
  /** Grows each time a run is taken up again. */
  turns: Record<string, number>
}

/** Pictures of runs; select narrowly, they come ten times a second. */
export const useLiveRuns = create<LiveRuns>(() => ({
  snapshots: {},
  summaries: {},
  errors: {},
  crashes: [],
  turns: {},
}))

/**
 * Keeps the picture of one run fresh while a screen shows it: snapshots while this process holds it, and its summary
 * once it has ended. Continues after a lost connection.
 */
export function useFollowRun(runId: string): void {
  const turn = useLiveRuns((live) => live.turns[runId])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a run that is taken up again is followed again
  useEffect(() => {
    const controller = new AbortController()
    void keepFollowing(runId, controller.signal)
    return () => controller.abort()
  }, [runId, turn])
}

/** Follows an ended run again wherever it is shown, because it was resumed. */
export function followAgain(runId: string): void {
  useLiveRuns.setState(({ turns }) => ({ turns: { ...turns, [runId]: (turns[runId] ?? 0) + 1 } }))
}

/** Runs whose pictures come by a stream of their own. */
const followed = new Set<string>()

async function keepFollowing(runId: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      let isRead = await readSummary(runId, signal, { unlessLive: true }).then(
        () => true,
        () => false,
      )
      let wasHeld = false
      for await (const snapshot of followRun(bridge, runId, signal)) {
        if (signal.aborted) return
        followed.add(runId)
        useLiveRuns.setState((old) => ({ snapshots: { ...old.snapshots, [runId]: snapshot } }))
        // What was read of a new run while its rows were is not all.
        if (!wasHeld && (snapshot.phase === 'intake' || snapshot.phase === 'ready')) isRead = false
        if (!isRead && snapshot.phase !== 'intake') {
          await readSummary(runId, signal, { unlessLive: true })
          isRead = true
        }
        wasHeld = true
      }
      await readSummary(runId, signal, { unlessLive: false })
      // What was read last may miss how the last rows ended.
      if (wasHeld) refreshRun()
      followed.delete(runId)
      return await followLateCallbacks(runId, signal)
    } catch (error) {
      if (signal.aborted) return
      await readSummary(runId, signal, { unlessLive: false }).catch(() => {})
      useLiveRuns.setState((old) => ({ errors: { ...old.errors, [runId]: error } }))
      if (parseBridgeError(error) !== null) return
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      await whenOpen(signal)
    } finally {
      followed.delete(runId)
    }
  }
}

/** Reads again what a run that has ended says of its rows. */
function refreshRun(): void {
  const ofRows = [ask.results.key(), ask.evaluate.key(), ask.load.key(), ask.receiver.status.key()]
  // The warnings of a retry are among those of its run.
  refresh(...ofRows, ask.check.problems.key())
}

/** Reads a run that has ended again for as long as a late callback may settle one of its rows. */
async function followLateCallbacks(runId: string, signal: AbortSignal): Promise<void> {
  const readRows = () => useLiveRuns.getState().summaries[runId]?.rows
  for (let rows = readRows(); rows !== undefined && rows.awaiting + rows.overdue > 0; rows = readRows()) {
    await new Promise((resolve) => setTimeout(resolve, LATE_CALLBACKS_MS))
    if (signal.aborted) return
    await readSummary(runId, signal, { unlessLive: true })
    if (readRows() !== rows) refreshRun()
  }
}

/** Reads everything under these keys again if it is shown. What is being read may be outdated, so it is given up. */
function refresh(...keys: QueryKey[]): void {
  for (const queryKey of keys) {
    void queryClient.cancelQueries({ queryKey }).then(() => queryClient.invalidateQueries({ queryKey }))
  }
}

async function readSummary(
  runId: string,
  signal: AbortSignal,
  options: { unlessLive: boolean },
): Promise<void> {
  const read = await bridge.runs.summarize({ runId }, { signal })
  if (signal.aborted) return
  useLiveRuns.setState((old) => {
    const { [runId]: _cleared, ...errors } = old.errors
    // Nothing is drawn anew if nothing has changed.
    const summary = replaceEqualDeep(old.summaries[runId], read)
    const isLive = options.unlessLive && summary.state === 'running' && old.snapshots[runId] !== undefined
    return {
      errors,
      summaries: { ...old.summaries, [runId]: summary },
      snapshots: isLive ? old.snapshots : { ...old.snapshots, [runId]: toSnapshot(summary) },
    }
  })
}

/**
 * Keeps the pictures of every held run fresh, and has queries read again: the list of runs when runs come and go, and
 * everything when a lost connection is back. `onEvent` gets each picture of them with the one before.
 */
export function useFollowRuns(
  onEvent: (before: readonly RunSnapshot[], now: readonly RunSnapshot[]) => void,
): void {
  const last = useRef<{ revision: number; live: readonly RunSnapshot[] }>({ revision: 0, live: [] })
  useStream(
    {
      follow: (signal) => followRuns(bridge, signal),
      onSaid: ({ live, crashes, revision }) => {
        const others = live.filter(({ runId }) => !followed.has(runId))
        const snapshots = Object.fromEntries(others.map((snapshot) => [snapshot.runId, snapshot]))
        useLiveRuns.setState((old) => ({ snapshots: { ...old.snapshots, ...snapshots }, crashes }))
        onEvent(last.current.live, live)
        if (revision !== last.current.revision) {
          refresh(
            ask.app.key(),
            ask.capacity.newest.key(),
            ask.connections.key(),
            ask.runs.list.key(),
            ask.settings.read.key(),
          )
          refreshVerdicts()
        }
        last.current = { revision, live }
      },
      onBack: () => void queryClient.invalidateQueries(),
    },
    onEvent,
  )
}

/** The picture of a run that no process holds, from its journal. */
export function toSnapshot(summary: RunSummary): RunSnapshot {
  return {
    runId: summary.run_id,
    // If a retry is running, the run itself has ended; the retry is followed by its own id.
    phase: summary.state === 'running' && !isRetried(summary) ? 'running' : 'ended',
    bytes: { read: 0, total: 0 },
    problems: { errors: summary.rows.invalid, warnings: 0 },
    rows: summary.rows,
    toRepeat: summary.to_repeat.rows,
    requests: summary.requests,
    inFlight: 0,
    ratePerSecond: { current: 0, mean: summary.throughput.attempted_per_s },
    etaMs: null,
    elapsedMs: summary.throughput.duration_s * 1000,
    latencyMs: summary.latency_ms.http_req_duration ?? null,
    triggeredRules: summary.triggered_rules,
    errors: summary.errors.toSorted(
      (a, b) => Number(a.outcome === 'invalid') - Number(b.outcome === 'invalid'),
    ),
    warnings: summary.warnings,
    retryAfter: { answers: summary.retry_after.answers, waitedMs: summary.retry_after.waited_s * 1000 },
    slowdown: null,
    answers: toAnswers(summary),
    callbacks: summary.callbacks ?? null,
    load: null,
    notice:
      summary.stop_reason === null
        ? null
        : { code: null, reason: summary.stop_reason, advice: summary.stop_advice },
  }
}

function isRetried({ retries }: RunSummary): boolean {
  return retries.some(({ state }) => state === 'running')
}

function toAnswers({ terms, appeals }: RunSummary): RunSnapshot['answers'] {
  const { failed, ...others } = terms ?? { failed: [] }
  return { ...others, ...(failed.length > 0 && { failed: failed.length }), ...appeals }
}

const POLL_SHORTEST_MS = 1_000
const POLL_SHARE = 30

/**
 * How often the course of a run is read while it goes on, milliseconds: the longer the run, the longer reading takes, on
 * the machine that measures. Grows in doublings, so that it seldom changes.
 */
export function toPollInterval(elapsedMs: number): number {
  const doublings = Math.ceil(Math.log2(Math.max(1, elapsedMs / POLL_SHARE / POLL_SHORTEST_MS)))
  return POLL_SHORTEST_MS * 2 ** doublings
}
