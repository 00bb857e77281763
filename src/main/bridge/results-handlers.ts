import { type ExportFormat, LOAD_SECONDS_MAX, type LoadOverview } from '../../shared/bridge/results.ts'
import { decodeHistogram, toLatencyBars } from '../../shared/load/latency-meter.ts'
import type { LoadChartSecond, LoadReport, LoadSecond } from '../../shared/load/load-report.ts'
import { CHARTED_METRICS, COURSE_METRICS, type TrendMetric } from '../../shared/load/metrics.ts'
import { sendsKey } from '../../shared/operations/operations.ts'
import { removeSourceEnding } from '../../shared/plan/source-formats.ts'
import { isOfKind, ROW_STATES } from '../../shared/run/item-state.ts'
import { OUTCOME_FILES } from '../../shared/run/results.ts'
import { AUTHORIZATION_HEADER, JSON_CONTENT_TYPE, toAuthorization } from '../../shared/service/endpoints.ts'
import type { Engine } from '../engine/engine.ts'
import type { BridgeServices, ExportPlace, Handlers } from './bridge-context.ts'
import { createExcerpts } from './sources.ts'

const MASKED_KEY = '••••••••'

/** Longest file name, in characters, that every system accepts, including ending and run. */
const NAME_MAX = 120

export const resultsHandlers: Handlers<'results'> = {
  columns: ({ context, input }) => context.engine.results.readColumns(input.runId),
  listColumns: ({ context, input }) => context.engine.results.listColumns(input.runId),
  page: async ({ context: { engine }, input: { runId, ...query } }) => {
    const page = await readSettled(engine, runId, () => engine.results.readPage(runId, query))
    const { rows, texts, ...counted } = page
    return {
      rows: rows.map((row, index) => {
        const { cells, cellLengths: textLengths } = createExcerpts(texts[index] ?? [])
        return { ...row, ...createExcerpts(row.cells), texts: cells, textLengths }
      }),
      ...counted,
    }
  },
  findOffset: ({ context: { engine }, input: { runId, ...query } }) =>
    engine.results.findOffset(runId, query),
  facets: ({ context: { engine }, input: { runId, filter } }) =>
    readSettled(engine, runId, () => engine.results.readFacets(runId, filter)),
  foundFacets: ({ context: { engine }, input: { runId, filter } }) =>
    readSettled(engine, runId, () => engine.results.readFoundFacets(runId, filter)),
  row: ({ context: { engine }, input: { runId, row } }) =>
    readSettled(engine, runId, () => engine.results.readRow(runId, row)),
  latency: async ({ context: { engine }, input: { runId, sinceSecond = 0, metrics } }) => {
    const { seconds, bars } = await readSettled(engine, runId, () =>
      engine.results.readLatency(runId, metrics),
    )
    return { seconds: seconds.filter(({ second }) => second >= sinceSecond), bars }
  },
}

/**
 * Reads a run while looking for late callbacks, and reads again if there were any. They are rare, and a
 * screen must not wait for the search.
 */
async function readSettled<Value>(engine: Engine, runId: string, read: () => Promise<Value>): Promise<Value> {
  const [hasChanged, value] = await Promise.all([engine.runs.settleLate(runId), read()])
  return hasChanged ? read() : value
}

export const checkHandlers: Handlers<'check'> = {
  problems: ({ context, input }) => context.engine.results.readProblems(input.runId),
  openWarnings: ({ context, input }) => context.engine.results.readOpenWarnings(input.runId),
}

export const reviewHandlers: Handlers<'review'> = {
  findRow: ({ context, input }) => context.engine.results.findRow(input.runId, input.row),
  readRequest: async ({ context, input }) => {
    const [detail, { operation, connection }] = await Promise.all([
      context.engine.results.readRow(input.runId, input.row),
      context.engine.runs.readPlan(input.runId),
    ])
    const { state, message } = detail.result
    const isUnsent = isOfKind(state, 'unsent')
    return {
      row: input.row,
      place: detail.result.place,
      method: detail.requestMethod,
      url: detail.requestUrl,
      headers: [
        ...toHeaders(detail.requestBody !== null, sendsKey(operation)),
        ...Object.entries(connection.headers ?? {}),
      ],
      body: isUnsent ? null : detail.requestBody,
      unsentBecause: isUnsent ? (message ?? ROW_STATES[state].meaning) : null,
      problems: detail.problems,
    }
  },
}

/** The headers of a request with the key masked; reading an appeal needs no key (docs/interface.md §4.7). */
function toHeaders(hasBody: boolean, hasKey: boolean): [name: string, value: string][] {
  return [
    ...(hasBody ? [['content-type', JSON_CONTENT_TYPE] as [string, string]] : []),
    ['accept', JSON_CONTENT_TYPE],
    ...(hasKey ? [[AUTHORIZATION_HEADER, toAuthorization(MASKED_KEY)] as [string, string]] : []),
  ]
}

