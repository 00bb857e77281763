import { type QueryKey, replaceEqualDeep } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { create } from 'zustand'
import type { Crash } from '../../shared/bridge/crashes.ts'
import { parseBridgeError } from '../../shared/bridge/errors.ts'
import { followRun, followRuns } from '../../shared/bridge/follow.ts'
import { toErrorCauses } from '../../shared/run/counts.ts'
import type { RunSummary } from '../../shared/run/run.ts'
import type { RunSnapshot } from '../../shared/run/snapshot.ts'
import { ask, bridge, queryClient, whenOpen } from './client.ts'
import { useStream } from './use-stream.ts'
import { refreshVerdicts } from './verdicts.ts'

const AGAIN_MS = 500

/** How often an ended run is read again while late callbacks may arrive, milliseconds. */
const LATE_CALLBACKS_MS = 5_000

/** The newest snapshot of each followed run, and its summary on disk. */
interface LiveRuns {
  snapshots: Record<string, RunSnapshot>
  summaries: Record<string, RunSummary>
  /** Why a run could not be followed. */
  errors: Record<string, unknown>
  /** Crashes that were not dismissed yet. */
  crashes: readonly Crash[]
  /** Increases each time a run is continued. */
  turns: Record<string, number>
}

type ShownRuns = Pick<LiveRuns, 'errors' | 'summaries' | 'snapshots'>

/** Snapshots of runs; select narrowly, since they come ten times a second. */
export const useLiveRuns = create<LiveRuns>(() => ({
  snapshots: {},
  summaries: {},
  errors: {},
  crashes: [],
  turns: {},
}))

/**
 * Keeps one run's snapshot current while a screen shows it: snapshots while this process holds the run, then
 * its summary. Continues after a lost connection.
 */
export function useFollowRun(runId: string): void {
  const turn = useLiveRuns((live) => live.turns[runId])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a run that is taken up again is followed again
  useEffect(() => {
    const controller = new AbortController()
    void keepFollowing(runId, controller.signal)
    return () => {
      controller.abort()
      ended.delete(runId)
    }
  }, [runId, turn])
}

/** Follows an ended run again, on every screen that shows it, because it was resumed. */
export function followAgain(runId: string): void {
  useLiveRuns.setState(({ turns }) => ({ turns: { ...turns, [runId]: (turns[runId] ?? 0) + 1 } }))
}

/** Runs whose snapshots come through a stream of their own. */
const followed = new Set<string>()

/** Ended runs on screen: another window may rename or delete them. */
const ended = new Map<string, AbortSignal>()

async function keepFollowing(runId: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let wasHeld = false
    try {
      let isRead = await readSummary(runId, signal, { unlessLive: true }).then(
        () => true,
        () => false,
      )
      for await (const snapshot of followRun(bridge, runId, signal)) {
        if (signal.aborted) return
        followed.add(runId)
        useLiveRuns.setState((old) => ({ snapshots: { ...old.snapshots, [runId]: snapshot } }))
        // A summary read while the rows of a new run were read is incomplete.
        if (!wasHeld && (snapshot.phase === 'intake' || snapshot.phase === 'ready')) isRead = false
        if (!isRead && snapshot.phase !== 'intake') {
          await readSummary(runId, signal, { unlessLive: true })
          isRead = true
        }
        wasHeld = true
      }
      await readSummary(runId, signal, { unlessLive: false })
      // Earlier answers may lack the outcomes of the last rows.
      if (wasHeld) refreshRun()
      followed.delete(runId)
      if (!signal.aborted) ended.set(runId, signal)
      return await followLateCallbacks(runId, signal)
    } catch (error) {
      if (signal.aborted) return
      await readSummary(runId, signal, { unlessLive: false }).catch(() => {})
      useLiveRuns.setState((old) => ({
        errors: { ...old.errors, [runId]: error },
        ...(!wasHeld && takeGone(old, runId, error)),
      }))
      if (parseBridgeError(error) !== null) return
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      await whenOpen(signal)
    } finally {
      followed.delete(runId)
    }
  }
}

/** Reads everything about an ended run's rows again. */
function refreshRun(): void {
  const ofRows = [ask.results.key(), ask.evaluate.key(), ask.load.key(), ask.receiver.status.key()]
  // A retry's warnings count as those of its run.
  refresh(...ofRows, ask.check.problems.key())
}

