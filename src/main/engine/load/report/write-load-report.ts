import type { LoadReport, NumberedSample } from '../../../../shared/load/load-report.ts'
import { sayLoadSilence } from '../../../../shared/load/load-silence.ts'
import { toLoadView } from '../../../../shared/load/load-view.ts'
import {
  formatThresholdMargin,
  formatThresholdResult,
  formatThresholdValue,
  type ThresholdResult,
} from '../../../../shared/load/thresholds.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import { formatCounted, formatMs, formatRate } from '../../../../shared/messages/figure-text.ts'
import { ABOUT_DELAYS, MAY_INCLUDE_DELAYS } from '../../../../shared/messages/own-delays.ts'
import { listReadAs } from '../../../../shared/messages/reading-messages.ts'
import { formatLoadMarkdown } from '../../../../shared/report/markdown-reports.ts'
import {
  findExportFormat,
  LOAD_EXPORT_FORMATS,
  type LoadReportFormat,
} from '../../../../shared/run/export-formats.ts'
import { listRowWarnings, listRunWarnings, sayNoSuccess } from '../../../../shared/run/run.ts'
import type { ExportResult } from '../../../../shared/run/written-rows.ts'
import { escapeXml } from '../../page/escape-xml.ts'
import { replaceFile, toFileError } from '../../workspace/replace-file.ts'
import { formatLoadPage } from './load-page.ts'
import { createHlogWriter, createSecondsWriter, formatSample, type HlogInterval } from './tool-reports.ts'

/** The format that a file's ending asks for. Throws `BAD_USAGE` for any other ending. */
export function findLoadReportFormat(file: string): LoadReportFormat {
  const format = findExportFormat(file, LOAD_EXPORT_FORMATS)
  if (format !== null && format !== 'k6.zip') return format
  throw new SluiceError({ id: 'load_report_ending', file })
}

type Pages<Item> = Iterable<readonly Item[]> | AsyncIterable<readonly Item[]>

/** What reports are made from; parts that grow with the run are read in pages. */
export interface LoadReportSource {
  report: LoadReport
  /** Every latency of every second, in order; read only for `.hlog`. */
  intervals: Pages<HlogInterval>
  /** Requests kept in full; read only for `.jsonl`. */
  samples: Pages<NumberedSample>
}

/**
 * Writes a load test's report to a file, in the given format or by its ending. An existing file is replaced
 * once the new one is complete. Throws `BAD_USAGE`, `FILE_UNWRITABLE` or `DISK_FULL`.
 */
export async function writeLoadReport(
  options: LoadReportSource & { file: string; format?: LoadReportFormat },
): Promise<ExportResult> {
  const { file } = options
  const format = options.format ?? findLoadReportFormat(file)
  let rows = 0
  try {
    const sizeBytes = await replaceFile(file, async (append) => {
      for await (const page of WRITERS[format](options)) {
        await append(page.text)
        rows += page.rows
      }
    })
    return { file, rows, sizeBytes }
  } catch (error) {
    throw toFileError(file, error)
  }
}

interface WrittenPage {
  text: string
  /** Requests, seconds or intervals in it; a document for people has none. */
  rows: number
}

const WRITERS: Readonly<
  Record<LoadReportFormat, (source: LoadReportSource) => Iterable<WrittenPage> | AsyncIterable<WrittenPage>>
> = {
  html: ({ report }) => [{ text: formatLoadPage(report), rows: 0 }],
  md: ({ report }) => [{ text: formatLoadMarkdown(report), rows: 0 }],
  'junit.xml': ({ report }) => [{ text: formatJunitReport(report), rows: 0 }],
  async *hlog({ report, intervals }) {
    const writer = createHlogWriter({ startedAt: report.startedAt ?? EPOCH, runId: report.runId })
    yield { text: writer.header(), rows: 0 }
    for await (const page of intervals) yield { text: page.map(writer.interval).join(''), rows: page.length }
  },
  *csv({ report }) {
    const writer = createSecondsWriter({ startedAt: report.startedAt ?? EPOCH })
    yield { text: writer.header(), rows: 0 }
    for (const second of report.seconds) yield { text: writer.second(second), rows: 1 }
  },
  async *jsonl({ samples }) {
    for await (const page of samples) yield { text: page.map(formatSample).join(''), rows: page.length }
  },
}

/** Stands for the start of a load that never began; its log holds no interval. */
const EPOCH = '1970-01-01T00:00:00.000Z'

const CLASS_NAME = 'sluice.load'

/**
 * A load test as JUnit XML, for CI servers: a test case for the run itself, an error if it did not finish,
 * one for each threshold, and one that fails if no request succeeded. Follows the schema of Ant's JUnit
 * report, the strictest in use: it has every attribute and element that any of them requires.
 */
