import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs'
import type { StreamedSecond } from '../../../shared/load/streamed-second.ts'
import type { FileUse } from '../../../shared/messages/command-line-messages.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrown, toThrownText } from '../../../shared/messages/thrown.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { listHeaderReferences, parseHeaderValue } from '../../../shared/plan/request-headers.ts'
import { APP_VERSION } from '../../../shared/version.ts'
import type { RunHandle } from '../../engine/engine-interface.ts'
import { findReplacedSource } from '../../engine/workspace/replaced-source.ts'
import type { CliContext } from '../context.ts'
import { resolveFromCaller } from '../invocation.ts'
import type { RunTimeFlags } from '../options/sending-options.ts'
import type { OutTarget } from '../options/shared-options.ts'
import { toTarget } from '../written-files.ts'

/** Where the figures of load tests go during the test. */
export interface LoadOutputs {
  /** Reports this load test from now on. Files keep their content until it begins to send. */
  follow(handle: RunHandle): void
  close(): Promise<void>
}

/** One output, which receives each second. */
interface SecondOutput {
  begin?(): void
  take(second: StreamedSecond): void
  /** Resolves when everything has arrived; rejects with the reason if it has not. */
  close(): Promise<void>
}

/** Files besides the source that a plan or the command names, with their use. */
export type NamedFiles = readonly (readonly [use: FileUse, file: string])[]

export interface AskedOutputs {
  workspace: string
  plan: Plan
  flags: RunTimeFlags
  /** The plan's own files, which nothing else may be written to. */
  namedFiles?: NamedFiles
}

/**
 * Opens all outputs of `--out` and `--metrics-port` before anything is sent. Throws `BAD_USAGE` for a plan
 * without a load test, a port that is taken, and a file that cannot be written, has another use or was not
 * written by Sluice.
 */
