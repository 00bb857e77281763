import { expect, test } from 'vitest'
import type { Journal } from '../../../../../src/main/engine/journal/journal.ts'
import { type RunFamily, toFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import { packBody } from '../../../../../src/main/engine/journal/stored-bodies.ts'
import { OutcomeWriter } from '../../../../../src/main/engine/run/recorder.ts'
import { readFacets, readFoundFacets } from '../../../../../src/main/engine/run/results/facets.ts'
import { listAllPages, readPage } from '../../../../../src/main/engine/run/results/result-page.ts'
import { RowFindings } from '../../../../../src/main/engine/run/results/row-findings.ts'
import { findOffset } from '../../../../../src/main/engine/run/results/row-offset.ts'
import type { RowSort } from '../../../../../src/shared/run/results.ts'
import type { RowFilter } from '../../../../../src/shared/run/row-filters.ts'
import { readAnswerNames } from '../../../../../src/shared/service/answer-findings.ts'
import { openReadyJournal, readRecord, toAttempt, toIntakeRow } from '../../journal/test-journal.ts'

const ROWS = 1_200
const LANGUAGES = ['EN', 'DE', 'FR']
const SPAM = [{ ruleId: 'r1', ruleName: 'Spam' }]

const toLanguage = (row: number) => LANGUAGES[row % 3] ?? ''
const toVariant = (row: number) => (row % 4 === 0 ? '' : `v${row % 4}`)
const toHate = (row: number) => (row % 10) / 10
const isRejected = (row: number) => row % 50 === 0

/** An answer that names models and languages, long enough for some to be stored compressed. */
function toAnswer(row: number): string {
  return JSON.stringify({
    status: [
      {
        status: { code: '0', message: 'SUCCESS' },
        response: {
          input: { model: `model-${row % 2}`, text: 'a "language" in a text'.repeat(row % 7 === 0 ? 80 : 1) },
          language: toLanguage(row),
        },
      },
    ],
  })
}

function toRecord(row: number) {
  const classes = [
    { className: 'hate', score: toHate(row) },
    ...(row % 5 === 0 ? [{ className: 'spam', score: row % 4 }] : []),
  ]
  const timing = { durationUs: 1_000 * ((row * 7) % 1_000), rules: row % 6 === 0 ? SPAM : [] }
  if (isRejected(row)) return toAttempt(row, { state: 'rejected', outcome: 'rejected', errorCode: 'BAD' })
  const answer = toAnswer(row)
  const names = readAnswerNames(answer, () => JSON.parse(answer))
  return toAttempt(row, { response: packBody(answer), classes, names, ...timing })
}

function openRows(): { journal: Journal; view: RunFamily } {
  const journal = openReadyJournal(
    Array.from({ length: ROWS }, (_, i) =>
      toIntakeRow(i + 1, { cells: [`text ${i + 1}`, toVariant(i + 1)] }),
    ),
  )
  const writer = new OutcomeWriter(journal)
  const records = Array.from({ length: ROWS }, (_, i) => toRecord(i + 1))
  journal.transact('process', () => {
    for (const record of records) writer.count(record)
    writer.write(records)
  })
  const { db, file } = journal
  const record = { ...readRecord(journal), columns: ['text_data', 'content_variant'] }
  const view = { db, file, record, workspace: '/w', isHeld: false, isCutOff: false }
  return { journal, view: toFamily(view, [view]) }
}

const all = Array.from({ length: ROWS }, (_, i) => i + 1)

function readRows(view: RunFamily, filter: RowFilter, sort?: RowSort): number[] {
  const { rows, total } = readPage(view, { filter, offset: 0, limit: 500, ...(sort && { sort }) })
  expect(total).toBeGreaterThanOrEqual(rows.length)
  return rows.map(({ row }) => row)
}

test('rows are found by language, model, variant and scores, combined with state and search', () => {
  const { view } = openRows()
  const isIn = (filter: RowFilter) => listAllPages(view, filter)
  const expectRows = (filter: RowFilter, fits: (row: number) => boolean) => {
    const expected = all.filter((row) => fits(row))
    expect([...isIn(filter)].flat().map(({ id }) => id)).toEqual(expected)
    expect(readRows(view, filter)).toEqual(expected.slice(0, 500))
    expect(readPage(view, { filter, offset: 0, limit: 1 }).total).toBe(expected.length)
  }
  const answered = (row: number) => !isRejected(row)
  expectRows({ languages: ['DE', 'FR'] }, (row) => answered(row) && toLanguage(row) !== 'EN')
  expectRows({ models: ['model-1'] }, (row) => answered(row) && row % 2 === 1)
  expectRows({ variants: ['v1', 'v3'] }, (row) => row % 2 === 1)
  const high = { className: 'hate', from: 0.7, below: null }
  expectRows({ scores: [high] }, (row) => answered(row) && toHate(row) >= 0.7)
  const both = [high, { className: 'hate', from: 0.1, below: 0.2 }, { className: 'spam', from: 2, below: 3 }]
  const isHate = (row: number) => toHate(row) >= 0.7 || toHate(row) === 0.1
  expectRows({ scores: both }, (row) => answered(row) && isHate(row) && row % 5 === 0 && row % 4 === 2)
  expectRows(
    { languages: ['EN'], variants: ['v1'], state: 'succeeded', ruleIds: ['r1'], search: 'text 1' },
    (row) =>
      toLanguage(row) === 'EN' && row % 4 === 1 && answered(row) && row % 6 === 0 && `${row}`.startsWith('1'),
  )
  expectRows({ state: 'rejected', variants: ['v2'] }, (row) => isRejected(row) && row % 4 === 2)
})

test('each facet says how many rows choosing it leaves, under all filters but its own kind', () => {
  const { view } = openRows()
  const filter: RowFilter = { languages: ['EN'], scores: [{ className: 'hate', from: 0.5, below: null }] }
  const { facets } = readFoundFacets(view, filter)
  expect(new Set(facets.map(({ kind }) => kind))).toEqual(new Set(['language', 'model', 'variant', 'score']))
  for (const { kind, value, rows } of facets) {
    const chosen: RowFilter =
      kind === 'language'
        ? { ...filter, languages: [value] }
        : kind === 'model'
          ? { ...filter, models: [value] }
          : kind === 'variant'
            ? { ...filter, variants: [value] }
            : narrowToBand(filter, value)
    expect([kind, value, readPage(view, { filter: chosen, offset: 0, limit: 1 }).total]).toEqual([
      kind,
      value,
      rows,
    ])
  }
  for (const { kind, value, rows } of readFacets(view, filter).facets) {
    if (kind !== 'state') continue
    const state = value as NonNullable<RowFilter['state']>
    expect(readPage(view, { filter: { ...filter, state }, offset: 0, limit: 1 }).total).toBe(rows)
  }
})

function narrowToBand(filter: RowFilter, value: string): RowFilter {
  const band = JSON.parse(value)
  const others = (filter.scores ?? []).filter(({ className }) => className !== band.className)
  return { ...filter, scores: [...others, band] }
}

test('whole numbers are bands of their own, and other scores are in tenths of their scale', () => {
  const { view } = openRows()
  const bands = readFoundFacets(view).facets.filter(({ kind }) => kind === 'score')
  const toBands = (name: string) =>
    bands.map(({ value }) => JSON.parse(value)).filter(({ className }) => className === name)
  expect(toBands('spam').map(({ from, below }) => [from, below])).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
    [3, null],
  ])
  expect(toBands('hate').at(0)).toEqual({ className: 'hate', from: 0, below: 0.1 })
  expect(toBands('hate').at(-1)).toEqual({ className: 'hate', from: 0.9, below: null })
})

