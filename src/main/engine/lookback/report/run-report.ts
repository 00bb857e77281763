import { extname } from 'node:path'
import { decodeHistogram, toPercentiles } from '../../../../shared/load/latency-meter.ts'
import { mapTrends, TREND_METRICS } from '../../../../shared/load/metrics.ts'
import {
  CAUSES_MAX,
  type CoursePoint,
  EXAMPLES_MAX,
  type Failure,
  type ReportOptions,
  type RunCourse,
  type RunReport,
} from '../../../../shared/lookback/run-report.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { adviseInTerminal } from '../../../../shared/messages/outcome-advice.ts'
import { createQuoteRemover } from '../../../../shared/messages/quotes.ts'
import { nameSource } from '../../../../shared/plan/source-paths.ts'
import { toRowAndRecord } from '../../../../shared/plan/source-place.ts'
import { formatRunMarkdown } from '../../../../shared/report/markdown-reports.ts'
import { mergeErrorGroups, toErrorKey } from '../../../../shared/run/counts.ts'
import { OUTCOMES } from '../../../../shared/run/item-state.ts'
import { NO_RULE } from '../../../../shared/run/row-filters.ts'
import type { ErrorGroup, RunSummary } from '../../../../shared/run/run.ts'
import type { RunFamily, RunView } from '../../journal/run-family.ts'
import { POINTS_MAX } from '../../page/chart-series.ts'
import { refuseSource } from '../../results/export-run.ts'
import { readFamilyLatency, summarizeRun } from '../../results/run-summary.ts'
import { readFacets } from '../../run/results/facets.ts'
import { findNewest, readFamilyRows } from '../../run/results/family-rows.ts'
import { RowIndex } from '../../run/results/row-search.ts'
import { replaceFile, toFileError } from '../../workspace/replace-file.ts'
import type { DatabaseSync } from '../../workspace/sqlite.ts'
import { evaluateRun } from '../evaluate-run.ts'
import { formatRunPage, type Histograms } from './run-page.ts'
import { writeRunWorkbook } from './run-workbook.ts'

const FORMATS = new Map<string, 'html' | 'xlsx' | 'md'>([
  ['.html', 'html'],
  ['.htm', 'html'],
  ['.xlsx', 'xlsx'],
  ['.md', 'md'],
])

/**
 * Reports on a bulk run and its retries, and writes the report if a file is named. Without content, nothing
 * in it quotes a cell of the source. Throws `BAD_USAGE`, and what an evaluation and an export throw.
 */
export async function reportRun(family: RunFamily, options: ReportOptions): Promise<RunReport> {
  const { runId, plan } = family.record
  if (plan.load !== undefined) throw new SluiceError({ id: 'report_of_load', runId })
  const { file } = options
  if (file === undefined) return readReport(family, options)
  refuseSource(family, file, options.evaluation?.labels)
  const format = FORMATS.get(extname(file).toLowerCase())
  if (format === undefined) throw new SluiceError({ id: 'report_ending', file })
  const report = await readReport(family, options)
  try {
    const bytes = await replaceFile(file, async (append) => {
      if (format === 'html') await append(formatRunPage(report, readHistograms(family)))
      else if (format === 'md') await append(formatRunMarkdown(report))
      else for await (const piece of writeRunWorkbook(family, report)) await append(piece)
    })
    return { ...report, written: { file, bytes } }
  } catch (error) {
    throw toFileError(file, error)
  }
}

async function readReport(
  family: RunFamily,
  { withContent, evaluation: asked }: ReportOptions,
): Promise<RunReport> {
  const summary = summarizeRun(family)
  const evaluation = asked === null ? null : await evaluateRun(family, asked)
  const { failures, further, quoted } = readFailures(family, summary, withContent)
  const isTask = family.record.plan.operation.kind === 'task'
  const facets = isTask ? readFacets(family).facets : []
  return {
    app_version: family.record.appVersion,
    has_content: withContent,
    summary: withContent ? summary : leaveContentOut(summary, failures, quoted),
    columns: withContent ? family.record.columns : null,
    course: readCourse(family.members),
    failures,
    further_failures: further,
    rows_without_rule: isTask
      ? (facets.find(({ kind, value }) => kind === 'rule' && value === NO_RULE)?.rows ?? 0)
      : null,
    evaluation:
      evaluation === null || withContent
        ? evaluation
        : {
            ...evaluation,
            listed: evaluation.listed.map((list) => ({
              ...list,
              rows: list.rows.map((row) => ({ ...row, cells: [] })),
            })),
          },
    written: null,
  }
}

/** Causes of unsuccessful rows with their first rows, and the cells that messages may quote. */
function readFailures(family: RunFamily, summary: RunSummary, withContent: boolean) {
  const causes = mergeErrorGroups(summary.errors)
  const left = causes.slice(CAUSES_MAX)
  const index = causes.length === 0 ? null : RowIndex.build(family)
  const quoted: string[] = []
  const failures = causes.slice(0, CAUSES_MAX).map(({ group, merged }): Failure => {
    const ids = index === null ? [] : pickExamples(index, merged)
    const rows = readFamilyRows(family, findNewest(family, ids)).map(({ result }) => result)
    const cells = rows.flatMap((row) => row.cells)
    quoted.push(...cells)
    return {
      ...group,
      message: withContent ? group.message : createQuoteRemover(cells)(group.message),
      further_messages: merged.length - 1,
      // A report names no command: its readers may not have Sluice.
      advice: adviseInTerminal(group, summary)?.text.replace(/:$/, '.') ?? null,
      examples: rows.map((row) => ({
        ...toRowAndRecord(row.row, row.place),
        cells: withContent ? row.cells : null,
      })),
    }
  })
  const further = { causes: left.length, rows: left.reduce((sum, { group }) => sum + group.rows, 0) }
  return { failures, further, quoted }
}

