import { closeSync, openSync, writeSync } from 'node:fs'
import type { StreamedSecond } from '../../../shared/load/streamed-second.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrown, toThrownText } from '../../../shared/messages/thrown.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { APP_VERSION } from '../../../shared/version.ts'
import type { RunHandle } from '../../engine/engine-interface.ts'
import { findReplacedSource } from '../../engine/workspace/replaced-source.ts'
import type { CliContext } from '../context.ts'
import { resolveFromCaller } from '../invocation.ts'
import type { MetricsFlags, OutTarget } from '../options/shared-options.ts'

/** Where the figures of load tests go while they run. */
export interface LoadOutputs {
  /** Tells of this load test from now on. */
  follow(handle: RunHandle): void
  close(): Promise<void>
}

/** One place that is told of each second. */
interface SecondOutput {
  take(second: StreamedSecond): void
  /** Resolves when everything has arrived. Rejects with what kept it from that. */
  close(): Promise<void>
}

/**
 * Opens everything that `--out` and `--metrics-port` name, before anything is sent. Throws `BAD_USAGE` for a plan without a
 * load test, a port that is taken and a file that cannot be written.
 */
export async function openLoadOutputs(
  context: CliContext,
  { plan, flags }: { plan: Plan; flags: MetricsFlags & { quiet?: true } },
): Promise<LoadOutputs> {
  const { metricsPort, metricsHost, metricsLinger = 0, out = [] } = flags
  if (metricsPort === undefined && (metricsHost !== undefined || metricsLinger > 0)) {
    const flag = metricsHost === undefined ? '--metrics-linger' : '--metrics-host'
    throw new SluiceError({ id: 'metrics_port_missing', flag })
  }
  if (plan.load === undefined && (metricsPort !== undefined || out.length > 0)) {
    throw new SluiceError({ id: 'metrics_without_load', flag: out.length > 0 ? '--out' : '--metrics-port' })
  }
  const outputs: SecondOutput[] = []
  const closeAll = () => Promise.allSettled(outputs.map((output) => output.close()))
  try {
    for (const target of out) outputs.push(await openOutput(context, plan, target))
    const metrics = metricsPort === undefined ? null : await openMetrics(context, metricsPort, flags)
    if (metrics !== null) outputs.push({ take: metrics.addSecond, close: metrics.close })
    return {
      follow(handle) {
        if (metrics !== null) handle.onSnapshot(metrics.update)
        for (const output of outputs) handle.onSecond(output.take)
      },
      async close() {
        if (metrics !== null && metricsLinger > 0) await metrics.linger(metricsLinger)
        for (const ended of await closeAll()) {
          if (ended.status === 'rejected') await context.err.writeLine(toThrownText(ended.reason))
        }
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function openMetrics(
  context: CliContext,
  port: number,
  { metricsHost, quiet }: MetricsFlags & { quiet?: true },
) {
  const { serveMetrics } = await import('./metrics.ts')
  const metrics = await serveMetrics(port, metricsHost === undefined ? {} : { host: metricsHost })
  if (!quiet) await context.err.writeLine(`Metrics for Prometheus at ${metrics.url}`)
  return metrics
}

async function openOutput(context: CliContext, plan: Plan, target: OutTarget): Promise<SecondOutput> {
  if (target.kind === 'otlp') {
    // A megabyte that only those need who ask for it.
    const { openOtlpOutput } = await import('./otlp-output.ts')
    return openOtlpOutput(target.url, APP_VERSION)
  }
  return openSecondsFile(resolveFromCaller(target.file, context.env), plan)
}

/** Writes each second as a line of JSON as soon as it is over. Throws `BAD_USAGE`. */
function openSecondsFile(file: string, { source }: Plan): SecondOutput {
  if (findReplacedSource(source, file) !== null) throw new SluiceError({ id: 'out_over_source', file })
  let descriptor: number
  try {
    descriptor = openSync(file, 'w')
  } catch (error) {
    throw new SluiceError({ id: 'out_unwritable', file, ...toThrown(error) }, { cause: error })
  }
  let failure: unknown = null
  return {
    take(second) {
      if (failure !== null) return
      try {
        const line = Buffer.from(`${JSON.stringify(toLine(second))}\n`)
        for (let at = 0; at < line.length; ) at += writeSync(descriptor, line, at)
      } catch (error) {
        // The test goes on: what it measures is in its journal.
        failure = error
      }
    },
    async close() {
      closeSync(descriptor)
      if (failure !== null)
        throw new SluiceError({ id: 'out_cut_off', file, ...toThrown(failure) }, { cause: failure })
    },
  }
}

/** A second as a line of `--out ndjson=FILE` has it (docs/load-tests.md §4). */
function toLine({
  runId,
  startMs,
  ended,
  inFlight,
  isGeneratorLimited,
  latencyMs,
  buckets,
  ...second
}: StreamedSecond) {
  return {
    time: new Date(startMs).toISOString(),
    run_id: runId,
    second: second.second,
    scheduled: second.scheduled,
    sent: second.sent,
    ...ended,
    dropped: second.dropped,
    in_flight: inFlight,
    generator_limited: isGeneratorLimited,
    statuses: second.statuses,
    latency_ms: latencyMs,
    buckets: Object.fromEntries(
      Object.entries(buckets).map(([metric, { counts, sumMs }]) => [
        metric,
        { counts, sum_ms: Math.round(sumMs * 1000) / 1000 },
      ]),
    ),
  }
}