test('rows are sorted by latency, score and tries, those without a value last, and equal ones in their order', () => {
  const { view } = openRows()
  const toLatency = (row: number) => (isRejected(row) ? 1.5 : (row * 7) % 1_000)
  const slowest = all.toSorted((a, b) => toLatency(b) - toLatency(a) || a - b)
  const sort: RowSort = { by: { kind: 'latency' }, order: 'descending' }
  expect(readRows(view, {}, sort)).toEqual(slowest.slice(0, 500))
  const tail = readPage(view, { filter: {}, sort, offset: 1_150, limit: 100 })
  expect([tail.total, tail.rows.map(({ row }) => row)]).toEqual([ROWS, slowest.slice(1_150)])
  expect(findOffset(view, { filter: {}, sort, row: slowest.at(700) ?? 0 })).toBe(700)
  expect(findOffset(view, { filter: { state: 'rejected' }, sort, row: 51 })).toBeNull()
  const fastest = all.toSorted((a, b) => toLatency(a) - toLatency(b) || a - b)
  expect(readRows(view, {}, { ...sort, order: 'ascending' })).toEqual(fastest.slice(0, 500))

  const hasSpam = (row: number) => row % 5 === 0 && !isRejected(row)
  const bySpam = all.toSorted(
    (a, b) => Number(hasSpam(b)) - Number(hasSpam(a)) || (hasSpam(a) ? (a % 4) - (b % 4) : 0) || a - b,
  )
  const spam: RowSort = { by: { kind: 'score', className: 'spam' }, order: 'ascending' }
  expect(readRows(view, {}, spam)).toEqual(bySpam.slice(0, 500))
  const last = { by: { kind: 'row' }, order: 'descending' } as const
  expect(readRows(view, { state: 'rejected' }, last)).toEqual(all.filter(isRejected).reverse())
})

test('the names in answers are known without rereading them', () => {
  const { journal, view } = openRows()
  journal.db.exec("UPDATE result SET response = 'gone'; DELETE FROM long_answer")
  const { of, sets } = RowFindings.build(view).valuesOf('language')
  expect([1, 2, 3].map((row) => sets[of[row] ?? 0])).toEqual([1, 2, 3].map((row) => [toLanguage(row)]))
})
