import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, it } from 'vitest'
import type { RunFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import { readCourse, reportRun } from '../../../../../src/main/engine/lookback/report/run-report.ts'
import type { EvaluateOptions } from '../../../../../src/shared/lookback/evaluation.ts'
import {
  type ReportOptions,
  type RunReport,
  runReportSchema,
} from '../../../../../src/shared/lookback/run-report.ts'
import { listenForFaults, toErrorAnswer, toTaskAnswer } from '../../../../helpers/fault-server.ts'
import { createInProcessRuns, RUN_KEY } from '../../../../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../../../../helpers/test-folder.ts'
import { toRow } from '../../run/wire-record.ts'
import { readAnySource } from '../../source/read-source.ts'

const folder = openTestFolder()
const runs = createInProcessRuns(folder)

/** A text in every cell of every source of these tests. */
const MARK = 'zebra crossing'

const toTexts = (rows: number) =>
  Array.from({ length: rows }, (_, index) => `${MARK} number ${index + 1} <b>&`)

const EVALUATION: EvaluateOptions = {
  label: 'user_id',
  useVerdicts: false,
  separator: null,
  slices: [],
  scores: [],
  positives: [{ value: 'user0', rule: 'Spam' }],
  wantedPrecisions: [],
  whatIf: [],
  assertions: [],
  list: [{ cell: 'fn', rule: null }],
}

/** Sends rows to a service that quotes them in its errors, and opens the run until the test has ended. */
async function send(rows: readonly string[], isRefused: (row: number) => boolean): Promise<string> {
  const server = await listenForFaults({
    onRequest: (request, wire) => {
      const row = toRow(request)
      const { text_data } = JSON.parse(request.body) as { text_data: string }
      const key = JSON.stringify(request.headers)
      if (row % 5 === 0 && isRefused(row)) wire.send(422, toErrorAnswer(422, 'TOO_ODD', `not ${text_data}`))
      else if (isRefused(row)) wire.send(400, `no idea what ${text_data.toUpperCase()} is, with ${key}`)
      else wire.send(200, toTaskAnswer(request, row % 7 === 1 ? [{ rule_id: 'r1', rule_name: 'Spam' }] : []))
    },
  })
  const plan = createRunPlan(folder, rows, server.baseUrl)
  const { runId, ended } = runs.start(plan)
  await ended
  await server.close()
  return runId
}

/** Writes the report of a run and closes its journal. */
async function report(runId: string, options: Partial<ReportOptions> = {}): Promise<RunReport> {
  const asked = { withContent: false, evaluation: null, ...options }
  return read(runId, (family) => reportRun(family, asked))
}

async function read<Value>(runId: string, use: (family: RunFamily) => Promise<Value>): Promise<Value> {
  let value: Promise<Value> | null = null
  runs.read(runId, (family) => {
    value = use(family)
  })
  return value ?? expect.fail('the run was read')
}

const readPage = async (runId: string, options: Partial<ReportOptions> = {}) => {
  const file = join(folder, `${runId}.html`)
  await report(runId, { ...options, file })
  return readFileSync(file, 'utf8')
}

const readSheet = (file: string, sheet: string) => readAnySource(file, { sheet })

describe('the report of a run', () => {
  let runId = ''
  beforeAll(async () => {
    runId = await send([...toTexts(20), ''], (row) => row % 4 === 1 || row % 5 === 0)
  })

  it('lists causes with their rows, advice and the first row numbers', async () => {
    const { failures, summary, rows_without_rule } = await report(runId)
    expect(summary.rows).toMatchObject({ read: 21, succeeded: 12, rejected: 8, invalid: 1 })
    expect(
      failures.map(({ outcome, status, error_code, rows }) => [outcome, status, error_code, rows]),
    ).toEqual(
      expect.arrayContaining([
        ['rejected', 422, 'TOO_ODD', 4],
        ['invalid', null, 'one_of', 1],
      ]),
    )
    const odd = failures.find(({ error_code }) => error_code === 'TOO_ODD')
    expect(odd?.examples.map(({ row, record }) => [row, record])).toEqual([
      [6, 5],
      [11, 10],
      [16, 15],
      [21, 20],
    ])
    expect(failures.reduce((sum, { rows }) => sum + rows, 0)).toBe(9)
    expect(rows_without_rule).toBe(summary.rows.succeeded - (summary.triggered_rules[0]?.rows ?? 0))
  })

  it.each(['html', 'xlsx'])('quotes no cell, key or header in a .%s file by default', async (ending) => {
    const file = join(folder, `quiet.${ending}`)
    const { written } = await report(runId, { file, evaluation: EVALUATION })
    expect(written).toEqual({ file, bytes: readFileSync(file).length })
    const sheets = ['Summary', 'Results', 'Failures by cause', 'Rules', 'Evaluation']
    const text =
      ending === 'html'
        ? readFileSync(file, 'utf8')
        : JSON.stringify(await Promise.all(sheets.map((sheet) => readSheet(file, sheet))))
    expect(text.toLowerCase()).not.toMatch(/zebra|crossing|x-api-key|authorization/)
    expect(text).not.toContain(RUN_KEY)
    expect(text).toContain('TOO_ODD')
  })

  it('quotes no cell, key or header in its document by default', async () => {
    const document = JSON.stringify(runReportSchema.parse(await report(runId, { evaluation: EVALUATION })))
    expect(document.toLowerCase()).not.toMatch(/zebra|crossing/)
    expect(document).not.toContain(RUN_KEY)
    const withContent = await report(runId, { evaluation: EVALUATION, withContent: true })
    expect(withContent.failures.find(({ error_code }) => error_code === 'TOO_ODD')?.examples[0]).toEqual({
      row: 6,
      record: 5,
      cells: [`${MARK} number 5 <b>&`, 'user4'],
    })
    expect(withContent.evaluation?.listed[0]?.rows.every(({ cells }) => cells.length === 2)).toBe(true)
  })

  it('shows cells escaped on request', async () => {
    const page = await readPage(runId, { withContent: true })
    expect(page).toContain(`${MARK} number 5 &lt;b&gt;&amp;`)
    expect(page).not.toContain('<b>')
    const file = join(folder, 'loud.xlsx')
    await report(runId, { withContent: true, file })
    const { columns, cells } = await readSheet(file, 'Results')
    expect(columns.slice(0, 3)).toEqual(['text_data', 'user_id', 'sluice_row'])
    expect(cells.map(([text]) => text)).toEqual([...toTexts(20), ''])
  })

  it('is one page that loads nothing, with a section for each part', async () => {
    const page = await readPage(runId, { evaluation: EVALUATION })
    expect(page).not.toMatch(/<script|<link|<img|\ssrc=|\shref=|\sstyle=|url\(|@import/i)
    const titles = [...page.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, title]) => title)
    // On a busy machine, an additional notice appears above the sections.
    expect(
      titles.filter((title) => !title?.includes('Latencies may include delays of this machine')),
    ).toEqual([
      // The service repeats the API key in some answers.
      '<bdi>Warning</bdi>',
      ...['Rows', 'Failures by cause', 'Triggered rules', 'Evaluation', 'Latency', 'Over time'],
    ])
    expect(page).toContain('The API key or proxy password was in 4 answers')
    const measured = ['http_req_duration', 'succeeded_duration', 'http_req_waiting', 'http_req_connecting']
    expect([...page.matchAll(/role="img" aria-label="([^"]*)"/g)].map(([, label]) => label)).toEqual([
      ...measured.map((metric) => expect.stringContaining(`Distribution of ${metric}`)),
      expect.stringContaining('Latency by percentile'),
      ...measured.map((metric) => expect.stringContaining(`${metric} over time`)),
      expect.stringContaining('Requests per second over time'),
    ])
  })

  it("has the evaluation's figures, as numbers in the workbook", async () => {
    const file = join(folder, 'judged.xlsx')
    const { evaluation } = await report(runId, { evaluation: EVALUATION, file })
    const spam = evaluation?.rules[0]
    const { cells } = await readSheet(file, 'Evaluation')
    const matrix = spam?.matrix
    expect(cells[0]?.slice(0, 7)).toEqual(
      [
        ...['Spam', ''],
        ...[matrix?.true_positives, matrix?.false_positives],
        ...[matrix?.false_negatives, matrix?.true_negatives, spam?.precision.value],
      ].map((cell) => String(cell ?? '')),
    )
    const rules = await readSheet(file, 'Rules')
    expect(rules.cells.map((row) => row.slice(0, 3))).toEqual([
      ['Spam', 'r1', '1'],
      ['no rule', '', '11'],
    ])
  })

  it('refuses any other extension', async () => {
    await expect(report(runId, { file: join(folder, 'report.pdf') })).rejects.toThrow(
      'expected a name that ends in .html, .md or .xlsx',
    )
  })
})