/** The first rows of several groups with one cause, largest groups first if there are many. */
function pickExamples(index: RowIndex, groups: readonly ErrorGroup[]): number[] {
  const picked = new Set<number>()
  for (const { outcome, status, error_code, message } of groups) {
    if (picked.size >= EXAMPLES_MAX) break
    const cause = toErrorKey(outcome, status, error_code, message)
    for (const id of index.pick({ cause }, 0, EXAMPLES_MAX - picked.size)) picked.add(id)
  }
  return [...picked].sort((a, b) => a - b)
}

/** A summary without what it says about single rows. */
function leaveContentOut(
  summary: RunSummary,
  failures: readonly Failure[],
  quoted: readonly string[],
): RunSummary {
  const { terms, stop_reason: reason, more_sources: more } = summary
  const toName = (path: string) => nameSource({ path })
  return {
    ...summary,
    source: toName(summary.source),
    ...(more !== undefined && { more_sources: more.map(toName) }),
    stop_reason: reason === null ? null : createQuoteRemover(quoted)(reason),
    errors: failures.map(({ outcome, status, error_code, message, rows }) => ({
      outcome,
      status,
      error_code,
      message,
      rows,
    })),
    ...(terms === undefined
      ? {}
      : {
          terms: { ...terms, failed: terms.failed.map((failed) => ({ ...failed, term: '', notes: null })) },
        }),
  }
}

function readHistograms({ members }: RunFamily): Histograms {
  const latency = readFamilyLatency(members)
  return mapTrends((metric) => latency.encode(metric))
}

/** A longer time without a result is left out as a pause, seconds. */
const PAUSE_MIN_S = 60

/** Shown length of a pause, seconds. */
const PAUSE_SHOWN_S = 2

/** Seconds read at once, so that no read stays open. */
const PAGE = 200

/**
 * Reads a run and its retries over time, as one course without the pauses in which it waited for a person,
 * such as before a retry on the next day. At most {@link POINTS_MAX} points, whatever its duration.
 */
export function readCourse(members: readonly RunView[]): RunCourse {
  const { places, pauses, endS } = placeSeconds(members)
  const lengthS = Math.max(1, Math.ceil(endS / POINTS_MAX))
  const points: CoursePoint[] = Array.from({ length: Math.ceil(endS / lengthS) }, (_, index) => ({
    from_s: index * lengthS,
    to_s: Math.min(endS, (index + 1) * lengthS),
    sent: 0,
    succeeded: 0,
    rejected: 0,
    failed: 0,
    unknown: 0,
    latency_ms: {},
    limited: false,
  }))
  for (const { db } of members) {
    for (const second of readSeconds(db)) {
      const point = points[Math.floor((places.get(Number(second['at'])) ?? 0) / lengthS)]
      if (point !== undefined) addSecond(point, second)
    }
  }
  return { points, pauses }
}

/** The place of each second in the course, by Unix time. */
function placeSeconds(members: readonly RunView[]) {
  const times = members.flatMap(({ db }) => db.prepare('SELECT at FROM second').all())
  const places = new Map<number, number>()
  const pauses: RunCourse['pauses'] = []
  let endS = 0
  let last: number | null = null
  for (const at of [...new Set(times.map((row) => Number(row['at'])))].sort((a, b) => a - b)) {
    const idleS: number = last === null ? 0 : at - last - 1
    if (idleS > PAUSE_MIN_S) pauses.push({ after_s: endS, length_s: idleS })
    endS += idleS > PAUSE_MIN_S ? PAUSE_SHOWN_S : idleS
    places.set(at, endS)
    endS += 1
    last = at
  }
  return { places, pauses, endS }
}

function* readSeconds(db: DatabaseSync): Generator<Record<string, unknown>, void, undefined> {
  const page = db.prepare('SELECT * FROM second WHERE at > ? ORDER BY at LIMIT ?')
  let lastAt = 0
  for (let rows = page.all(lastAt, PAGE); rows.length > 0; rows = page.all(lastAt, PAGE)) {
    lastAt = Number(rows.at(-1)?.['at'])
    yield* rows
  }
}

function addSecond(point: CoursePoint, second: Record<string, unknown>): void {
  for (const count of ['sent', ...OUTCOMES] as const) {
    point[count] += Number(second[count])
  }
  if (Number(second['generator_limited']) === 1) point.limited = true
  for (const metric of TREND_METRICS) {
    const encoded = second[metric]
    const percentiles = typeof encoded === 'string' ? toPercentiles(decodeHistogram(encoded)) : null
    if (percentiles === null) continue
    const worst = point.latency_ms[metric]
    if (worst === undefined || percentiles.p99 > worst.p99) point.latency_ms[metric] = percentiles
  }
}
