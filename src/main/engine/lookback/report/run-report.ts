import { extname } from 'node:path'
import { TREND_METRICS } from '../../../../shared/load/metrics.ts'
import {
  CAUSES_MAX,
  EXAMPLES_MAX,
  type Failure,
  type ReportOptions,
  type RunReport,
  withoutQuotes,
} from '../../../../shared/lookback/run-report.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { adviseInTerminal } from '../../../../shared/messages/outcome-advice.ts'
import { nameRunSource } from '../../../../shared/plan/source-paths.ts'
import { toRowAndRecord } from '../../../../shared/plan/source-place.ts'
import { mergeErrorGroups, toErrorKey } from '../../../../shared/run/counts.ts'
import { NO_RULE } from '../../../../shared/run/row-filters.ts'
import type { ErrorGroup, RunSummary } from '../../../../shared/run/run.ts'
import type { RunFamily } from '../../journal/run-family.ts'
import { refuseSource } from '../../results/export-run.ts'
import { readFamilyLatency, summarizeRun } from '../../results/run-summary.ts'
import { readFacets } from '../../run/results/facets.ts'
import { findNewest, readFamilyRows } from '../../run/results/family-rows.ts'
import { RowIndex } from '../../run/results/row-search.ts'
import { replaceFile, toFileError } from '../../workspace/replace-file.ts'
import { evaluateRun } from '../evaluate-run.ts'
import { readCourse } from './run-course.ts'
import { formatRunPage, type Histograms } from './run-page.ts'
import { writeRunWorkbook } from './run-workbook.ts'

/** The formats of a report, by ending. */
const FORMATS = new Map<string, 'html' | 'xlsx'>([
  ['.html', 'html'],
  ['.htm', 'html'],
  ['.xlsx', 'xlsx'],
])

/**
 * Reports a bulk run and its retries, and writes the report where a file is named. Without content nothing of it
 * quotes a cell of the source. Throws `BAD_USAGE`, and what an evaluation and an export throw.
 */
export async function reportRun(family: RunFamily, options: ReportOptions): Promise<RunReport> {
  const { runId, plan } = family.record
  if (plan.load !== undefined) throw new SluiceError({ id: 'report_of_load', runId })
  const { file } = options
  if (file === undefined) return readReport(family, options)
  refuseSource(family, file)
  const format = FORMATS.get(extname(file).toLowerCase())
  if (format === undefined) throw new SluiceError({ id: 'report_ending', file })
  const report = await readReport(family, options)
  try {
    const bytes = await replaceFile(file, async (append) => {
      if (format === 'html') await append(formatRunPage(report, readHistograms(family)))
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

/** The causes of rows that did not succeed, with their first rows, and the cells that messages may quote. */
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
      message: withContent ? group.message : withoutQuotes(group.message, cells),
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

/** The first rows of several groups of one cause, those of the largest group first where there are many groups. */
function pickExamples(index: RowIndex, groups: readonly ErrorGroup[]): number[] {
  const picked = new Set<number>()
  for (const { outcome, status, error_code, message } of groups) {
    if (picked.size >= EXAMPLES_MAX) break
    const cause = toErrorKey(outcome, status, error_code, message)
    for (const id of index.pick({ cause }, 0, EXAMPLES_MAX - picked.size)) picked.add(id)
  }
  return [...picked].sort((a, b) => a - b)
}

/** A summary without what it says of single rows. */
function leaveContentOut(
  summary: RunSummary,
  failures: readonly Failure[],
  quoted: readonly string[],
): RunSummary {
  const { terms, stop_reason: reason } = summary
  return {
    ...summary,
    source: nameRunSource(summary),
    stop_reason: reason === null ? null : withoutQuotes(reason, quoted),
    errors: failures.map(({ outcome, status, error_code, message, rows }) => ({
      ...{ outcome, status, error_code, message, rows },
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
  return Object.fromEntries(
    TREND_METRICS.flatMap((metric) => {
      const encoded = latency.encode(metric)
      return encoded === null ? [] : [[metric, encoded]]
    }),
  )
}
