import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { countError } from '../../../../../src/main/engine/journal/counters.ts'
import type { Journal } from '../../../../../src/main/engine/journal/journal.ts'
import { type RunFamily, toFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import { storeVerdicts } from '../../../../../src/main/engine/run/journal/verdict-store.ts'
import { OutcomeWriter } from '../../../../../src/main/engine/run/recorder.ts'
import { readFacets } from '../../../../../src/main/engine/run/results/facets.ts'
import { readProblemGroups } from '../../../../../src/main/engine/run/results/problem-groups.ts'
import { listAllPages, readPage } from '../../../../../src/main/engine/run/results/result-page.ts'
import { RowIndexes } from '../../../../../src/main/engine/run/results/row-indexes.ts'
import type { NewVerdict } from '../../../../../src/shared/lookback/verdict.ts'
import { NO_RULE, type RowFilter } from '../../../../../src/shared/run/row-filters.ts'
import { onlyInLongForm } from '../../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { openReadyJournal, readRecord, toAttempt, toIntakeRow } from '../../journal/test-journal.ts'

const POSTS = 24_000
const RULES = ['r1', 'r2'].map((ruleId) => ({ ruleId, ruleName: `Rule ${ruleId}` }))

const hasWord = (row: number) => row % 5 < 2
const toRules = (row: number) => (row % 3 === 0 ? RULES.slice(0, (row % 2) + 1) : [])

/** Posts of which 40 % contain "Trucks"; some rows have line breaks, which JSON writes with a backslash. */
function openPosts(posts = POSTS): Journal {
  const journal = openReadyJournal(
    Array.from({ length: posts }, (_, i) => {
      const text = hasWord(i + 1) ? `The Trucks,${i % 7 === 0 ? '\n' : ' '}again` : 'nothing\nto "see"'
      return toIntakeRow(i + 1, { cells: [text, `user${i}`] })
    }),
  )
  settle(journal, 1, posts)
  return journal
}

function settle(journal: Journal, from: number, upTo: number): void {
  const writer = new OutcomeWriter(journal)
  const records = Array.from({ length: upTo - from + 1 }, (_, i) =>
    toAttempt(from + i, { rules: toRules(from + i) }),
  )
  journal.transact('process', () => {
    for (const record of records) writer.count(record)
    writer.write(records)
  })
}

function toView(journal: Journal, isHeld = false, workspace = '/w'): RunFamily {
  const { db, file } = journal
  const view = { db, file, record: readRecord(journal), workspace, isHeld, isCutOff: false }
  return toFamily(view, [view])
}

test('a word in 9,600 of 24,000 posts is counted exactly, and paging reaches the last of them', () => {
  onlyInLongForm()
  const view = toView(openPosts())
  const filter = { search: 'trucks' }
  const expected = Array.from({ length: POSTS }, (_, i) => i + 1).filter(hasWord)
  const paged: number[] = []
  for (let offset = 0; offset < 10_000; offset += 500) {
    const { rows, total, isCounted } = readPage(view, { filter, offset, limit: 500 })
    expect([total, isCounted]).toEqual([9_600, true])
    paged.push(...rows.map(({ row }) => row))
  }
  expect(paged).toEqual(expected)
  expect([...listAllPages(view, filter)].flat().map(({ id }) => id)).toEqual(expected)
})

test('a word after a NUL in its cell is found, and only the content of cells is searched', () => {
  const texts = ['front\0behind \\"it"', 'a\0b\0Ärger', 'plain\nbehind']
  const rows = texts.map((text, i) => toIntakeRow(i + 1, { cells: [text, 'b'] }))
  const view = toView(openReadyJournal(rows))
  const find = (search: string) =>
    readPage(view, { filter: { search }, offset: 0, limit: 10 }).rows.map(({ row }) => row)
  expect(find('BEHIND')).toEqual([1, 3])
  expect(find('\0behind \\"i')).toEqual([1])
  expect(find('b\0ärger')).toEqual([2])
  for (const search of ['u0000', '0000', '\u0001', 'it"b']) expect(find(search)).toEqual([])
})

test('only the rows of a list are counted, paged and searched, in a page of any other filter', async () => {
  const view = toView(openPosts())
  const among = Uint32Array.from(
    Array.from({ length: POSTS }, (_, i) => i + 1).filter((row) => row % 2 === 0 || row > POSTS - 10),
  )
  const cell = { evaluation: 'e', cell: 'fn', rule: null } as const
  const indexes = new RowIndexes(() => 0)
  const read = async (filter: RowFilter, offset: number) => {
    const asked = { rows: Number.POSITIVE_INFINITY, among, openView: () => view }
    const counted = await indexes.ask('file', { ...filter, cell }, asked)
    const page = { filter: { ...filter, cell }, offset, limit: 5 }
    return readPage(view, page, { ...counted, findings: null })
  }
  const last = await read({}, among.length - 5)
  expect(last).toMatchObject({ total: among.length, isCounted: true })
  expect(last.rows.map(({ row }) => row)).toEqual([...among.slice(-5)])
  const found = [...among].filter((row) => hasWord(row) && toRules(row).length === 2)
  const searched = await read({ search: 'trucks', ruleIds: ['r2'] }, 2)
  expect(searched.total).toBe(found.length)
  expect(searched.rows.map(({ row }) => row)).toEqual(found.slice(2, 7))
  expect([...listAllPages(view, { cell }, among)].flat().map(({ id }) => id)).toEqual([...among])
  expect([...listAllPages(view, { cell }, new Uint32Array())]).toEqual([])
})

test('a list of other rows under the same filter is read anew', async () => {
  const view = toView(openPosts(300))
  const filter = { cell: { evaluation: 'e', cell: 'fn', rule: null } } as const
  const indexes = new RowIndexes()
  const count = async (among: Uint32Array) => {
    const counted = await indexes.ask('file', filter, { rows: 1_000, among, openView: () => view })
    return counted.index.count(filter)
  }
  const rows = Uint32Array.of(3, 5, 8)
  expect([await count(rows), await count(rows), await count(Uint32Array.of(7))]).toEqual([3, 3, 1])
})

test('each kind of facet counts the rows left by the search and the other kinds', () => {
  const view = toView(openPosts(300))
  const count = (isCounted: (row: number) => boolean) =>
    Array.from({ length: 300 }, (_, i) => i + 1).filter(isCounted).length
  const readRules = (filter: Parameters<typeof readFacets>[1]) =>
    readFacets(view, filter)
      .facets.filter(({ kind }) => kind === 'rule')
      .map(({ value, rows }) => [value, rows])
      .sort()
  const isR2 = (row: number) => row % 6 === 3
  expect(readRules({})).toEqual([
    [NO_RULE, 200],
    ['r1', 100],
    ['r2', 50],
  ])
  expect(readRules({ search: 'trucks', ruleIds: ['r2', NO_RULE] })).toEqual([
    [NO_RULE, count((row) => hasWord(row) && row % 3 !== 0)],
    ['r1', count((row) => hasWord(row) && row % 3 === 0)],
    ['r2', count((row) => hasWord(row) && isR2(row))],
  ])
  const { facets } = readFacets(view, { search: 'trucks', ruleIds: ['r2', NO_RULE] })
  expect(facets).toContainEqual({
    kind: 'state',
    value: 'succeeded',
    label: 'succeeded',
    rows: count((row) => hasWord(row) && (row % 3 !== 0 || isR2(row))),
  })
})

test('verdicts filter rows and count as facets, with and without a search and other filters', () => {
  const workspace = createTemporaryFolder()
  mkdirSync(join(workspace, 'runs'))
  const view = toView(openPosts(300), false, workspace)
  expect(readFacets(view).facets.filter(({ kind }) => kind === 'verdict')).toEqual([])
  const say = (row: number, verdict: NewVerdict['verdict'], rule: string | null = null) => ({
    row,
    verdict,
    rule,
    note: null,
    stratum: null,
    stratum_rows: null,
  })
  storeVerdicts(view, [
    say(1, 'agree'),
    say(2, 'agree'),
    say(5, 'should', 'X'),
    say(5, 'should-not', 'Y'),
    say(300, 'unsure'),
  ])
  const read = (filter: RowFilter) => {
    const page = readPage(view, { filter, offset: 0, limit: 500 })
    expect(page.total).toBe(page.rows.length)
    expect([...listAllPages(view, filter)].flat().map(({ id }) => id)).toEqual(
      page.rows.map(({ row }) => row),
    )
    return page.rows.map(({ row }) => row)
  }
  const count = (filter: RowFilter) =>
    Object.fromEntries(
      readFacets(view, filter)
        .facets.filter(({ kind }) => kind === 'verdict')
        .map(({ value, rows }) => [value, rows]),
    )
  expect(count({})).toEqual({ none: 296, agree: 2, should: 1, 'should-not': 1, unsure: 1 })
  expect(read({ verdict: 'agree' })).toEqual([1, 2])
  expect(read({ verdict: 'should-not' })).toEqual([5])
  expect(read({ verdict: 'none' })).toHaveLength(296)
  // Rows 1, 5 and 300 have the word; row 300 triggered a rule.
  expect(read({ verdict: 'agree', search: 'trucks' })).toEqual([1])
  expect(count({ search: 'trucks' })).toEqual({ none: 117, agree: 1, should: 1, 'should-not': 1, unsure: 1 })
  expect(read({ verdict: 'unsure', ruleIds: ['r1'] })).toEqual([300])
  expect(count({ verdict: 'unsure', ruleIds: ['r1'] })).toEqual({ none: 99, unsure: 1 })
  const { facets } = readFacets(view, { verdict: 'agree' })
  expect(facets.find(({ kind }) => kind === 'state')).toMatchObject({ value: 'succeeded', rows: 2 })
})

test('a query with a short deadline gets a minimum row count, and a later one the exact count', async () => {
  const view = toView(openPosts(20_000))
  let nowMs = 0
  // Every look at the clock takes so long that one step uses up the deadline.
  const indexes = new RowIndexes(() => (nowMs += 300))
  const ask = (rows: number) => indexes.ask('a', { search: 'trucks' }, { rows, openView: () => view })
  const seen: [number, boolean][] = []
  for (let asked = 0; asked < 5; asked += 1) {
    const { index, isCounted } = await ask(8_000)
    seen.push([index.count({}), isCounted])
  }
  expect(seen).toEqual([
    [2_000, false],
    [4_000, false],
    [6_000, false],
    [8_000, true],
    [8_000, true],
  ])
  const first = await indexes.ask('b', { search: 'trucks' }, { rows: 100, openView: () => view })
  expect([first.index.count({}), first.isCounted]).toEqual([2_000, false])
})

test('an index follows a journal written by others: at once after the run ended, periodically before', async () => {
  const journal = openPosts(100)
  const writer = new DatabaseSync(journal.db.location() ?? '')
  let nowMs = 0
  const indexes = new RowIndexes(() => nowMs)
  const ask = async (isHeld: boolean) => {
    const filter = { search: 'trucks', state: 'rejected' } as const
    const options = { rows: 500, openView: () => toView(journal, isHeld) }
    return (await indexes.ask('a', filter, options)).index.count(filter)
  }
  expect(await ask(true)).toBe(0)
  writer.exec("UPDATE result SET state = 'rejected' WHERE row = 5")
  expect(await ask(true)).toBe(0)
  nowMs += 2_000
  expect(await ask(true)).toBe(1)
  writer.exec("UPDATE result SET state = 'rejected' WHERE row = 6")
  expect(await ask(false)).toBe(2)
  writer.close()
})

test('a row with two problems of one cause counts as one row, and the cause leads to its own rows', () => {
  const toProblem = (row: number, code: 'not_a_url' | 'not_json_object', found: string) =>
    ({ row, severity: 'error', code, field: 'text_data', found }) as const
  const journal = openReadyJournal([
    toIntakeRow(1, {
      problems: [toProblem(1, 'not_json_object', 'a'), toProblem(1, 'not_json_object', 'b')],
    }),
    toIntakeRow(2, { problems: [toProblem(2, 'not_a_url', 'a')] }),
    toIntakeRow(3, { problems: [toProblem(3, 'not_a_url', 'a'), toProblem(3, 'not_json_object', 'b')] }),
    toIntakeRow(4),
  ])
  const view = toView(journal)
  expect(readProblemGroups(view).map(({ code, rows }) => [code, rows])).toEqual([
    ['not_a_url', 2],
    ['not_json_object', 2],
  ])
  const causes = readFacets(view).facets.filter(({ kind }) => kind === 'cause')
  expect(causes.map(({ label, rows }) => [label, rows])).toEqual([
    ['text_data: must be an http or https URL', 2],
    ['text_data: must be a JSON object', 2],
  ])
  const found = causes.map(({ value }) =>
    readPage(view, { filter: { cause: value }, offset: 0, limit: 9 }).rows.map(({ row }) => row),
  )
  expect(found).toEqual([
    [2, 3],
    [1, 3],
  ])
})

test('errors without a code are separate facets, each with its own rows', () => {
  const journal = openReadyJournal(7)
  const writer = new OutcomeWriter(journal)
  const refuse = (item: number, status: number, errorCode: string | null, message: string) =>
    toAttempt(item, { state: 'rejected', outcome: 'rejected', status, errorCode, message })
  const records = [
    refuse(1, 404, null, 'not found'),
    refuse(2, 404, null, 'not found'),
    refuse(3, 200, null, 'status 5'),
    refuse(4, 400, 'BAD', 'post "a"'),
    refuse(5, 400, 'BAD', 'post "b"'),
    refuse(6, 400, 'BAD', 'no such post'),
    refuse(7, 422, 'BAD', 'no such post'),
  ]
  journal.transact('process', () => {
    for (const record of records) {
      writer.count(record)
      countError(journal.counters, { ...record, state: 'rejected' }, 1)
    }
    writer.write(records)
  })
  const view = toView(journal)
  const { facets } = readFacets(view)
  const errors = facets.filter(({ kind }) => kind === 'error' || kind === 'cause')
  expect(errors.map(({ kind, label, rows }) => [kind, label, rows])).toEqual([
    ['error', 'BAD', 4],
    ['cause', '404 not found', 2],
    ['cause', '200 status 5', 1],
  ])
  const ofCause = (cause: string) =>
    readPage(view, { filter: { cause }, offset: 0, limit: 9 }).rows.map(({ row }) => row)
  expect(errors.slice(1).map(({ value }) => ofCause(value))).toEqual([[1, 2], [3]])
  const coded = JSON.stringify(['rejected', 400, 'BAD', 'post "…"'])
  expect(ofCause(coded)).toEqual([4, 5])
  const chosen = readFacets(view, { cause: coded }).facets.find(({ value }) => value === coded)
  expect(chosen).toEqual({ kind: 'cause', value: coded, label: '400 BAD: post "…"', rows: 2 })
  // Overview counts all messages of a code and status as one cause.
  const merged = JSON.stringify(['rejected', 400, 'BAD'])
  expect(ofCause(merged)).toEqual([4, 5, 6])
  const whole = readFacets(view, { cause: merged }).facets.find(({ value }) => value === merged)
  expect(whole).toEqual({ kind: 'cause', value: merged, label: '400 BAD', rows: 3 })
})
