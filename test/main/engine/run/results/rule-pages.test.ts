import { expect, test } from 'vitest'
import { type RunFamily, toFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import { OutcomeWriter } from '../../../../../src/main/engine/run/recorder.ts'
import { toPageSource } from '../../../../../src/main/engine/run/results/family-rows.ts'
import { readPage } from '../../../../../src/main/engine/run/results/result-page.ts'
import { findOffset } from '../../../../../src/main/engine/run/results/row-offset.ts'
import { openReadyJournal, readRecord, toAttempt } from '../../journal/test-journal.ts'

const ROWS = 600
const RULES = { common: 2, rare: 200 }

/** A run in which every second row triggers one rule, and every 200th also another. */
function openRun(): RunFamily {
  const journal = openReadyJournal(ROWS)
  const outcomes = new OutcomeWriter(journal)
  const records = Array.from({ length: ROWS }, (_, index) => {
    const rules = Object.entries(RULES).filter(([, every]) => (index + 1) % every === 0)
    return toAttempt(index + 1, { rules: rules.map(([name]) => ({ ruleId: name, ruleName: name })) })
  })
  journal.transact('process', () => {
    for (const record of records) outcomes.count(record)
    outcomes.write(records)
  })
  const { db, file } = journal
  const record = { ...readRecord(journal), claimed: ROWS, claimedRows: ROWS }
  const view = { db, file, record, workspace: '/w', isHeld: false, isCutOff: false }
  return toFamily(view, [view])
}

test.each(Object.entries(RULES))('the rows of a %s rule come in order', (rule, every) => {
  const family = openRun()
  const filter = { ruleIds: [rule] }
  const expected = Array.from({ length: ROWS / every }, (_, index) => (index + 1) * every)
  const { rows, total } = readPage(family, { filter, offset: 1, limit: 500 })
  expect(rows.map(({ row }) => row)).toEqual(expected.slice(1, 501))
  expect(total).toBe(expected.length)
  expect(findOffset(family, { filter, row: expected.at(-1) ?? 0 })).toBe(expected.length - 1)
  expect(rows.at(-1)?.triggeredRules).toContainEqual({ ruleId: rule, ruleName: rule })
})

test("a page of a frequent rule's rows does not sort all of them", () => {
  const { db, ...run } = openRun()
  const plan = (ruleId: string) => {
    const { from, where, params, key } = toPageSource({ ...run, db }, { ruleIds: [ruleId] })
    const sql = `SELECT ${key} AS id FROM ${from} WHERE ${where.join(' AND ')} ORDER BY ${key} LIMIT 100`
    return db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...params)
      .map(({ detail }) => String(detail))
      .join('\n')
  }
  expect(plan('common')).not.toContain('TEMP B-TREE')
  expect(plan('rare')).toContain('found_by_rules')
  const counted = db.prepare('EXPLAIN QUERY PLAN SELECT count(*) FROM found WHERE rules <> 0').all()
  expect(String(counted[0]?.['detail'])).toContain('COVERING INDEX found_by_rules')
})