export const loadHandlers: Handlers<'load'> = {
  report: async ({ context, input }) =>
    toLoadOverview(await context.engine.results.readLoadReport(input.runId), input.metrics),
  importK6: async ({ context, input: { sourceIds, name, ofRunId } }) => {
    const { engine, liveRuns, sources } = context
    const files = sourceIds.map((sourceId) => sources.find(sourceId))
    const summary = await engine.runs.importK6(
      files.map(({ path }) => path),
      {
        name: name ?? `k6: ${files[0]?.name ?? ''}`,
        ...(ofRunId === undefined ? {} : { ofRunId }),
      },
    )
    liveRuns.noteChange()
    return summary
  },
}

/** A report for a window: small enough to send, however long the test was. */
export function toLoadOverview(
  report: LoadReport,
  metrics: readonly TrendMetric[] = CHARTED_METRICS,
): LoadOverview {
  const { seconds, histograms, comparison: _none, ...rest } = report
  const bars: LoadOverview['bars'] = {}
  for (const metric of COURSE_METRICS) {
    const encoded = histograms[metric]
    if (encoded !== undefined) bars[metric] = toLatencyBars(decodeHistogram(encoded))
  }
  return { ...rest, seconds: thinSeconds(seconds, metrics), measuredSeconds: seconds.length, bars }
}

function thinSeconds(seconds: readonly LoadSecond[], metrics: readonly TrendMetric[]): LoadChartSecond[] {
  const stretch = Math.max(1, Math.ceil(seconds.length / LOAD_SECONDS_MAX))
  return Array.from({ length: Math.ceil(seconds.length / stretch) }, (_, i) =>
    seconds.slice(i * stretch, (i + 1) * stretch),
  ).flatMap((among) => {
    const [first, ...others] = among
    if (first === undefined) return []
    const worst = others.reduce((kept, one) => (toP99(one) > toP99(kept) ? one : kept), first)
    const latencyMs: LoadChartSecond['latencyMs'] = {}
    for (const metric of metrics) {
      const percentiles = worst.latencyMs[metric]
      if (percentiles !== undefined) latencyMs[metric] = percentiles
    }
    const mean = (read: (one: LoadSecond) => number) =>
      Math.round(among.reduce((sum, one) => sum + read(one), 0) / among.length)
    return [
      {
        second: worst.second,
        limited: among.some(({ limited }) => limited),
        scheduled: worst.scheduled === null ? null : mean(({ scheduled }) => scheduled ?? 0),
        counts: {
          sent: mean(({ counts }) => counts.sent),
          succeeded: mean(({ counts }) => counts.succeeded),
          rejected: mean(({ counts }) => counts.rejected),
          failed: mean(({ counts }) => counts.failed),
          unknown: mean(({ counts }) => counts.unknown),
        },
        dropped: mean(({ dropped }) => dropped),
        latencyMs,
      },
    ]
  })
}

function toP99({ latencyMs }: LoadSecond): number {
  return (latencyMs.response_time ?? latencyMs.http_req_duration)?.p99 ?? -1
}

export const exportsHandlers: Handlers<'exports'> = {
  create: async ({ context, input: { runId, format, targetId, ...options } }) => {
    const { engine } = context
    await engine.runs.settleLate(runId)
    const place = await placeRunExport(context, { runId, format, targetId })
    return place.publish(await engine.results.exportRun(runId, { file: place.file, ...options }))
  },
  createOutcomes: async ({ context: { engine, host }, input }) => {
    const { runId, format, targetId, lossless = false } = input
    await engine.runs.settleLate(runId)
    const { name, rows } = await engine.runs.summarizeRun(runId)
    const toName = (file: keyof typeof OUTCOME_FILES) => toExportName(`${file} ${name}`, runId, format)
    const place = await host.placeExport({ targetId, format, name: toName('success') })
    const placeBeside = await host.placeErrors({ success: place.file, name: toName('errors') })
    const [success, errors] = [
      await engine.results.exportRun(runId, { file: place.file, lossless, filter: OUTCOME_FILES.success }),
      await engine.results.exportRun(runId, {
        file: placeBeside.file,
        lossless,
        filter: OUTCOME_FILES.errors,
      }),
    ]
    return {
      success: place.publish(success),
      errors: placeBeside.publish(errors),
      inNeither: Math.max(0, rows.read - success.rows - errors.rows),
    }
  },
}

/** Stores the findings of an ended run. If this fails, they are computed when somebody opens the run. */
export function prepareResults(engine: Engine, runId: string): void {
  void engine.results.storeFindings(runId).catch(() => {})
}

/** Where an export of a run goes. Its name is the run's, after `title` if given. */
export async function placeRunExport(
  { engine, host }: BridgeServices,
  run: { runId: string; format: ExportFormat; targetId?: string | undefined; title?: string },
): Promise<ExportPlace> {
  const { runId, format, targetId, title = '' } = run
  const { name } = await engine.runs.summarizeRun(runId)
  return host.placeExport({ targetId, format, name: toExportName(`${title}${name}`, runId, format) })
}

/** A file name that identifies the run, such as `posts-9f3c2a.csv`, and that every system accepts. */
export function toExportName(runName: string, runId: string, format: string): string {
  const base = removeSourceEnding(runName.normalize('NFC'))
    .replace(/[^\p{Letter}\p{Mark}\p{Number}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
  const short = Array.from(base).slice(0, NAME_MAX).join('').replace(/-+$/, '')
  return `${[short, runId].filter((part) => part !== '').join('-')}.${format}`
}