it('leaves idle time out of the course', async () => {
  const runId = await send(toTexts(4), () => false)
  const before = runs.read(runId, ({ members }) => readCourse(members))
  expect(before.pauses).toEqual([])
  const file = runs.read(runId, (family) => family.file)
  const journal = new DatabaseSync(file)
  journal.exec(`INSERT INTO second (at, sent, succeeded, rejected, failed, unknown, generator_limited)
    SELECT max(at) + 86401, 3, 1, 2, 0, 0, 1 FROM second`)
  journal.close()
  const { points, pauses } = runs.read(runId, ({ members }) => readCourse(members))
  expect(pauses).toEqual([{ after_s: before.points.at(-1)?.to_s, length_s: 86_400 }])
  expect(points.at(-1)).toMatchObject({ sent: 3, succeeded: 1, rejected: 2, limited: true })
  expect(points.length).toBe(before.points.length + 3)
})

it('says that nothing was sent if no row could be, and why', async () => {
  const runId = await send(['', ''], () => false)
  const page = await readPage(runId)
  expect(page).toContain('Nothing was sent')
  expect(page).toContain('failed the checks, not sent')
  expect(page).not.toContain('<h2>Latency</h2>')
})

it('shows in its workbook what was sent in place of corrected cells, if content is requested', async () => {
  const server = await listenForFaults({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request, [])),
  })
  const fixes = [{ kind: 'substitute' as const, field: 'user_id' as const }]
  const plan = createRunPlan(folder, ['a_1'], server.baseUrl)
  const mapping = { user_id: { kind: 'column' as const, column: 'text_data' } }
  const { runId, ended } = runs.start({ ...plan, mapping, fixes })
  await ended
  await server.close()
  const file = join(folder, 'corrected.xlsx')
  await report(runId, { withContent: true, file })
  const { columns, cells } = await readSheet(file, 'Results')
  expect(cells[0]?.[columns.indexOf('sent.user_id')]).toBe('a~5F1')
})