/** Reads an ended run again as long as a late callback may settle one of its rows. */
async function followLateCallbacks(runId: string, signal: AbortSignal): Promise<void> {
  const readRows = () => useLiveRuns.getState().summaries[runId]?.rows
  for (let rows = readRows(); rows !== undefined && rows.awaiting + rows.overdue > 0; rows = readRows()) {
    await new Promise((resolve) => setTimeout(resolve, LATE_CALLBACKS_MS))
    if (signal.aborted) return
    await readSummary(runId, signal, { unlessLive: true })
    if (readRows() !== rows) refreshRun()
  }
}

/** Reads everything under these keys again if it is shown. Cancels current reads, which may be outdated. */
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
  if (!signal.aborted) useLiveRuns.setState((old) => takeSummary(old, read, options))
}

/** Reads a run again that another window may have renamed or deleted. */
async function readEnded(runId: string, signal: AbortSignal): Promise<void> {
  try {
    await readSummary(runId, signal, { unlessLive: true })
  } catch (error) {
    if (!signal.aborted) useLiveRuns.setState((old) => takeGone(old, runId, error))
  }
}

/** Takes that a run no longer exists, if the error says so: it is shown no more. */
export function takeGone(
  { errors, summaries, snapshots }: ShownRuns,
  runId: string,
  error: unknown,
): Partial<ShownRuns> {
  if (parseBridgeError(error)?.code !== 'RUN_NOT_FOUND') return {}
  const { [runId]: _summary, ...otherSummaries } = summaries
  const { [runId]: _snapshot, ...otherSnapshots } = snapshots
  return { errors: { ...errors, [runId]: error }, summaries: otherSummaries, snapshots: otherSnapshots }
}

/**
 * Takes what was read of a run. With `unlessLive`, a run in progress gets no snapshot of it: one that is
 * followed has newer ones, and until then it is unknown whether its rows are still being read.
 */
export function takeSummary(old: ShownRuns, read: RunSummary, options: { unlessLive: boolean }): ShownRuns {
  const { [read.run_id]: _cleared, ...errors } = old.errors
  // Unchanged data draws nothing.
  const summary = replaceEqualDeep(old.summaries[read.run_id], read)
  const isLive = options.unlessLive && summary.state === 'running'
  return {
    errors,
    summaries: { ...old.summaries, [read.run_id]: summary },
    snapshots: isLive ? old.snapshots : { ...old.snapshots, [read.run_id]: toSnapshot(summary) },
  }
}

/**
 * Keeps the snapshots of all held runs current and refreshes queries: the list of runs when runs come and go,
 * and everything after a lost connection returns. `onEvent` gets each list of snapshots with the one before.
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
            ask.history.findPrunable.key(),
            ask.history.readRetention.key(),
            ask.runs.list.key(),
            ask.settings.measure.key(),
            ask.settings.read.key(),
          )
          refreshVerdicts()
          for (const [runId, signal] of ended) void readEnded(runId, signal)
        }
        last.current = { revision, live }
      },
      onBack: () => void queryClient.invalidateQueries(),
    },
    onEvent,
  )
}

/** The snapshot of a run that no process holds, from its journal. */
export function toSnapshot(summary: RunSummary): RunSnapshot {
  return {
    runId: summary.run_id,
    // A run with a running retry has itself ended; the retry is followed under its own id.
    phase:
      summary.state === 'running' && !summary.retries.some(({ state }) => state === 'running')
        ? 'running'
        : 'ended',
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
    errors: toErrorCauses(summary.errors),
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

function toAnswers({ terms, appeals }: RunSummary): RunSnapshot['answers'] {
  const { failed, ...others } = terms ?? { failed: [] }
  return { ...others, ...(failed.length > 0 && { failed: failed.length }), ...appeals }
}

const POLL_SHORTEST_MS = 1_000
const POLL_SHARE = 30

/**
 * How often to read the course of a current run, milliseconds. The longer the run, the longer reading takes,
 * and it burdens the machine that measures. Grows by doubling, so that it rarely changes.
 */
export function toPollInterval(elapsedMs: number): number {
  const doublings = Math.ceil(Math.log2(Math.max(1, elapsedMs / POLL_SHARE / POLL_SHORTEST_MS)))
  return POLL_SHORTEST_MS * 2 ** doublings
}
