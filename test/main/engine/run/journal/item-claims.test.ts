import { expect, test } from 'vitest'
import { ItemClaims } from '../../../../../src/main/engine/run/journal/item-claims.ts'
import { OutcomeWriter } from '../../../../../src/main/engine/run/recorder.ts'
import {
  openReadyJournal,
  readRecord,
  readStates,
  toAttempt,
  toIntakeRow,
} from '../../journal/test-journal.ts'

const INVALID = [{ row: 0, severity: 'error', code: 'required', args: { lack: 'value' } }] as const

const openClaims = (rows: Parameters<typeof openReadyJournal>[0]) => {
  const journal = openReadyJournal(rows)
  return { journal, claims: new ItemClaims(journal, readRecord(journal)) }
}

test('fresh items are read in source order without invalid rows, and reading does not claim them', () => {
  const { journal, claims } = openClaims([
    toIntakeRow(1),
    toIntakeRow(2, { problems: [...INVALID] }),
    toIntakeRow(3),
    toIntakeRow(4),
  ])
  expect(claims.readFresh(2)).toEqual([
    { item: 1, rows: [{ row: 1, cells: ['text 1'], kinds: null }], attempts: 0 },
    { item: 3, rows: [{ row: 3, cells: ['text 3'], kinds: null }], attempts: 0 },
  ])
  expect(readRecord(journal)).toMatchObject({ claimed: 0, claimedRows: 0 })
  expect(claims.readFresh(9).map(({ item }) => item)).toEqual([1, 3, 4])
})

test('the watermark rises above claimed items, and falls below those that were not sent', () => {
  const { journal, claims } = openClaims(6)
  const items = claims.readFresh(4)
  journal.transact('power', () => claims.raiseWatermark(items))
  expect(readRecord(journal)).toMatchObject({ claimed: 4, claimedRows: 4 })
  expect(claims.readFresh(9).map(({ item }) => item)).toEqual([5, 6])
  journal.transact('process', () => claims.lowerWatermark(items.slice(2)))
  expect(readRecord(journal)).toMatchObject({ claimed: 2, claimedRows: 2 })
  expect(claims.readFresh(9).map(({ item }) => item)).toEqual([3, 4, 5, 6])
})

test('claiming nothing changes nothing', () => {
  const { journal, claims } = openClaims(2)
  journal.transact('power', () => {
    claims.raiseWatermark([])
    claims.lowerWatermark([])
  })
  expect(readRecord(journal)).toMatchObject({ claimed: 0, claimedRows: 0 })
})

test('a block of huge rows is short, but has at least one', () => {
  const huge = 'x'.repeat(3 * 1024 * 1024)
  const { claims } = openClaims([1, 2, 3].map((row) => toIntakeRow(row, { cells: [huge] })))
  expect(claims.readFresh(3).map(({ item }) => item)).toEqual([1])
})

test('items that wait to be sent again are first marked on disk one by one, and unmarked if they were not sent', () => {
  const { journal, claims } = openClaims(5)
  const outcomes = new OutcomeWriter(journal)
  journal.transact('process', () => {
    claims.raiseWatermark(claims.readFresh(3))
    for (const item of [1, 2, 3]) {
      const attempt = toAttempt(item, { state: item === 2 ? 'succeeded' : 'pending', outcome: 'unknown' })
      outcomes.write([attempt])
      outcomes.count(attempt)
    }
  })
  const pending = claims.readPending(0, 10)
  expect(pending).toEqual([
    { item: 1, row: 1, attempts: 1 },
    { item: 3, row: 3, attempts: 1 },
  ])
  expect(claims.readPending(1, 10)).toEqual([{ item: 3, row: 3, attempts: 1 }])
  expect(claims.readPending(0, 1)).toEqual([{ item: 1, row: 1, attempts: 1 }])
  let marked: ReturnType<ItemClaims['markAgain']> = []
  journal.transact('power', () => {
    marked = claims.markAgain(pending)
  })
  expect(marked).toEqual([
    { item: 1, rows: [{ row: 1, cells: ['text 1'], kinds: null }], attempts: 1, isMarked: true },
    { item: 3, rows: [{ row: 3, cells: ['text 3'], kinds: null }], attempts: 1, isMarked: true },
  ])
  expect(readStates(journal)).toEqual({
    items: { 1: 'sending', 2: 'succeeded', 3: 'sending' },
    counted: { succeeded: 1, sending: 2 },
  })
  journal.transact('power', () => {
    expect(claims.markAgain([{ item: 2, attempts: 1 }])).toEqual([])
  })
  expect(readStates(journal).counted).toEqual({ succeeded: 1, sending: 2 })
  journal.transact('process', () => claims.unmark(marked.slice(1)))
  expect(readStates(journal)).toEqual({
    items: { 1: 'sending', 2: 'succeeded', 3: 'pending' },
    counted: { succeeded: 1, sending: 1, pending: 1 },
  })
})

test('parts of an item that may have been accepted may themselves have been, however often it is split', () => {
  const { journal, claims } = openClaims(8)
  journal.db.exec('UPDATE row SET item = iif(id <= 4, 1, 5)')
  const note = (item: number, outcome: 'unknown' | 'rejected') => {
    const rows = [item, item + 1, item + 2, item + 3]
    new OutcomeWriter(journal).write([toAttempt(item, { rows, outcome, state: 'pending' })])
  }
  journal.transact('process', () => {
    note(1, 'unknown')
    note(5, 'rejected')
    expect([claims.split(1), claims.split(3), claims.split(5)]).toEqual([
      [1, 3],
      [3, 4],
      [5, 7],
    ])
  })
  const counted = [1, 3, 4, 5, 7].map((item) => claims.countUnknownTries(item))
  expect(counted).toEqual([1, 1, 1, 0, 0])
})