export function formatJunitReport(report: LoadReport): string {
  const { thresholds, durationMs } = report
  const timeS = (durationMs / 1000).toFixed(3)
  const cases = [
    { name: 'the run went to its end', problem: toEndError(report) },
    ...toNoSuccess(report).map((problem) => ({ name: 'at least one request succeeded', problem })),
    ...thresholds.map((result) => ({ name: result.expression, problem: toFailure(result) })),
  ]
  const count = (kind: TestProblem['kind']) => cases.filter(({ problem }) => problem?.kind === kind).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="${toToken(report.name)}" package="sluice" id="0" timestamp="${toTimestamp(report)}" hostname="localhost" tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="0" time="${timeS}">`,
    '    <properties>',
    ...listProperties(report).map(
      ([name, value]) => `      <property name="${name}" value="${escapeXml(value)}"/>`,
    ),
    '    </properties>',
    ...cases.flatMap(({ name, problem }) => formatCase(name, timeS, problem)),
    `    <system-out>${escapeXml(toOutput(report))}</system-out>`,
    '    <system-err></system-err>',
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

interface TestProblem {
  kind: 'failure' | 'error'
  type: string
  message: string
}

function formatCase(name: string, timeS: string, problem: TestProblem | null): string[] {
  const open = `    <testcase name="${toToken(name)}" classname="${CLASS_NAME}" time="${timeS}"`
  if (problem === null) return [`${open}/>`]
  const { kind, type, message } = problem
  const text = escapeXml(message)
  return [`${open}>`, `      <${kind} message="${text}" type="${type}">${text}</${kind}>`, '    </testcase>']
}

function toFailure(result: ThresholdResult): TestProblem | null {
  if (result.ok) return null
  const message = `${result.expression} does not hold: ${formatThresholdValue(result)}, ${formatThresholdMargin(result)}`
  return { kind: 'failure', type: 'threshold', message }
}

function toEndError({ state, stopReason }: LoadReport): TestProblem | null {
  if (state === 'completed') return null
  return {
    kind: 'error',
    type: state,
    message: `the run was ${state}: ${stopReason ?? 'it was stopped manually'}`,
  }
}

/** A failure if nothing succeeded, as in the exit code of the load test. */
function toNoSuccess({ counts, callbacks }: LoadReport): TestProblem[] {
  const message = sayNoSuccess({ requests: counts, callbacks })
  if (message === null) return []
  return [
    { kind: 'failure', type: 'no_success', message: message.charAt(0).toLowerCase() + message.slice(1) },
  ]
}

function listProperties(report: LoadReport): [name: string, value: string][] {
  const duration = report.latencyMs.http_req_duration
  const { rejected, failed, unknown } = report.counts
  return [
    ['run_id', report.runId],
    ['sluice_version', report.appVersion],
    ['state', report.state],
    ['base_url', report.baseUrl],
    ['operation', report.operation],
    ['source', report.source],
    ...(report.readAs === undefined
      ? []
      : ([['read_as', listReadAs(report.readAs, 'window').join('; ')]] satisfies [string, string][])),
    ['plan', report.plan.join('; ')],
    ['generator_limited', String(report.generator.limited)],
    ['requests', String(report.counts.sent)],
    ['requests_not_succeeded', String(rejected + failed + unknown)],
    ['dropped', String(report.generator.dropped)],
    ['succeeded_per_s', report.rates.succeededPerS.toFixed(3)],
    ...(['p50', 'p90', 'p95', 'p99', 'p99_9', 'max'] as const).flatMap((point): [string, string][] =>
      duration === undefined ? [] : [[`http_req_duration_${point}_ms`, duration[point].toFixed(3)]],
    ),
  ]
}

function toOutput(report: LoadReport): string {
  const { silence, generator, counts, rates, latencyMs, thresholds, warnings = [] } = report
  const { thresholds: judged, caveats } = toLoadView(report)
  const duration = latencyMs.http_req_duration
  const lines = [
    ...(silence === undefined ? [] : [`Warning: ${sayLoadSilence(silence)}.`]),
    ...(generator.limited ? [`${MAY_INCLUDE_DELAYS}. ${ABOUT_DELAYS}`, ...generator.reasons] : []),
    `${formatCounted(counts.sent, 'request')}, ${formatRate(rates.attemptedPerS)} a second; ${formatCounted(counts.succeeded, 'success', 'successes')}, ${formatRate(rates.succeededPerS)} a second`,
    ...(duration === undefined
      ? []
      : [
          `http_req_duration: p50 ${formatMs(duration.p50)}, p90 ${formatMs(duration.p90)}, p99 ${formatMs(duration.p99)}, max ${formatMs(duration.max)}`,
        ]),
    ...thresholds.filter(({ ok, requests }) => ok && requests === 0).map(formatThresholdResult),
    ...(judged.note === null ? [] : [judged.note]),
    ...caveats,
    ...listRunWarnings(warnings).map((message) => `Warning: ${message}`),
    ...listRowWarnings(warnings).map(
      ({ rows, message }) => `Warning: ${formatCounted(rows, 'row')}: ${message}`,
    ),
  ]
  return lines.join('\n')
}

/** Names are tokens in the schema: no white space at their ends, and single spaces inside. */
function toToken(text: string): string {
  const token = text.replaceAll(/\s+/g, ' ').trim()
  return escapeXml(token === '' ? 'load' : token)
}

/** In UTC; the schema does not allow a time zone. */
function toTimestamp({ createdAt, startedAt }: LoadReport): string {
  return new Date(startedAt ?? createdAt).toISOString().slice(0, 19)
}
