import { countSendable, countSettled } from '../../../shared/run/counts.ts'
import type { LoadProgress, RunSnapshot } from '../../../shared/run/snapshot.ts'
import type { CliContext } from '../context.ts'
import { toSnakeCase } from '../terminal/output.ts'
import type { ProgressReporter } from './shown-progress.ts'

const LINE_EVERY_MS = 1_000

/**
 * Writes a line of JSON to stderr each second and at each change of phase, for another program
 * (docs/pipelines.md#progress). Messages in between are lines of JSON too.
 */
export function createJsonReporter({ err }: Pick<CliContext, 'err'>, nowMs = Date.now): ProgressReporter {
  /** The newest snapshot that is not written yet. */
  let last: RunSnapshot | null = null
  let writtenPhase: string | null = null
  let writtenAtMs = 0
  const write = (snapshot: RunSnapshot) => {
    last = null
    writtenPhase = snapshot.phase
    writtenAtMs = nowMs()
    void err.writeLine(JSON.stringify(toProgressLine(snapshot, writtenAtMs)))
  }
  return {
    update(snapshot) {
      last = snapshot
      // Snapshots come ten times a second while anything happens, so no timer is needed.
      if (snapshot.phase !== writtenPhase || nowMs() - writtenAtMs >= LINE_EVERY_MS) write(snapshot)
    },
    say: (text) =>
      void err.writeLine(JSON.stringify({ type: 'message', time: new Date(nowMs()).toISOString(), text })),
    finish() {
      if (last !== null) write(last)
    },
  }
}

function toProgressLine(snapshot: RunSnapshot, atMs: number): Record<string, unknown> {
  const { runId, phase, rows, requests, inFlight, ratePerSecond, etaMs, elapsedMs, latencyMs, load, notice } =
    snapshot
  return {
    type: 'progress',
    time: new Date(atMs).toISOString(),
    run_id: runId,
    phase,
    source_bytes: snapshot.bytes,
    // A load test repeats its rows, so none is ever settled.
    settled: load === null ? countSettled(rows) : null,
    sendable: countSendable(rows),
    rows,
    requests,
    in_flight: inFlight,
    requests_per_s: ratePerSecond.current,
    elapsed_s: elapsedMs / 1000,
    eta_s: etaMs === null ? null : etaMs / 1000,
    latency_ms: latencyMs,
    stop_reason: notice?.reason ?? null,
    ...(load !== null && { load: toLoadLine(load) }),
  }
}

function toLoadLine(progress: LoadProgress) {
  const { elapsedMs, measuredMs, silentMs, thresholds, latencyMs: _latency, ...load } = progress
  return {
    ...(toSnakeCase(load) as object),
    elapsed_s: elapsedMs / 1000,
    measured_s: measuredMs === null ? null : measuredMs / 1000,
    silent_s: silentMs === null ? null : silentMs / 1000,
    thresholds: thresholds.map(({ expression, ok, value, unanswered }) => ({
      expression,
      ok,
      value,
      ...(unanswered && { unanswered }),
    })),
  }
}