export async function openLoadOutputs(context: CliContext, asked: AskedOutputs): Promise<LoadOutputs> {
  const { plan, flags, namedFiles = [] } = asked
  const { metricsPort, metricsHost, metricsLinger = 0, out = [] } = flags
  if (metricsPort === undefined && (metricsHost !== undefined || metricsLinger > 0)) {
    const flag = metricsHost === undefined ? '--metrics-linger' : '--metrics-host'
    throw new SluiceError({ id: 'metrics_port_missing', flag })
  }
  if (plan.load === undefined && (metricsPort !== undefined || out.length > 0)) {
    throw new SluiceError({ id: 'metrics_without_load', flag: out.length > 0 ? '--out' : '--metrics-port' })
  }
  const outputs: SecondOutput[] = []
  const taken = [...listNamed(plan), ...namedFiles]
  if (flags.export !== undefined) taken.push(['export', resolveFromCaller(flags.export, context.env)])
  const closeAll = () => Promise.allSettled(outputs.map((output) => output.close()))
  try {
    for (const target of out) {
      outputs.push(await openOutput(context, asked, target, taken))
      if (target.kind === 'ndjson') taken.push(['out', resolveFromCaller(target.file, context.env)])
    }
    const metrics = metricsPort === undefined ? null : await openMetrics(context, metricsPort, flags)
    if (metrics !== null) outputs.push({ take: metrics.addSecond, close: metrics.close })
    let hasBegun = false
    const begin = () => {
      if (hasBegun) return
      hasBegun = true
      for (const output of outputs) output.begin?.()
    }
    return {
      follow(handle) {
        // An unreadable source, or Ctrl-C while it is read, ends a run before its load begins.
        handle.onSnapshot((snapshot) => {
          if (snapshot.load !== null) begin()
          metrics?.update(snapshot)
        })
        handle.onSecond((second) => {
          begin()
          for (const output of outputs) output.take(second)
        })
      },
      async close() {
        if (metrics !== null && metricsLinger > 0 && hasBegun) await metrics.linger(metricsLinger)
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

async function openMetrics(context: CliContext, port: number, { metricsHost, quiet }: RunTimeFlags) {
  const { serveMetrics } = await import('./metrics.ts')
  const metrics = await serveMetrics(port, metricsHost === undefined ? {} : { host: metricsHost })
  if (!quiet) await context.err.writeLine(`Metrics for Prometheus at ${metrics.url}`)
  return metrics
}

/** Files of the connection that the plan names. */
function listNamed({ connection: { tls, headers } }: Plan): (readonly [FileUse, string])[] {
  const files: (readonly [FileUse, string])[] = [tls?.caFile, tls?.certFile, tls?.keyFile].flatMap((file) =>
    file === undefined ? [] : [['certificate', file] as const],
  )
  for (const [, written] of listHeaderReferences(headers)) {
    const value = parseHeaderValue(written)
    if (value.kind === 'file') files.push(['header', value.path])
  }
  return files
}

async function openOutput(
  context: CliContext,
  { workspace, plan, flags }: AskedOutputs,
  target: OutTarget,
  taken: NamedFiles,
): Promise<SecondOutput> {
  if (target.kind === 'otlp') {
    // A megabyte, loaded only if asked for.
    const { openOtlpOutput } = await import('./otlp-output.ts')
    return openOtlpOutput(target.url, APP_VERSION)
  }
  return openSecondsFile(resolveFromCaller(target.file, context.env), plan, taken, () =>
    toTarget(context, workspace, target.file, flags),
  )
}

/**
 * Writes each second as a line of JSON as soon as it is over. The file keeps its content until the load
 * begins; a new file is removed if no load does. Throws `BAD_USAGE`, also what `refuseForeign` throws for a
 * file of others.
 */
function openSecondsFile(
  file: string,
  { source }: Plan,
  taken: NamedFiles,
  refuseForeign: () => void,
): SecondOutput {
  const { descriptor, isNew } = openUnchanged(file)
  let hasBegun = false
  const close = () => {
    const isUnused = isNew && !hasBegun && fstatSync(descriptor).size === 0
    closeSync(descriptor)
    if (isUnused) rmSync(file, { force: true })
  }
  // Compared once the file exists, since two names may lead to one file.
  const conflict = findConflict(file, source, taken)
  try {
    if (conflict !== null) throw conflict
    refuseForeign()
  } catch (error) {
    close()
    throw error
  }
  let failure: unknown = null
  return {
    begin() {
      hasBegun = true
      try {
        // A pipe or a terminal cannot be emptied.
        if (fstatSync(descriptor).isFile()) ftruncateSync(descriptor)
      } catch (error) {
        failure = error
      }
    },
    take(second) {
      if (failure !== null) return
      try {
        const line = Buffer.from(`${JSON.stringify(toLine(second))}\n`)
        for (let at = 0; at < line.length; ) at += writeSync(descriptor, line, at)
      } catch (error) {
        // The test goes on: its measurements are in the journal.
        failure = error
      }
    },
    async close() {
      close()
      if (failure !== null)
        throw new SluiceError({ id: 'out_cut_off', file, ...toThrown(failure) }, { cause: failure })
    },
  }
}

function openUnchanged(file: string): { descriptor: number; isNew: boolean } {
  try {
    return { descriptor: openSync(file, 'ax'), isNew: true }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw toUnwritable(file, error)
  }
  try {
    return { descriptor: openSync(file, 'a'), isNew: false }
  } catch (error) {
    throw toUnwritable(file, error)
  }
}

function toUnwritable(file: string, error: unknown): SluiceError {
  return new SluiceError({ id: 'out_unwritable', file, ...toThrown(error) }, { cause: error })
}

function findConflict(file: string, source: Plan['source'], taken: NamedFiles): SluiceError | null {
  if (findReplacedSource(source, file) !== null) return new SluiceError({ id: 'out_over_source', file })
  const use = taken.find(([, path]) => findReplacedSource({ path }, file)?.how === 'is')?.[0]
  return use === undefined ? null : new SluiceError({ id: 'out_over_file', file, use })
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
  sentBytes,
  receivedBytes,
  ...second
}: StreamedSecond) {
  return {
    time: new Date(startMs).toISOString(),
    run_id: runId,
    second: second.second,
    scheduled: second.scheduled,
    sent: second.sent,
    ...ended,
    iterations: second.iterations,
    data_sent: sentBytes,
    data_received: receivedBytes,
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
